"""``kvstudy analyse``: what the runs of a study say."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("analyse")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for intervals.csv, pairs.csv, order.csv and drift.json.",
)
def command(study: Path, cells: Path, measurements: Path, output: Path) -> None:
    """Intervals, ratios between stores, and the order of the runs with its drift test."""
    import json

    from kvstudy.analysis.intervals import intervals
    from kvstudy.analysis.order import drift_of, order
    from kvstudy.analysis.pairs import pairs
    from kvstudy.study.load import load_study
    from kvstudy.tidy.files import read_cells, read_measurements
    from kvstudy.tidy.summary import per_repetition

    planned = read_cells(cells)
    workloads = [use.name for use in load_study(study).workloads]
    values = per_repetition(read_measurements(measurements), planned, workloads)
    output.mkdir(parents=True, exist_ok=True)
    made = {"intervals": intervals(values), "pairs": pairs(values), "order": order(values, planned)}
    for name, frame in made.items():
        frame.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    drift = json.dumps(drift_of(values, planned), indent=1)
    (output / "drift.json").write_text(drift + "\n", encoding="utf-8")
    click.echo(f"{output}: {', '.join(f'{name}.csv' for name in made)}, drift.json")
