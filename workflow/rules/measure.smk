# One job per cell: server up, load, verify, run, server down; its output is raw
# logs. The priority falls with the position in the plan, so that cells run in the
# planned order. Each claims all cores: nothing of ours runs next to a measurement.
# There are no inputs: a cell depends on its parameters alone. That holds for
# open-loop cells too: the trial cells that set their rates have higher
# priorities. As inputs, even ancient() ones, they would measure a finished
# open-loop cell again as soon as one of them was removed or carried elsewhere.
# How the next cells run (provider, port, cores) is no parameter: finished ones
# would be measured again. The commands read it from KVSTUDY_CONFIG.
# Which finished cells are measured again is not told by Snakemake's notes of parameters, but by
# what the cells recorded themselves (kvstudy.workflow_plan.follow).

from kvstudy.study.raw import PROBE_PROTOCOL, PROTOCOL


rule measure:
    output:
        f"results/{PLAN.run}/raw/{{store}}/{{workload}}/{{parameters}}/rep{{repetition}}/SHA256SUMS",
    log:
        f"results/{PLAN.run}/logs/{{store}}/{{workload}}/{{parameters}}/rep{{repetition}}.log",
    priority: order
    retries: 0
    # Where cells are jobs of a cluster, those of a repetition are one.
    group:
        "repetition-{repetition}"
    threads: workflow.cores
    params:
        study=PLAN.study_file,
        scale=PLAN.config.scale,
        cell=lambda wildcards: cell_of(wildcards).path,
        digest=lambda wildcards: cell_of(wildcards).digest,
        protocol=PROTOCOL,
    message:
        "measure {wildcards.store}, workload {wildcards.workload}, {wildcards.parameters}, "
        "repetition {wildcards.repetition}\n    {PLAN.progress}"
    shell:
        "kvstudy measure {params.cell} --study {params.study} --scale {params.scale}"
        " --planned {params.digest} --protocol {params.protocol} > {log} 2>&1"


checkpoint look:
    """Whether the repetitions so far decide every comparison; if not, one more is asked for."""
    input:
        # Those that are there are not named, see the rule all.
        cells=lambda wildcards: cells(
            cell
            for cell in first_repetitions(int(wildcards.looked))
            if cell.closed is None and cell not in MEASURED
        ),
        claims=CLAIMS,
        study=PLAN.study_file,
        code=code_of("look"),
    output:
        f"results/{PLAN.run}/looks/{{looked}}.json",
    log:
        f"results/{PLAN.run}/logs/looks/{{looked}}.log",
    # Before the cells of any further repetition.
    priority: 2 + len(PLAN.cells)
    params:
        scale=PLAN.config.scale,
    message:
        "look at {PLAN.run} after {wildcards.looked} repetitions"
    shell:
        "kvstudy look {wildcards.looked} --study {input.study} --scale {params.scale}"
        " --output {output} > {log} 2>&1"


rule probe_store:
    """What one operation makes a store's server do. After the cells: its priority is 0."""
    output:
        f"results/{PLAN.run}/probes/{{store}}/SHA256SUMS",
    log:
        f"results/{PLAN.run}/logs/probes/{{store}}.log",
    retries: 0
    group:
        "probes"
    threads: workflow.cores
    params:
        study=PLAN.study_file,
        scale=PLAN.config.scale,
        protocol=PROBE_PROTOCOL,
    message:
        "probe {wildcards.store}: what one operation makes its server do\n    {PLAN.progress}"
    shell:
        "kvstudy probe {wildcards.store} --study {params.study} --scale {params.scale}"
        " --protocol {params.protocol} > {log} 2>&1"


rule record_gap:
    """Why a store of the study cannot be measured here; kept with the raw logs."""
    output:
        f"results/{PLAN.run}/gaps/{{store}}.json",
    log:
        f"results/{PLAN.run}/logs/gap-{{store}}.log",
    params:
        study=PLAN.study_file,
        raw=f"results/{PLAN.run}/raw",
        provider=PLAN.config.provider,
    message:
        "{wildcards.store} cannot be measured here; the report will say why"
    shell:
        "kvstudy gap {wildcards.store} --study {params.study} --provider {params.provider}"
        " --raw {params.raw} --output {output} > {log} 2>&1"
