"""``kvstudy analyse``: what the runs of a study say."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("analyse")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--series", type=FILE, required=True, help="series.csv of the run.")
@click.option("--histograms", type=FILE, required=True, help="histograms.csv of the run.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for what is found, one CSV file each.",
)
def command(
    study: Path, cells: Path, measurements: Path, series: Path, histograms: Path, output: Path
) -> None:
    """Intervals, ratios between stores, percentiles, steadiness, run order and drift.

    Writes intervals.csv, pairs.csv, percentiles.csv, steadiness.csv, order.csv and
    drift.json.
    """
    import json

    from kvstudy.analysis.intervals import intervals
    from kvstudy.analysis.order import drift_of, order
    from kvstudy.analysis.pairs import pairs
    from kvstudy.analysis.percentiles import percentiles
    from kvstudy.analysis.steadiness import steadiness
    from kvstudy.study.load import load_study
    from kvstudy.tidy.files import read_cells, read_histograms, read_measurements, read_series
    from kvstudy.tidy.summary import CELL, per_repetition

    planned = read_cells(cells)
    workloads = [use.name for use in load_study(study).workloads]
    values = per_repetition(read_measurements(measurements), planned, workloads)
    output.mkdir(parents=True, exist_ok=True)
    counted = values[CELL].drop_duplicates()
    made = {
        "intervals": intervals(values),
        "pairs": pairs(values),
        "percentiles": percentiles(read_histograms(histograms).merge(counted, on=CELL)),
        "steadiness": steadiness(read_series(series)),
        "order": order(values, planned),
    }
    for name, frame in made.items():
        frame.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    drift = json.dumps(drift_of(values, planned), indent=1)
    (output / "drift.json").write_text(drift + "\n", encoding="utf-8")
    click.echo(f"{output}: {', '.join(f'{name}.csv' for name in made)}, drift.json")
