# Raw logs to tidy tables, and what follows from them.


rule parse_cells:
    input:
        study=PLAN.study_file,
        # They tell with which arguments the servers should have run.
        stores=PLAN.of_stores("store.yaml"),
        # All cells of the run; of a partial one those that are there.
        cells=lambda wildcards: cells(PLAN.measured if is_partial(wildcards) else wanted(wildcards)),
        probes=lambda wildcards: probes(
            PLAN.probed if is_partial(wildcards) else PLAN.wanted_probes
        ),
        gaps=GAPS,
        imports=PLAN.imports,
        code=code_of("parse"),
    output:
        tidy("cells", "measurements", "series", "histograms", "resources", "outcomes", "rounds"),
        tidy("probes"),
        OPEN_LOOP,
        "results/{run}/environment.json",
    log:
        log_of("parse", ""),
    params:
        scale=PLAN.config.scale,
        mixed=PLAN.config.mixed,
    message:
        "raw logs to results/{wildcards.run}/measurements.csv"
    shell:
        "kvstudy parse {wildcards.run} --mixed {params.mixed} > {log} 2>&1"


rule analyse:
    input:
        PLAN.study_file,
        # What is compared with each other, with the source, and by its claims.
        PLAN.of_stores("store.yaml"),
        PLAN.workloads,
        PUBLISHED,
        CLAIMS if PLAN.study.until else [],
        tidy("cells", "measurements", "series", "histograms", "outcomes", "rounds", "probes"),
        OPEN_LOOP,
        code=code_of("analyse"),
    output:
        tidy("summary"),
        ANALYSIS,
    log:
        log_of("analyse", ""),
    message:
        "means, intervals and ratios to results/{wildcards.run}/analysis"
    shell:
        "kvstudy analyse {wildcards.run} > {log} 2>&1"


rule audit_source:
    """What the study's source printed, against itself. Nothing measured here goes into it."""
    input:
        PLAN.audited,
        PLAN.workloads,
        CLAIMS,
        study=PLAN.study_file,
        code=code_of("audit"),
    output:
        in_report(
            *(*tidy("audit"), "audit", "Claims"),
            **{"Table": "audit", "Shows": "Whether what the source printed fits together"},
        ),
    log:
        log_of("audit", ""),
    message:
        "checks of the source to {output}"
    shell:
        "kvstudy audit --study {input.study} --output {output} > {log} 2>&1"


rule record_provenance:
    """What each table and figure is made of, with checksums."""
    input:
        PLAN.study_file,
        CLAIMS,
        tidy("cells", "open-loop/cells", "measurements", "rounds"),
        code=code_of("provenance"),
    output:
        "results/{run}/provenance.json",
        "results/{run}/log_lines.json",
    log:
        log_of("provenance", ""),
    message:
        "what tables and figures are made of to {output[0]}"
    shell:
        "kvstudy provenance {wildcards.run} > {log} 2>&1"
