"""``kvstudy workbook``: averages and single runs for Excel and LibreOffice."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("workbook")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@SCALE
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--environment", type=FILE, required=True, help="environment.json of the run.")
@click.option("--published", type=FILE, help="published.csv of the study, if it has a source.")
@click.option(
    "--raw",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The run's raw logs, for their checksums.",
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The .xlsx."
)
def command(
    study: Path,
    scale: float,
    cells: Path,
    measurements: Path,
    summary: Path,
    environment: Path,
    published: Path | None,
    raw: Path,
    output: Path,
) -> None:
    """Write the run as a workbook (.xlsx).

    Two sheets of averages, a sheet per store with its single runs, and the
    cells with the checksums of their logs. The averages are formulas over the
    runs, and carry their values for viewers that do not calculate.
    """
    from kvstudy.analyse.tidy.files import read_environment, read_measurements, read_summary
    from kvstudy.analyse.tidy.published import read_published
    from kvstudy.analyse.tidy.summary import per_repetition
    from kvstudy.present.workbook.content import Content, read_outcomes
    from kvstudy.present.workbook.write import write_workbook
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.cells import closed_loop, plan, shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import sums_digest

    of = load_study(study)
    machine = read_environment(environment)
    planned, measured = closed_loop(plan(of, scale)), read_measurements(measurements)
    outcomes = read_outcomes(cells, of, planned)
    digests = {cell.path: sums_digest(raw / cell.path) for cell in planned}
    content = Content(
        study=of,
        scale=scale,
        run=output.stem,
        planned=planned,
        cells=outcomes,
        measurements=measured,
        values=per_repetition(measured, outcomes, of.workload_names, shown(of, scale)),
        summary=read_summary(summary),
        published=read_published(published) if published else None,
        environment=machine,
        titles={name: store.title for name, store in load_stores(of).items()},
        digests={path: digest for path, digest in digests.items() if digest},
    )
    names = write_workbook(content, output)
    click.echo(f"{output}: {len(names)} sheets")
