# What the study's source printed, against itself. Nothing measured here goes into it.

# Empty for a study without a source, and where that has neither values nor quotes.
AUDITED = [
    str(path)
    for path in map(STUDY_FILE.with_name, ["published.csv", "quotes.yaml"])
    if STUDY.source and path.is_file()
]
AUDIT = ["results/{run}/audit.csv"] if AUDITED else []


rule audit_source:
    input:
        study=STUDY_FILE,
        sources=AUDITED,
        claims=[str(path) for path in [STUDY_FILE.with_name("claims.yaml")] if path.is_file()],
        workloads=sorted({f"workloads/{use.file}" for use in STUDY.workloads}),
        code=code_of("audit"),
    output:
        report(
            "results/{run}/audit.csv",
            caption="../report/audit.rst",
            category="Claims",
            labels={"Table": "audit", "Shows": "Whether what the source printed fits together"},
        ),
    log:
        "results/{run}/logs/audit.log",
    message:
        "checks of the source to {output}"
    shell:
        "kvstudy audit --study {input.study} --output {output} > {log} 2>&1"
