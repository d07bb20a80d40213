import click

from kvstudy.commands.options import configuration


@click.command("export")
@click.argument("run")
@click.option("--language", help="Of the tables and figures.  [default: en]")
def command(run: str, language: str | None) -> None:
    """Collect what a thesis of your own needs of RUN.

    Tables for \\input and as CSV, figures as PDF, SVG and PNG, numbers.tex with a macro for each
    value, references.bib, and an example in English and in Czech. The folder export is made anew.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.export.folder import export

    print(export(find_run(run), language or configuration().language))
