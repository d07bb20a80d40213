"""``kvstudy tabulate``: the tables of the report."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE


@click.command("tabulate")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Write the tables of RUN as CSV (unrounded), as LaTeX (booktabs) and as HTML.

    The HTML is a fragment for a page of one's own: tables and the notes below them.
    """
    from kvstudy.analyse.findings.scaling import scaling
    from kvstudy.analyse.run import find_run
    from kvstudy.present.tables.kinds import Given
    from kvstudy.present.tables.write import write_tables
    from kvstudy.study.raw import noted
    from kvstudy.study.sizes import sizes

    of = find_run(run)
    given = Given(
        study=of.study,
        found=of.results_of_runs,
        probes=of.probes,
        analysis=of.headline_analysis,
        environment=of.environment,
        environment_path=of.folder / "environment.json",
        titles=of.titles,
        meanings={name: store.operations for name, store in of.stores.items()},
        swept=of.swept,
        scalings=scaling(of.values, sizes(of.study, of.scale)),
        audited=of.audit,
    )
    with noted(of.tables, "tabulate") as made:
        written = write_tables(given, Path("report/templates/tables"), of.tables)
        made += [path.with_suffix(form) for path in written for form in (".csv", ".tex", ".html")]
    click.echo(f"{of.tables}: {len(written)} tables")
