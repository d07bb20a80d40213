# One job per cell: server up, load, verify, run, server down; its output is raw
# logs. A rule for each planned cell, with falling priority, so that they run in
# the planned order. Each claims all cores: nothing of ours runs beside a
# measurement. There are no inputs: a cell depends on its parameters alone.

# Raised on purpose when the way of measuring changes; cells of an older number
# are measured again.
PROTOCOL = 1

for position, cell in enumerate(CELLS, start=1):

    rule:
        name:
            f"measure_{position:04d}_{cell.store}_{cell.workload}_rep{cell.repetition}".replace(
                "-", "_"
            )
        output:
            f"results/{RUN}/raw/{cell.path}/SHA256SUMS",
        log:
            f"results/{RUN}/logs/{cell.path}.log",
        priority: len(CELLS) - position + 1
        retries: 0
        threads: workflow.cores
        params:
            cell=cell.path,
            properties=cell.properties,
            protocol=PROTOCOL,
        message:
            f"measure {cell.store}, workload {cell.workload}, {cell.parameters}, "
            f"repetition {cell.repetition} ({position} of {len(CELLS)})"
        shell:
            "kvstudy measure {params.cell} --study {STUDY_FILE} --scale {CONFIG.scale}"
            " --provider {CONFIG.provider} --port {CONFIG.port} --protocol {params.protocol}"
            " --ycsb-home '{CONFIG.ycsb.home}' --mixed-providers {CONFIG.mixed_providers}"
            " > {log} 2>&1"


rule record_gap:
    """Why a store of the study cannot be measured here; kept with the raw logs."""
    output:
        f"results/{RUN}/gaps/{{store}}.json",
    log:
        f"results/{RUN}/logs/gap-{{store}}.log",
    params:
        raw=f"results/{RUN}/raw",
    message:
        "{wildcards.store} cannot be measured here; the report will say why"
    shell:
        "kvstudy gap {wildcards.store} --provider {CONFIG.provider} --raw {params.raw}"
        " --output {output} > {log} 2>&1"
