# The report from its text, tables and figures, measured or published.

# What the builders read: the text and its head, the document for LaTeX with its parts.
TEXT = texts("report/{run}.md", "report/front.json", "report/references.bib")
LATEX = texts("report/{run}.tex", "report/body.tex")
SOURCE_OF_REPORT = TEXT + LATEX
# It is English, and ends only an English report.
APPENDIX = (
    ["results/{run}/report/notebook.tex"]
    if PLAN.config.notebook_appendix and not PLAN.subfolder and not PLAN.published
    else []
)


rule build_pdf:
    input:
        LATEX,
        TEXT[-1],
        APPENDIX,
        # Where they are folders, nothing else shows that they are new.
        tables() if PLAN.published else [],
        figures("pdf"),
        code=code_of("build-pdf"),
    output:
        in_report(
            *(document("pdf"), "report", "Report"),
            **{
                "Document": "PDF",
                "Shows": "What the source published" if PLAN.published else "The whole report",
            },
        ),
    log:
        log_of("build-pdf"),
    # The longest of those that the text allows.
    priority: 1
    message:
        "LaTeX to {output}"
    shell:
        "kvstudy build-pdf {wildcards.run} > {log} 2>&1;"
        # Nobody reads the log of a step that went well.
        " grep '^warning: ' {log} >&2 || true"


rule build_html:
    """The same text for the screen, in one file."""
    input:
        TEXT,
        tables("html"),
        figures("svg", "csv", "vl.json"),
        [] if PLAN.published else "results/{run}/provenance.json",
        [] if PLAN.published else "results/{run}/log_lines.json",
        PLAN.catalogues,
        glob("report/templates/*.*"),
        glob("report/templates/html/*"),
        code=code_of("build-html"),
    output:
        document("html"),
    log:
        log_of("build-html"),
    message:
        "text to {output}"
    shell:
        "kvstudy build-html {wildcards.run} > {log} 2>&1"


rule build_docx:
    """The same text for a word processor."""
    input:
        TEXT,
        tables("html"),
        figures("png"),
        PLAN.catalogues,
        glob("report/templates/*.*"),
        code=code_of("build-docx"),
    output:
        document("docx"),
    log:
        log_of("build-docx"),
    message:
        "text to {output}"
    shell:
        "kvstudy build-docx {wildcards.run} > {log} 2>&1"
