# Tidy tables to the study's claims, tables and figures.


rule judge_claims:
    input:
        PLAN.study_file,
        CLAIMS,
        PLAN.of_stores("store.yaml"),
        PUBLISHED,
        tidy("measurements", "cells", "probes", "rounds"),
        ANALYSIS,
        AUDIT,
        [f"report/templates/tables/{part}.j2" for part in ("claims.tex", "claims.html")],
        PLAN.catalogues,
        code=code_of("claims"),
    output:
        in_report(
            *(*texts("claims.csv"), "claims", "Claims"),
            **{"Table": "claims", "Shows": "What holds of the source's claims"},
        ),
        texts("tables/claims.tex", "tables/claims.html"),
    log:
        log_of("claims"),
    params:
        language=f"--language {PLAN.config.language}",
    message:
        "verdicts on the source's claims to {output[0]}"
    shell:
        "kvstudy claims {wildcards.run} {params.language} > {log} 2>&1"


rule make_tables:
    input:
        PLAN.study_file,
        PLAN.of_stores("store.yaml"),
        # What the stores are, and what the source says of it; read where a table asks for it.
        PLAN.beside("properties.yaml"),
        PLAN.of_stores("properties.yaml"),
        PUBLISHED,
        tidy("measurements", "summary", "cells", "probes"),
        "results/{run}/environment.json",
        ANALYSIS,
        AUDIT,
        texts("claims.csv") if CLAIMS else [],
        glob("report/templates/tables/*.*"),
        PLAN.catalogues,
        code=code_of("tabulate"),
    output:
        captioned(
            tables("csv", "tex", "html"),
            *(PLAN.study.tables + PLAN.study.open_loop_tables, "Table", ".csv"),
        ),
    log:
        log_of("tabulate"),
    params:
        language=f"--language {PLAN.config.language}",
    message:
        f"tables to results/{{wildcards.run}}{PLAN.subfolder}/tables"
    shell:
        "kvstudy tabulate {wildcards.run} {params.language} > {log} 2>&1"


rule draw_figures:
    input:
        PLAN.study_file,
        PLAN.of_stores("store.yaml"),
        PUBLISHED,
        tidy("summary", "cells", "measurements", "series", "resources"),
        ANALYSIS,
        AUDIT,
        PLAN.catalogues,
        code=code_of("draw"),
    output:
        captioned(figures(*FIGURE_FORMS, "vl.json"), PLAN.study.drawn_figures, "Figure", ".svg"),
    log:
        log_of("draw"),
    # The longest step, and the report waits for it.
    priority: 1
    params:
        language=f"--language {PLAN.config.language}",
    message:
        f"figures to figures/{{wildcards.run}}{PLAN.subfolder}"
    shell:
        "kvstudy draw {wildcards.run} {params.language} > {log} 2>&1"
