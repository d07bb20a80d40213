"""``kvstudy parse``"""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("parse")
@click.option("--study", type=click.Path(path_type=Path), required=True, help="The study.yaml.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Factor on the counts.")
@click.option("--mixed", type=bool, default=False, help="Allow cells that were not measured alike.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the tables: cells.csv, measurements.csv, series.csv, histograms.csv, "
    "resources.csv, outcomes.csv, probes.csv and environment.json [default: results/RUN].",
)
def command(study: Path, scale: float, mixed: bool, output: Path | None) -> None:
    """Turn the raw logs of a run into tidy tables.

    Cells without logs stay in cells.csv with the reason. Refuses logs that
    differ from their checksums, cells that were measured with other parameters
    than the study has now, and cells that were not measured alike (machine,
    versions, client, Java, provider, cores).
    """
    from kvstudy.study.cells import plan, run_name
    from kvstudy.study.load import load_study
    from kvstudy.tidy.collect import collect
    from kvstudy.tidy.probes import collect_probes

    loaded = load_study(study)
    run = run_name(loaded.name, scale)
    found = collect(loaded, plan(loaded, scale), run, mixed)
    probes = collect_probes(loaded, run)
    output = output or Path("results") / run
    output.mkdir(parents=True, exist_ok=True)
    found.cells.to_csv(output / "cells.csv", index=False)
    found.measurements.to_csv(output / "measurements.csv", index=False)
    found.series.to_csv(output / "series.csv", index=False)
    found.histograms.to_csv(output / "histograms.csv", index=False)
    found.resources.to_csv(output / "resources.csv", index=False)
    found.outcomes.to_csv(output / "outcomes.csv", index=False)
    probes.to_csv(output / "probes.csv", index=False)
    text = json.dumps(found.environment, indent=1)
    (output / "environment.json").write_text(text + "\n", encoding="utf-8")
    measured = (found.cells.status == "measured").sum()
    print(f"{output}: {measured} of {len(found.cells)} cells measured")
