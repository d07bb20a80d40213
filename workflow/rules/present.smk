# Tidy tables to the study's claims, tables and figures.


rule judge_claims:
    input:
        STUDY,
        CLAIMS,
        tidy("measurements", "cells", "probes", "rounds"),
        ANALYSIS,
        code=code_of("claims"),
    output:
        in_report(
            *(*tidy("claims"), "claims", "Claims"),
            **{"Table": "claims", "Shows": "What holds of the source's claims"},
        ),
    log:
        log_of("claims", ""),
    # The tables wait for it.
    priority: 1
    message:
        "verdicts on the source's claims to {output[0]}"
    shell:
        "kvstudy claims {wildcards.run} > {log} 2>&1"


rule make_tables:
    input:
        STUDY,
        TABLES_READ,
        glob("report/templates/tables/*.*"),
        PLAN.catalogues,
        code=code_of("tabulate"),
    output:
        captioned(
            tables("csv", "tex", "html"),
            *(PLAN.study.tables, "Table", ".csv"),
        ),
    log:
        log_of("tabulate"),
    priority: 1
    message:
        f"tables to results/{{wildcards.run}}{PLAN.subfolder}/tables"
    shell:
        "kvstudy tabulate {wildcards.run} > {log} 2>&1"


rule draw_figures:
    input:
        STUDY,
        tidy("summary", "cells", "measurements", "series", "resources"),
        ANALYSIS,
        PLAN.catalogues,
        code=code_of("draw"),
    output:
        captioned(figures(*FIGURE_FORMS, "vl.json"), PLAN.study.drawn_figures, "Figure", ".svg"),
    log:
        log_of("draw"),
    # The longest step, and the PDF waits for it.
    priority: 1
    message:
        f"figures to figures/{{wildcards.run}}{PLAN.subfolder}"
    shell:
        "kvstudy draw {wildcards.run} > {log} 2>&1"
