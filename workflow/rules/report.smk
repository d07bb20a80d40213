# Text, tables and figures to the report.

# What is made of the source's claims, where it makes any.
JUDGED = ["claims.csv", "tables/claims.tex", "tables/claims.html"] if CLAIMS else []


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
        tables=expand("results/{{run}}/tables/{table}.{form}", table=TABLES, form=["tex", "html"]),
        figures=expand("figures/{{run}}/{figure}.pdf", figure=DRAWN),
        claims=expand("results/{{run}}/{name}", name=JUDGED),
        audit=AUDIT,
        text=glob("report/text/*.*") + glob("report/templates/*.*") + ["report/references.bib"],
        code=modules(*ANALYSING, "stores", "audit", "claims", "tables", "report"),
    output:
        text="results/{run}/report/{run}.md",
        front="results/{run}/report/front.json",
        tex="results/{run}/report/{run}.tex",
        body="results/{run}/report/body.tex",
        references="results/{run}/report/references.bib",
    log:
        "results/{run}/logs/render.log",
    params:
        scale=CONFIG.scale,
        raw=f"results/{RUN}/raw",
        audit=[f"--audit {path}" for path in AUDIT],
        published=[f"--published {path}" for path in PUBLISHED],
        claims=lambda wildcards: f"--claims results/{wildcards.run}/claims.csv" if CLAIMS else "",
        partial=lambda wildcards: "--partial" if wildcards.run.endswith("-partial") else "",
        appendix="--appendix notebook.tex" if CONFIG.notebook_appendix else "",
    message:
        "text of the report to results/{wildcards.run}/report"
    shell:
        "kvstudy render --study {input.study} --scale {params.scale} --summary {input.summary}"
        " --cells {input.cells} --open-loop {input.open_loop} --environment {input.environment} --probes {input.probes}"
        " --analysis results/{wildcards.run}/analysis"
        " {params.published} {params.claims} {params.audit}"
        " --tables results/{wildcards.run}/tables --figures figures/{wildcards.run}"
        " --raw {params.raw} {params.partial} {params.appendix}"
        " --output results/{wildcards.run}/report > {log} 2>&1"


rule build_pdf:
    input:
        tex="results/{run}/report/{run}.tex",
        body="results/{run}/report/body.tex",
        references="results/{run}/report/references.bib",
        appendix=["results/{run}/report/notebook.tex"] if CONFIG.notebook_appendix else [],
        code=modules("report"),
    output:
        report(
            "report/{run}.pdf",
            caption="../report/report.rst",
            category="Report",
            labels={"Document": "PDF", "Shows": "The whole report"},
        ),
    log:
        "results/{run}/logs/build-pdf.log",
    message:
        "LaTeX to {output}"
    shell:
        "kvstudy build-pdf {input.tex} --output {output} > {log} 2>&1"


rule build_html:
    """The same text for the screen, in one file."""
    input:
        text="results/{run}/report/{run}.md",
        front="results/{run}/report/front.json",
        references="results/{run}/report/references.bib",
        tables=expand("results/{{run}}/tables/{table}.html", table=TABLES),
        figures=expand(
            "figures/{{run}}/{figure}.{form}", figure=DRAWN, form=["svg", "csv", "vl.json"]
        ),
        templates=glob("report/templates/*.*") + glob("report/templates/html/*"),
        code=modules("charts", "report") + glob("workflow/kvstudy/charts/*.[cj]s*"),
    output:
        "report/{run}.html",
    log:
        "results/{run}/logs/build-html.log",
    message:
        "text to {output}"
    shell:
        "kvstudy build-html {input.text} --tables results/{wildcards.run}/tables"
        " --figures figures/{wildcards.run} --output {output} > {log} 2>&1"


rule build_docx:
    """The same text for a word processor."""
    input:
        text="results/{run}/report/{run}.md",
        front="results/{run}/report/front.json",
        references="results/{run}/report/references.bib",
        tables=expand("results/{{run}}/tables/{table}.html", table=TABLES),
        figures=expand("figures/{{run}}/{figure}.png", figure=DRAWN),
        templates=glob("report/templates/*.*"),
        code=modules("report"),
    output:
        "report/{run}.docx",
    log:
        "results/{run}/logs/build-docx.log",
    message:
        "text to {output}"
    shell:
        "kvstudy build-docx {input.text} --tables results/{wildcards.run}/tables"
        " --figures figures/{wildcards.run} --output {output} > {log} 2>&1"


rule run_notebook:
    """The analysis step by step, with the checks that the report relies on."""
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        published=PUBLISHED,
        tables=expand(
            "results/{{run}}/{name}.csv",
            name=[
                "cells",
                "measurements",
                "summary",
                "series",
                "histograms",
                "resources",
                "probes",
            ],
        ),
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        notebook="workflow/notebooks/analysis.ipynb",
        template=glob("report/templates/notebook/*"),
        code=modules(*ANALYSING, "stores", "figures", "tables", "report"),
    output:
        page=report(
            "report/{run}-analysis.html",
            caption="../report/notebook.rst",
            category="Report",
            labels={"Document": "Notebook", "Shows": "The analysis step by step"},
        ),
        executed="results/{run}/analysis.ipynb",
        latex="results/{run}/report/notebook.tex",
        figures=directory("results/{run}/report/notebook"),
    log:
        "results/{run}/logs/notebook.log",
    params:
        scale=CONFIG.scale,
        published=[f"--published {path}" for path in PUBLISHED],
    message:
        "analysis notebook to {output.page}"
    shell:
        "kvstudy notebook --study {input.study} --scale {params.scale}"
        " --results results/{wildcards.run} {params.published} --notebook {input.notebook}"
        " --output {output.page} --executed {output.executed} --latex {output.latex}"
        " > {log} 2>&1"
