# What each table and figure is made of, with checksums.


rule record_provenance:
    input:
        study=STUDY_FILE,
        claims=CLAIMS,
        cells="results/{run}/cells.csv",
        open_loop="results/{run}/open-loop/cells.csv",
        code=code_of("provenance"),
    output:
        "results/{run}/provenance.json",
    log:
        "results/{run}/logs/provenance.log",
    message:
        "what tables and figures are made of to {output}"
    shell:
        "kvstudy provenance {wildcards.run} > {log} 2>&1"
