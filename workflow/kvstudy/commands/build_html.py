import click

from kvstudy.commands.options import LANGUAGE


@click.command("build-html")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Build the report of RUN as one HTML page from the text of `kvstudy render`."""
    from kvstudy.present.report.html import build_html
    from kvstudy.study.run_names import find_name

    of = find_name(run)
    # Tables and figures of measured values name their cells.
    provenance = None if of.published_only else of.folder / "provenance.json"
    build_html(of.text / "report" / f"{of.name}.md", of, of.document("html"), provenance)
    print(of.document("html"))
