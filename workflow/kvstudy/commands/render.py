import click

from kvstudy.commands.options import LANGUAGE


@click.command("render")
@click.argument("run")
@LANGUAGE
@click.option(
    "--appendix", default="", help="A LaTeX file in the output's folder that ends the document."
)
def command(run: str, appendix: str) -> None:
    """Make the text of the report of RUN, and its LaTeX source.

    Fills the text in report/text with the data of the run and writes it as <run>.md with
    front.json, which 'kvstudy build-html' and 'kvstudy build-docx' read. For 'kvstudy
    build-pdf' it writes the main file <run>.tex, body.tex and references.bib.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.report.render import render

    of = find_run(run)
    print(render(of, of.text / "report", appendix))
