# Text of the report, and the analysis step by step.

NOTEBOOK = "workflow/notebooks/analysis.ipynb"
LATEX_OF_NOTEBOOK = (
    ["results/{run}/report/notebook.tex", directory("results/{run}/report/notebook")]
    if PLAN.config.notebook_appendix
    else []
)


rule render_report:
    input:
        STUDY,
        PLAN.study_files("properties.yaml"),
        PLAN.of_stores("properties.yaml"),
        tidy("summary", "cells", "open-loop/cells", "probes"),
        "results/{run}/environment.json",
        ANALYSIS,
        tables("tex", "html"),
        JUDGED,
        glob("report/text/*.j2"),
        glob(f"report/text/{PLAN.config.language}.po"),
        glob("report/templates/*.*"),
        "report/references.bib",
        PLAN.catalogues,
        lambda wildcards: sorted(glob(f"results/{wildcards.run}/reviews/*.json")),
        code=code_of("render"),
    output:
        SOURCE_OF_REPORT,
    log:
        log_of("render"),
    priority: 1
    params:
        appendix="--appendix notebook.tex" if APPENDIX else "",
    message:
        f"text of the report to results/{{wildcards.run}}{PLAN.subfolder}/report"
    shell:
        "kvstudy render {wildcards.run} {params.appendix}" " > {log} 2>&1"


rule run_notebook:
    """The analysis step by step, in English, with the checks that the report relies on."""
    input:
        STUDY,
        tidy("cells", "measurements", "summary", "series", "histograms", "resources", "probes"),
        "results/{run}/environment.json",
        ANALYSIS,
        glob("report/templates/notebook/*"),
        notebook=NOTEBOOK,
        code=code_of("notebook"),
    output:
        in_report(
            *("report/{run}-analysis.html", "notebook", "Report"),
            **{"Document": "Notebook", "Shows": "The analysis step by step"},
        ),
        "results/{run}/analysis.ipynb",
        LATEX_OF_NOTEBOOK,
    log:
        log_of("notebook", ""),
    params:
        latex="--latex" if LATEX_OF_NOTEBOOK else "",
    message:
        "analysis notebook to {output[0]}"
    shell:
        "kvstudy notebook {wildcards.run} --notebook {input.notebook} {params.latex} > {log} 2>&1"
