# What a study's source published, without any server: source=published.


rule draw_published:
    """Tables, figures and text from the published values alone."""
    input:
        PLAN.study_file,
        PLAN.of_stores("store.yaml"),
        PLAN.source_files,
        PLAN.workloads,
        glob("report/text/published*.j2"),
        glob("report/text/audit*.j2"),
        "report/text/macros.md.j2",
        glob(f"report/text/{PLAN.config.language}.po"),
        glob("report/templates/*.*"),
        glob("report/templates/tables/*.*"),
        "report/references.bib",
        PLAN.catalogues,
        code=code_of("published"),
    output:
        SOURCE_OF_REPORT,
        tables=directory(tables()),
        figures=directory(figures()),
    log:
        log_of("published"),
    message:
        "published values to {output.tables}, {output.figures} and results/{wildcards.run}/report"
    shell:
        "kvstudy published {wildcards.run} > {log} 2>&1"
