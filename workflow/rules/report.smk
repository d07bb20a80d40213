# Text, tables and figures to the report.

# What is made of the source's claims, where it makes any.
JUDGED = ["claims.csv", "tables/claims.tex", "tables/claims.html"] if CLAIMS else []


NOTEBOOK = "workflow/notebooks/analysis.ipynb"
# It is English, and ends only an English report.
APPENDIX = (
    ["results/{run}/report/notebook.tex"] if CONFIG.notebook_appendix and not SUBFOLDER else []
)


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
        tables=expand(
            "results/{{run}}{sub}/tables/{table}.{form}",
            sub=SUBFOLDER,
            table=TABLES,
            form=["tex", "html"],
        ),
        figures=expand("figures/{{run}}{sub}/{figure}.pdf", sub=SUBFOLDER, figure=DRAWN),
        claims=expand("results/{{run}}{sub}/{name}", sub=SUBFOLDER, name=JUDGED),
        audit=AUDIT,
        text=glob(f"report/text/{LANGUAGE}/*.*")
        + glob("report/templates/*.*")
        + ["report/references.bib"],
        catalogues=catalogues(),
        code=code_of("render"),
    output:
        text=f"results/{{run}}{SUBFOLDER}/report/{{run}}.md",
        front=f"results/{{run}}{SUBFOLDER}/report/front.json",
        tex=f"results/{{run}}{SUBFOLDER}/report/{{run}}.tex",
        body=f"results/{{run}}{SUBFOLDER}/report/body.tex",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/render.log",
    params:
        language=LANGUAGE,
        appendix="--appendix notebook.tex" if APPENDIX else "",
    message:
        f"text of the report to results/{{wildcards.run}}{SUBFOLDER}/report"
    shell:
        "kvstudy render {wildcards.run} --language {params.language} {params.appendix} > {log} 2>&1"


rule build_pdf:
    input:
        tex=f"results/{{run}}{SUBFOLDER}/report/{{run}}.tex",
        body=f"results/{{run}}{SUBFOLDER}/report/body.tex",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
        appendix=APPENDIX,
        code=code_of("build-pdf"),
    output:
        report(
            f"report/{{run}}{SUFFIX}.pdf",
            caption="../report/report.rst",
            category="Report",
            labels={"Document": "PDF", "Shows": "The whole report"},
        ),
    log:
        f"results/{{run}}/logs{SUBFOLDER}/build-pdf.log",
    params:
        study=STUDY_FILE,
    message:
        "LaTeX to {output}"
    shell:
        "kvstudy build-pdf {input.tex} --study {params.study} --output {output} > {log} 2>&1;"
        # Nobody reads the log of a step that went well.
        " grep '^warning: ' {log} >&2 || true"


rule build_html:
    """The same text for the screen, in one file."""
    input:
        text=f"results/{{run}}{SUBFOLDER}/report/{{run}}.md",
        front=f"results/{{run}}{SUBFOLDER}/report/front.json",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
        claims=expand("results/{{run}}{sub}/{name}", sub=SUBFOLDER, name=JUDGED),
        tables=expand("results/{{run}}{sub}/tables/{table}.html", sub=SUBFOLDER, table=TABLES),
        figures=expand(
            "figures/{{run}}{sub}/{figure}.{form}",
            sub=SUBFOLDER,
            figure=DRAWN,
            form=["svg", "csv", "vl.json"],
        ),
        provenance="results/{run}/provenance.json",
        catalogues=catalogues(),
        templates=glob("report/templates/*.*") + glob("report/templates/html/*"),
        code=code_of("build-html"),
    output:
        f"report/{{run}}{SUFFIX}.html",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/build-html.log",
    params:
        sub=lambda wildcards: SUBFOLDER,
    message:
        "text to {output}"
    shell:
        "kvstudy build-html {input.text} --tables results/{wildcards.run}{params.sub}/tables"
        " --figures figures/{wildcards.run}{params.sub} --provenance {input.provenance}"
        " --output {output} > {log} 2>&1"


rule build_docx:
    """The same text for a word processor."""
    input:
        text=f"results/{{run}}{SUBFOLDER}/report/{{run}}.md",
        front=f"results/{{run}}{SUBFOLDER}/report/front.json",
        references=f"results/{{run}}{SUBFOLDER}/report/references.bib",
        claims=expand("results/{{run}}{sub}/{name}", sub=SUBFOLDER, name=JUDGED),
        tables=expand("results/{{run}}{sub}/tables/{table}.html", sub=SUBFOLDER, table=TABLES),
        figures=expand("figures/{{run}}{sub}/{figure}.png", sub=SUBFOLDER, figure=DRAWN),
        catalogues=catalogues(),
        templates=glob("report/templates/*.*"),
        code=code_of("build-docx"),
    output:
        f"report/{{run}}{SUFFIX}.docx",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/build-docx.log",
    params:
        sub=lambda wildcards: SUBFOLDER,
    message:
        "text to {output}"
    shell:
        "kvstudy build-docx {input.text} --tables results/{wildcards.run}{params.sub}/tables"
        " --figures figures/{wildcards.run}{params.sub} --output {output} > {log} 2>&1"


rule run_notebook:
    """The analysis step by step, in English, with the checks that the report relies on."""
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
        audit=AUDIT,
        notebook=NOTEBOOK,
        template=glob("report/templates/notebook/*"),
        code=code_of("notebook", NOTEBOOK),
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
    message:
        "analysis notebook to {output.page}"
    shell:
        "kvstudy notebook {wildcards.run} --notebook {input.notebook} > {log} 2>&1"
