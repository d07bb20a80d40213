# Tidy tables to the study's tables and figures.

# Empty for a study whose source published no values.
PUBLISHED = [str(path) for path in [STUDY_FILE.with_name("published.csv")] if path.is_file()]
STORE_FILES = sorted({f"envs/stores/{use.store}/store.yaml" for use in STUDY.stores})

# Empty for a study whose source makes no claims.
CLAIMS = [str(path) for path in [STUDY_FILE.with_name("claims.yaml")] if path.is_file()]


rule judge_claims:
    input:
        study=STUDY_FILE,
        claims=CLAIMS,
        stores=STORE_FILES,
        published=PUBLISHED,
        measurements="results/{run}/measurements.csv",
        cells="results/{run}/cells.csv",
        probes="results/{run}/probes.csv",
        rounds="results/{run}/rounds.csv",
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        audit=AUDIT,
        templates=[
            f"report/templates/tables/{name}.j2"
            for name in ("claims.tex", "claims.html", "parts.html")
        ],
        catalogues=catalogues(),
        code=code_of("claims"),
    output:
        csv=report(
            f"results/{{run}}{SUBFOLDER}/claims.csv",
            caption="../report/claims.rst",
            category="Claims",
            labels={"Table": "claims", "Shows": "What holds of the source's claims"},
        ),
        tex=f"results/{{run}}{SUBFOLDER}/tables/claims.tex",
        html=f"results/{{run}}{SUBFOLDER}/tables/claims.html",
    log:
        f"results/{{run}}/logs{SUBFOLDER}/claims.log",
    params:
        language=LANGUAGE,
    message:
        "verdicts on the source's claims to {output.csv}"
    shell:
        "kvstudy claims {wildcards.run} --language {params.language} > {log} 2>&1"


# What the stores are, and what the source says of it; read where a table asks for it.
PROPERTY_FILES = sorted(
    str(path)
    for path in [STUDY_FILE.with_name("properties.yaml")]
    + [Path(f"envs/stores/{use.store}/properties.yaml") for use in STUDY.stores]
    if path.is_file()
)


rule make_tables:
    input:
        study=STUDY_FILE,
        stores=STORE_FILES,
        properties=PROPERTY_FILES,
        published=PUBLISHED,
        measurements="results/{run}/measurements.csv",
        summary="results/{run}/summary.csv",
        cells="results/{run}/cells.csv",
        environment="results/{run}/environment.json",
        probes="results/{run}/probes.csv",
        analysis=expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
        audit=AUDIT,
        templates=glob("report/templates/tables/*.*"),
        catalogues=catalogues(),
        code=code_of("tabulate"),
    output:
        captioned(
            expand(
                "results/{{run}}{sub}/tables/{table}.{form}",
                sub=SUBFOLDER,
                table=TABLES,
                form=["csv", "tex", "html"],
            ),
            *(STUDY.tables + STUDY.open_loop_tables, "Table", ".csv"),
        ),
    log:
        f"results/{{run}}/logs{SUBFOLDER}/tabulate.log",
    params:
        language=LANGUAGE,
    message:
        f"tables to results/{{wildcards.run}}{SUBFOLDER}/tables"
    shell:
        "kvstudy tabulate {wildcards.run} --language {params.language} > {log} 2>&1"


FIGURE_FORMS = ["pdf", "svg", "png", "csv"]


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
        audit=AUDIT,
        catalogues=catalogues(),
        code=code_of("draw"),
    output:
        captioned(
            expand(
                "figures/{{run}}{sub}/{figure}.{form}",
                sub=SUBFOLDER,
                figure=DRAWN,
                form=[*FIGURE_FORMS, "vl.json"],
            ),
            *(STUDY.drawn_figures, "Figure", ".svg"),
        ),
    log:
        f"results/{{run}}/logs{SUBFOLDER}/draw.log",
    params:
        language=LANGUAGE,
    message:
        f"figures to figures/{{wildcards.run}}{SUBFOLDER}"
    shell:
        "kvstudy draw {wildcards.run} --language {params.language} > {log} 2>&1"
