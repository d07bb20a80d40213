# Averages and single runs, for Excel and LibreOffice.


rule write_workbook:
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        published=PUBLISHED,
        cells="results/{run}/cells.csv",
        measurements="results/{run}/measurements.csv",
        summary="results/{run}/summary.csv",
        environment="results/{run}/environment.json",
        code=code_of("workbook"),
    output:
        "results/{run}/{run}.xlsx",
    log:
        "results/{run}/logs/workbook.log",
    message:
        "averages and single runs to {output}"
    shell:
        "kvstudy workbook {wildcards.run} > {log} 2>&1"
