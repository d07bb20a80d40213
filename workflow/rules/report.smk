# Text, tables and figures to the report.

# What is made of the source's claims, where it makes any.
JUDGED = ["claims.csv", "tables/claims.tex"] if CLAIMS else []


rule render_report:
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        properties=PROPERTY_FILES,
        published=PUBLISHED,
        summary="results/{run}/summary.csv",
        cells="results/{run}/cells.csv",
        open_loop="results/{run}/open-loop/cells.csv",
        environment="results/{run}/environment.json",
        probes="results/{run}/probes.csv",
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        tables=expand("results/{{run}}{sub}/tables/{table}.tex", sub=SUBFOLDER, table=TABLES),
        figures=expand("figures/{{run}}{sub}/{figure}.pdf", sub=SUBFOLDER, figure=DRAWN),
        claims=expand("results/{{run}}{sub}/{name}", sub=SUBFOLDER, name=JUDGED),
        audit=AUDIT,
        text=glob(f"report/text/{LANGUAGE}/*.*")
        + glob("report/templates/*.*")
        + ["report/references.bib"],
        catalogues=catalogues(),
        code=modules(*ANALYSING, "stores", "audit", "claims", "tables", "report"),
    output:
        tex=f"results/{{run}}{SUBFOLDER}/report/{{run}}.tex",
        body=f"results/{{run}}{SUBFOLDER}/report/body.tex",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/render.log",
    params:
        scale=CONFIG.scale,
        language=f"--language {LANGUAGE}",
        raw=f"results/{RUN}/raw",
        sub=lambda wildcards: SUBFOLDER,
        audit=[f"--audit {path}" for path in AUDIT],
        published=[f"--published {path}" for path in PUBLISHED],
        claims=[f"--claims results/{{run}}{SUBFOLDER}/claims.csv"] if CLAIMS else [],
        partial=lambda wildcards: "--partial" if wildcards.run.endswith("-partial") else "",
    message:
        "text of the report to results/{wildcards.run}{params.sub}/report"
    shell:
        "kvstudy render --study {input.study} --scale {params.scale} {params.language}"
        " --summary {input.summary}"
        " --cells {input.cells} --open-loop {input.open_loop} --environment {input.environment} --probes {input.probes}"
        " --analysis results/{wildcards.run}/analysis"
        " {params.published} {params.claims} {params.audit}"
        " --tables results/{wildcards.run}{params.sub}/tables --figures figures/{wildcards.run}{params.sub}"
        " --raw {params.raw} {params.partial}"
        " --output results/{wildcards.run}{params.sub}/report > {log} 2>&1"


rule build_pdf:
    input:
        tex=f"results/{{run}}{SUBFOLDER}/report/{{run}}.tex",
        body=f"results/{{run}}{SUBFOLDER}/report/body.tex",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
        code=modules("report"),
    output:
        f"report/{{run}}{SUFFIX}.pdf",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/build-pdf.log",
    message:
        "LaTeX to {output}"
    shell:
        "kvstudy build-pdf {input.tex} --output {output} > {log} 2>&1"


rule run_notebook:
    """The analysis step by step, with the checks that the report relies on."""
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        published=PUBLISHED,
        cells="results/{run}/cells.csv",
        measurements="results/{run}/measurements.csv",
        summary="results/{run}/summary.csv",
        probes="results/{run}/probes.csv",
        notebook="workflow/notebooks/analysis.ipynb",
        catalogues=catalogues(),
        code=modules(*ANALYSING, "stores", "figures", "tables", "report"),
    output:
        f"report/{{run}}{SUFFIX}-analysis.html",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/notebook.log",
    params:
        scale=CONFIG.scale,
        language=f"--language {LANGUAGE}",
        published=[f"--published {path}" for path in PUBLISHED],
    message:
        "analysis notebook to {output}"
    shell:
        "kvstudy notebook --study {input.study} --scale {params.scale} --cells {input.cells}"
        " --measurements {input.measurements} --summary {input.summary} --probes {input.probes}"
        " {params.published} {params.language}"
        " --notebook {input.notebook} --output {output} > {log} 2>&1"
