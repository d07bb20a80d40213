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
    from kvstudy.analyse.run import find_run
    from kvstudy.present.typeset.table import write_tables
    from kvstudy.study.raw import noted

    of = find_run(run)
    with noted(of.tables, "tabulate") as made:
        written = write_tables(of, Path("report/templates/tables"), of.tables)
        made += [path.with_suffix(form) for path in written for form in (".csv", ".tex", ".html")]
    click.echo(f"{of.tables}: {len(written)} tables")
