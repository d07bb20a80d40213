# What a study's source published, without any server: source=published.


rule draw_published:
    """Tables, figures and text from the published values alone."""
    input:
        study=STUDY_FILE,
        stores=sorted({f"envs/stores/{use.store}/store.yaml" for use in STUDY.stores}),
        published=PUBLISHED_FILES,
        workloads=sorted({f"workloads/{use.file}" for use in STUDY.workloads}),
        text=glob(f"report/text/{LANGUAGE}/published*.j2")
        + glob(f"report/text/{LANGUAGE}/audit.md.j2")
        + glob("report/templates/*.*")
        + glob("report/templates/tables/*.*")
        + ["report/references.bib"],
        catalogues=catalogues(),
        code=code_of("published"),
    output:
        tables=directory(f"results/{RUN}/tables"),
        figures=directory(f"figures/{RUN}"),
        report=directory(f"results/{RUN}/report"),
    log:
        f"results/{RUN}/logs/published.log",
    params:
        language=LANGUAGE,
        run=RUN,
    message:
        "published values to {output}"
    shell:
        "kvstudy published {params.run} --language {params.language} > {log} 2>&1"


rule build_published_pdf:
    input:
        f"results/{RUN}/tables",
        f"figures/{RUN}",
        report=f"results/{RUN}/report",
        code=code_of("build-pdf"),
    output:
        report(
            f"report/{RUN}.pdf",
            caption="../report/report.rst",
            category="Report",
            labels={"Document": "PDF", "Shows": "What the source published"},
        ),
    log:
        f"results/{RUN}/logs/build-pdf.log",
    params:
        run=RUN,
        build=f"results/{RUN}/build",
        study=STUDY_FILE,
    message:
        "LaTeX to {output}"
    shell:
        "kvstudy build-pdf {input.report}/{params.run}.tex --build {params.build}"
        " --study {params.study} --output {output} > {log} 2>&1;"
        # Nobody reads the log of a step that went well.
        " grep '^warning: ' {log} >&2 || true"


rule build_published_html:
    input:
        f"results/{RUN}/tables",
        f"figures/{RUN}",
        report=f"results/{RUN}/report",
        templates=glob("report/templates/*.*") + glob("report/templates/html/*"),
        code=code_of("build-html"),
    output:
        f"report/{RUN}.html",
    log:
        f"results/{RUN}/logs/build-html.log",
    params:
        run=RUN,
    message:
        "text to {output}"
    shell:
        "kvstudy build-html {input.report}/{params.run}.md --tables {input[0]}"
        " --figures {input[1]} --output {output} > {log} 2>&1"


rule build_published_docx:
    input:
        f"results/{RUN}/tables",
        f"figures/{RUN}",
        report=f"results/{RUN}/report",
        templates=glob("report/templates/*.*"),
        code=code_of("build-docx"),
    output:
        f"report/{RUN}.docx",
    log:
        f"results/{RUN}/logs/build-docx.log",
    params:
        run=RUN,
    message:
        "text to {output}"
    shell:
        "kvstudy build-docx {input.report}/{params.run}.md --tables {input[0]}"
        " --figures {input[1]} --output {output} > {log} 2>&1"
