"""``kvstudy analyse``: what the runs of a study say."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("analyse")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@SCALE
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
@click.option("--rounds", type=FILE, help="rounds.csv of the run, for workloads with rounds.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for what is found, one CSV file each.",
)
def command(
    study: Path,
    scale: float,
    cells: Path,
    measurements: Path,
    series: Path,
    histograms: Path,
    outcomes: Path,
    probes: Path,
    open_loop: Path,
    rounds: Path | None,
    output: Path,
) -> None:
    """Intervals, ratios between stores, percentiles, steadiness, run order, bottlenecks, validity.

    Writes intervals.csv, pairs.csv, floor.csv, percentiles.csv, spectrum.csv,
    steadiness.csv, order.csv, bottleneck.csv, trimmed.csv, open_rates.csv,
    open_percentiles.csv, drift.json, agreement.csv, validity.csv and rounds.csv.
    """
    from kvstudy.analyse.findings.files import NO_ROUNDS, analyse, write_analysis
    from kvstudy.analyse.tidy.files import (
        read_cells,
        read_histograms,
        read_measurements,
        read_series,
    )
    from kvstudy.analyse.tidy.open_loop import read_open_loop
    from kvstudy.analyse.tidy.outcomes import read_outcomes
    from kvstudy.analyse.tidy.probes import read_probes
    from kvstudy.analyse.tidy.rounds import read_rounds
    from kvstudy.analyse.tidy.summary import per_repetition
    from kvstudy.study.cells import shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted

    plan, planned = load_study(study), read_cells(cells)
    measured = read_measurements(measurements)
    found = analyse(
        plan,
        per_repetition(measured, planned, plan.workload_names, shown(plan, scale)),
        planned,
        read_series(series),
        read_histograms(histograms),
        measured,
        read_outcomes(outcomes),
        read_probes(probes),
        read_open_loop(open_loop),
        read_rounds(rounds) if rounds else NO_ROUNDS,
    )
    with noted(output, "analyse") as made:
        write_analysis(found, output)
        made += [path for path in output.iterdir() if path.is_file()]
    click.echo(f"{output}: analysis of {len(planned)} cells")
