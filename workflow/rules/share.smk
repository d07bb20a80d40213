# What a reader takes out of a run.

EXPORTED = [
    *("README.txt", "numbers.tex", "references.bib"),
    *("example/thesis.tex", "example/thesis-czech.tex"),
    *(f"tables/{table}.{form}" for table in TABLES for form in ("csv", "tex")),
    *(f"figures/{figure}.{form}" for figure in FIGURES for form in FIGURE_FORMS),
]


rule export_for_thesis:
    """Tables, figures, numbers and references for a thesis of one's own."""
    input:
        STUDY,
        "report/references.bib",
        glob("report/templates/export/*.*"),
        tidy("summary", "cells", "analysis/intervals", "analysis/pairs"),
        "results/{run}/environment.json",
        # One form: the others are made with it, and Snakemake takes the checksum of each input
        # for each of the outputs.
        tables("csv"),
        figures("csv"),
        code=code_of("export"),
    output:
        texts(*(f"export/{file}" for file in EXPORTED)),
    log:
        log_of("export"),
    message:
        f"parts for a thesis to results/{{wildcards.run}}{PLAN.subfolder}/export"
    shell:
        "kvstudy export {wildcards.run} > {log} 2>&1"


rule write_commands:
    """The plain commands of every measured cell."""
    input:
        PLAN.study_file,
        PLAN.of_stores("store.yaml"),
        tidy("cells"),
        code=code_of("commands"),
    output:
        "results/{run}/commands.txt",
    log:
        log_of("commands", ""),
    message:
        "the commands of every cell to {output}"
    shell:
        "kvstudy commands {wildcards.run} --output {output} > {log} 2>&1"


rule write_workbook:
    """Tables and single runs, for Excel and LibreOffice."""
    input:
        STUDY,
        TABLES_READ,
        code=code_of("workbook"),
    output:
        "results/{run}/{run}.xlsx",
    log:
        log_of("workbook", ""),
    message:
        "tables and single runs to {output}"
    shell:
        "kvstudy workbook {wildcards.run} > {log} 2>&1"
