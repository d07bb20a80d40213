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
@click.option("--outcomes", type=FILE, required=True, help="outcomes.csv of the run.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
@click.option(
    "--open-loop",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Folder with the tables of the run's open-loop cells.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for what is found, one CSV file each.",
)
def command(
    study: Path,
    cells: Path,
    measurements: Path,
    series: Path,
    histograms: Path,
    outcomes: Path,
    probes: Path,
    open_loop: Path,
    output: Path,
) -> None:
    """Intervals, ratios between stores, percentiles, steadiness, run order, bottlenecks, validity.

    Writes intervals.csv, pairs.csv, floor.csv, percentiles.csv, spectrum.csv,
    steadiness.csv, order.csv, bottleneck.csv, trimmed.csv, open_rates.csv,
    open_percentiles.csv, drift.json, agreement.csv and validity.csv.
    """
    from kvstudy.analysis.files import analyse, write_analysis
    from kvstudy.study.load import load_study
    from kvstudy.tidy.files import read_cells, read_histograms, read_measurements, read_series
    from kvstudy.tidy.open_loop import read_open_loop
    from kvstudy.tidy.outcomes import read_outcomes
    from kvstudy.tidy.probes import read_probes
    from kvstudy.tidy.summary import per_repetition

    plan, planned = load_study(study), read_cells(cells)
    measured = read_measurements(measurements)
    found = analyse(
        plan,
        per_repetition(measured, planned, plan.workload_names),
        planned,
        read_series(series),
        read_histograms(histograms),
        measured,
        read_outcomes(outcomes),
        read_probes(probes),
        read_open_loop(open_loop),
    )
    write_analysis(found, output)
    click.echo(f"{output}: analysis of {len(planned)} cells")
