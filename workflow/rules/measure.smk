# One job per cell: server up, load, verify, run, server down; its output is raw
# logs. A rule for each planned cell, with falling priority, so that they run in
# the planned order. Each claims all cores: nothing of ours runs beside a
# measurement. There are no inputs: a cell depends on its parameters alone. That
# holds for open-loop cells too: the closed-loop cells that give their rates have
# higher priorities. As inputs, even ancient() ones, they would measure a finished
# open-loop cell again as soon as one of them was removed or carried elsewhere.

# Raised on purpose when the way of measuring changes; cells of an older number
# are measured again.
PROTOCOL = 1
PROBE_PROTOCOL = 1

for position, cell in enumerate([] if NOTHING_MEASURED else CELLS, start=1):

    rule:
        name:
            f"measure_{position:04d}_{cell.store}_{cell.workload}"
            f"{'' if cell.load is None else f'_load{cell.load}'}_rep{cell.repetition}".replace(
                "-", "_"
            )
        output:
            f"results/{RUN}/raw/{cell.path}/SHA256SUMS",
        log:
            f"results/{RUN}/logs/{cell.path}.log",
        priority: len(CELLS) - position + 1
        retries: 0
        threads: workflow.cores
        # Resources, not parameters: finished cells are not measured again because
        # the next ones would run in another way.
        resources:
            provider=CONFIG.provider,
            port=CONFIG.port,
            address=external_options(cell.folder),
            ycsb_home=f"--ycsb-home {quote(CONFIG.ycsb.home)}" if CONFIG.ycsb.home else "",
            pin_cpus=f"--pin-cpus {cores_option(CONFIG.pin_cpus)}",
            mixed=str(CONFIG.mixed),
        params:
            study=STUDY_FILE,
            scale=CONFIG.scale,
            cell=cell.path,
            properties=cell.properties,
            options=cell.options,
            protocol=PROTOCOL,
        message:
            f"measure {cell.store}, workload {cell.workload}, {cell.parameters}, "
            f"repetition {cell.repetition}\n    {{PROGRESS}}"
        shell:
            "kvstudy measure {params.cell} --study {params.study} --scale {params.scale}"
            " --provider {resources.provider} --port {resources.port} {resources.address}"
            " --mixed {resources.mixed} {resources.pin_cpus} {resources.ycsb_home}"
            " --protocol {params.protocol} > {log} 2>&1"


rule probe_store:
    """What one operation makes a store's server do. After the cells: its priority is 0."""
    output:
        f"results/{RUN}/probes/{{store}}/SHA256SUMS",
    log:
        f"results/{RUN}/logs/probes/{{store}}.log",
    retries: 0
    threads: workflow.cores
    resources:
        provider=CONFIG.provider,
        port=CONFIG.port,
        address=lambda wildcards: external_options(PROBES[wildcards.store]["store"]),
        ycsb_home=f"--ycsb-home {quote(CONFIG.ycsb.home)}" if CONFIG.ycsb.home else "",
        pin_cpus=f"--pin-cpus {cores_option(CONFIG.pin_cpus)}",
        mixed=str(CONFIG.mixed),
    params:
        study=STUDY_FILE,
        scale=CONFIG.scale,
        plan=lambda wildcards: PROBES[wildcards.store],
        protocol=PROBE_PROTOCOL,
    message:
        "probe {wildcards.store}: what one operation makes its server do\n    {PROGRESS}"
    shell:
        "kvstudy probe {wildcards.store} --study {params.study} --scale {params.scale}"
        " --provider {resources.provider} --port {resources.port} {resources.address}"
        " --mixed {resources.mixed} {resources.pin_cpus} {resources.ycsb_home}"
        " --protocol {params.protocol} > {log} 2>&1"


rule record_gap:
    """Why a store of the study cannot be measured here; kept with the raw logs."""
    output:
        f"results/{RUN}/gaps/{{store}}.json",
    log:
        f"results/{RUN}/logs/gap-{{store}}.log",
    params:
        folder=lambda wildcards: STORES[wildcards.store].folder.name,
        raw=f"results/{RUN}/raw",
        provider=CONFIG.provider,
    message:
        "{wildcards.store} cannot be measured here; the report will say why"
    shell:
        "kvstudy gap {params.folder} --provider {params.provider} --raw {params.raw}"
        " --output {output} > {log} 2>&1"
