"""``kvstudy summarise``: measurements to values over repetitions."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("summarise")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--study", type=FILE, required=True, help="study.yaml; it gives the order of rows.")
@SCALE
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="summary.csv."
)
def command(measurements: Path, cells: Path, study: Path, scale: float, output: Path) -> None:
    """Summarise measurements over repetitions: n, mean, sd, cov, min and max.

    Void cells are left out of the means. Workloads with several operations get
    a combined row, the plain mean of their operations' latencies.
    """
    from kvstudy.analyse.tidy.files import read_cells, read_measurements
    from kvstudy.analyse.tidy.summary import summarise
    from kvstudy.study.cells import shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted

    plan = load_study(study)
    summary = summarise(
        read_measurements(measurements),
        read_cells(cells),
        plan.store_names,
        plan.workload_names,
        shown(plan, scale),
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    with noted(output.parent, "summarise") as made:
        summary.to_csv(output, index=False, lineterminator="\n")
        made.append(output)
    click.echo(f"{output}: {len(summary)} rows")
