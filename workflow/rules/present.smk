# Tidy tables to the study's tables and figures.

# Empty for a study whose source published no values.
PUBLISHED = [str(path) for path in [STUDY_FILE.with_name("published.csv")] if path.is_file()]
STORE_FILES = sorted({f"envs/stores/{use.store}/store.yaml" for use in STUDY.stores})


rule make_tables:
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        published=PUBLISHED,
        measurements="results/{run}/measurements.csv",
        summary="results/{run}/summary.csv",
        cells="results/{run}/cells.csv",
        environment="results/{run}/environment.json",
        probes="results/{run}/probes.csv",
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        templates=glob("report/templates/tables/*.*"),
        code=modules("tidy", "stats", "analysis", "tables"),
    output:
        expand("results/{{run}}/tables/{table}.{form}", table=TABLES, form=["csv", "tex"]),
    log:
        "results/{run}/logs/tabulate.log",
    params:
        published=[f"--published {path}" for path in PUBLISHED],
    message:
        "tables to results/{wildcards.run}/tables"
    shell:
        "kvstudy tabulate --study {input.study} --summary {input.summary}"
        " --measurements {input.measurements} --cells {input.cells}"
        " --environment {input.environment} --probes {input.probes}"
        " --analysis results/{wildcards.run}/analysis {params.published}"
        " --output results/{wildcards.run}/tables > {log} 2>&1"


rule draw_figures:
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        published=PUBLISHED,
        summary="results/{run}/summary.csv",
        cells="results/{run}/cells.csv",
        series="results/{run}/series.csv",
        resources="results/{run}/resources.csv",
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        code=modules("tidy", "stats", "analysis", "figures"),
    output:
        expand("figures/{{run}}/{figure}.{form}", figure=DRAWN, form=["pdf", "svg", "csv"]),
    log:
        "results/{run}/logs/draw.log",
    params:
        published=[f"--published {path}" for path in PUBLISHED],
    message:
        "figures to figures/{wildcards.run}"
    shell:
        "kvstudy draw --study {input.study} --summary {input.summary}"
        " --cells {input.cells} --series {input.series} --resources {input.resources}"
        " --analysis results/{wildcards.run}/analysis {params.published}"
        " --output figures/{wildcards.run} > {log} 2>&1"
