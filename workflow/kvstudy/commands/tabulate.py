"""``kvstudy tabulate``: the tables of the report."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("tabulate")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--environment", type=FILE, required=True, help="environment.json of the run.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
@click.option("--analysis", type=FOLDER, required=True, help="The run's analysis.")
@click.option("--published", type=FILE, help="published.csv of the study, if it has a source.")
@click.option(
    "--templates",
    type=FOLDER,
    default=Path("report/templates/tables"),
    show_default=True,
    help="Folder of the LaTeX templates.",
)
@click.option("--output", type=FOLDER, required=True, help="Folder of the tables.")
def command(
    study: Path,
    measurements: Path,
    summary: Path,
    cells: Path,
    environment: Path,
    probes: Path,
    analysis: Path,
    published: Path | None,
    templates: Path,
    output: Path,
) -> None:
    """Write the study's tables as CSV (unrounded) and as LaTeX (booktabs)."""
    import json

    from kvstudy.analysis.files import read_analysis
    from kvstudy.errors import KvstudyError
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.load import load_study
    from kvstudy.tables.write import write_tables
    from kvstudy.tidy.files import read_cells, read_measurements, read_summary
    from kvstudy.tidy.probes import read_probes
    from kvstudy.tidy.published import read_published
    from kvstudy.tidy.results import Results
    from kvstudy.tidy.summary import per_repetition

    plan = load_study(study)
    try:
        machine = json.loads(environment.read_text(encoding="utf-8"))
    except ValueError as error:
        raise KvstudyError(
            f"{environment}: not JSON ({error}); take the file from a good run"
        ) from error
    planned = read_cells(cells)
    results = Results(
        read_summary(summary),
        planned,
        read_published(published) if published else None,
        per_repetition(read_measurements(measurements), planned, plan.workload_names),
    )
    stores = load_stores(plan)
    written = write_tables(
        plan,
        results,
        read_probes(probes),
        read_analysis(analysis),
        machine,
        environment,
        {name: store.title for name, store in stores.items()},
        {name: store.operations for name, store in stores.items()},
        templates,
        output,
    )
    click.echo(f"{output}: {len(written)} tables")
