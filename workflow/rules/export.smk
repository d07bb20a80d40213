# What a reader takes out of a run.

EXPORTED = [
    *("README.txt", "numbers.tex", "references.bib"),
    *("example/thesis.tex", "example/thesis-czech.tex"),
    *(f"tables/{table}.{form}" for table in TABLES for form in ("csv", "tex")),
    *(["tables/claims.tex"] if CLAIMS else []),
    *(f"figures/{figure}.{form}" for figure in DRAWN for form in FIGURE_FORMS),
]


rule export_for_thesis:
    """Tables, figures, numbers and references for a thesis of one's own."""
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        bibliography="report/references.bib",
        templates=glob("report/templates/export/*.*"),
        summary="results/{run}/summary.csv",
        cells="results/{run}/cells.csv",
        environment="results/{run}/environment.json",
        intervals="results/{run}/analysis/intervals.csv",
        tables=expand(
            "results/{{run}}{sub}/tables/{table}.{form}",
            sub=SUBFOLDER,
            table=TABLES,
            form=["csv", "tex"],
        ),
        claims=expand("results/{{run}}{sub}/{name}", sub=SUBFOLDER, name=JUDGED),
        figures=expand(
            "figures/{{run}}{sub}/{figure}.{form}", sub=SUBFOLDER, figure=DRAWN, form=FIGURE_FORMS
        ),
        code=code_of("export"),
    output:
        expand("results/{{run}}{sub}/export/{file}", sub=SUBFOLDER, file=EXPORTED),
    log:
        f"results/{{run}}/logs{SUBFOLDER}/export.log",
    params:
        language=LANGUAGE,
    message:
        f"parts for a thesis to results/{{wildcards.run}}{SUBFOLDER}/export"
    shell:
        "kvstudy export {wildcards.run} --language {params.language} > {log} 2>&1"


rule write_commands:
    """The plain commands of every measured cell."""
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        cells="results/{run}/cells.csv",
        code=code_of("commands"),
    output:
        "results/{run}/commands.txt",
    log:
        "results/{run}/logs/commands.log",
    message:
        "the commands of every cell to {output}"
    shell:
        "kvstudy commands {wildcards.run} --output {output} > {log} 2>&1"
