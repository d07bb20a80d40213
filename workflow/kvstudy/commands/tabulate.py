"""``kvstudy tabulate``: the tables of the report."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("tabulate")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@SCALE
@LANGUAGE
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--environment", type=FILE, required=True, help="environment.json of the run.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
@click.option("--analysis", type=FOLDER, required=True, help="The run's analysis.")
@click.option("--published", type=FILE, help="published.csv of the study, if it has a source.")
@click.option("--audit", type=FILE, help="audit.csv of the study's source, if it has one.")
@click.option(
    "--templates",
    type=FOLDER,
    default=Path("report/templates/tables"),
    show_default=True,
    help="Folder of the templates.",
)
@click.option("--output", type=FOLDER, required=True, help="Folder of the tables.")
def command(
    study: Path,
    scale: float,
    measurements: Path,
    summary: Path,
    cells: Path,
    environment: Path,
    probes: Path,
    analysis: Path,
    published: Path | None,
    audit: Path | None,
    templates: Path,
    output: Path,
) -> None:
    """Write the study's tables as CSV (unrounded), as LaTeX (booktabs) and as HTML.

    The HTML is a fragment for a page of one's own: tables and the notes below them.
    """
    from kvstudy.analyse.audit.doubts import read_judged
    from kvstudy.analyse.audit.files import read_audit
    from kvstudy.analyse.findings.files import read_analysis, shown_of
    from kvstudy.analyse.findings.scaling import scaling
    from kvstudy.analyse.tidy.files import (
        read_cells,
        read_environment,
        read_measurements,
        read_summary,
    )
    from kvstudy.analyse.tidy.probes import read_probes
    from kvstudy.analyse.tidy.summary import per_repetition
    from kvstudy.analyse.tidy.swept import Swept
    from kvstudy.present.tables.kinds import Given
    from kvstudy.present.tables.write import write_tables
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.cells import shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted
    from kvstudy.study.sizes import sizes

    plan = load_study(study)
    machine = read_environment(environment)
    planned, one = read_cells(cells), shown(plan, scale)
    means = read_summary(summary)
    theirs = read_judged(published, audit) if published else None
    measured = read_measurements(measurements)
    values = per_repetition(measured, planned, plan.workload_names, one)
    swept = Swept(plan, scale, means, planned, theirs)
    stores = load_stores(plan)
    given = Given(
        study=plan,
        found=swept.shown(values),
        probes=read_probes(probes),
        analysis=shown_of(read_analysis(analysis), one),
        environment=machine,
        environment_path=environment,
        titles={name: store.title for name, store in stores.items()},
        meanings={name: store.operations for name, store in stores.items()},
        swept=swept,
        scalings=scaling(values, sizes(plan, scale)),
        audited=read_audit(audit) if audit else None,
    )
    with noted(output, "tabulate") as made:
        written = write_tables(given, templates, output)
        made += [path.with_suffix(form) for path in written for form in (".csv", ".tex", ".html")]
    click.echo(f"{output}: {len(written)} tables")
