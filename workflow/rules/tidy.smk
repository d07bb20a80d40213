# Raw logs to tidy tables.

# Of the cells at fixed rates, apart from all others.
OPEN_LOOP_FILES = ["cells", "measurements", "series", "histograms", "targets"]


rule parse_cells:
    input:
        study=STUDY_FILE,
        # All cells of the run; of a partial one those that are there.
        cells=lambda wildcards: [
            f"results/{RUN}/raw/{cell.path}/SHA256SUMS"
            for cell in (MEASURED if wildcards.run.endswith("-partial") else WANTED)
        ],
        probes=lambda wildcards: [
            f"results/{RUN}/probes/{store}/SHA256SUMS"
            for store in (PROBED if wildcards.run.endswith("-partial") else WANTED_PROBES)
        ],
        gaps=expand("results/{run}/gaps/{store}.json", run=RUN, store=GAPS),
        imports=[f"results/{RUN}/{IMPORTS}"] if STUDY.imported else [],
        code=code_of("parse"),
    output:
        cells="results/{run}/cells.csv",
        measurements="results/{run}/measurements.csv",
        environment="results/{run}/environment.json",
        series="results/{run}/series.csv",
        histograms="results/{run}/histograms.csv",
        resources="results/{run}/resources.csv",
        outcomes="results/{run}/outcomes.csv",
        rounds="results/{run}/rounds.csv",
        probes="results/{run}/probes.csv",
        open_loop=expand("results/{{run}}/open-loop/{name}.csv", name=OPEN_LOOP_FILES),
    log:
        "results/{run}/logs/parse.log",
    params:
        scale=CONFIG.scale,
        mixed=CONFIG.mixed,
    message:
        "raw logs to results/{wildcards.run}/measurements.csv"
    shell:
        "kvstudy parse {wildcards.run} --mixed {params.mixed} > {log} 2>&1"


rule summarise:
    input:
        study=STUDY_FILE,
        cells="results/{run}/cells.csv",
        measurements="results/{run}/measurements.csv",
        code=code_of("summarise"),
    output:
        "results/{run}/summary.csv",
    log:
        "results/{run}/logs/summarise.log",
    message:
        "means over the repetitions to {output}"
    shell:
        "kvstudy summarise {wildcards.run} > {log} 2>&1"


ANALYSIS_FILES = [
    *("intervals.csv", "pairs.csv", "order.csv", "steadiness.csv", "percentiles.csv"),
    *("floor.csv", "bottleneck.csv", "trimmed.csv", "agreement.csv", "validity.csv"),
    *("spectrum.csv", "boxes.csv", "open_rates.csv", "open_percentiles.csv", "drift.json"),
    "rounds.csv",
]


rule analyse:
    input:
        study=STUDY_FILE,
        cells="results/{run}/cells.csv",
        measurements="results/{run}/measurements.csv",
        series="results/{run}/series.csv",
        histograms="results/{run}/histograms.csv",
        outcomes="results/{run}/outcomes.csv",
        rounds="results/{run}/rounds.csv",
        probes="results/{run}/probes.csv",
        open_loop=expand("results/{{run}}/open-loop/{name}.csv", name=OPEN_LOOP_FILES),
        code=code_of("analyse"),
    output:
        expand("results/{{run}}/analysis/{name}", name=ANALYSIS_FILES),
    log:
        "results/{run}/logs/analyse.log",
    message:
        "intervals and ratios to results/{wildcards.run}/analysis"
    shell:
        "kvstudy analyse {wildcards.run} > {log} 2>&1"
