import click

from kvstudy.commands.options import LANGUAGE


@click.command("build-docx")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Build the report of RUN as a Word file from the text of `kvstudy render`."""
    from kvstudy.present.report.document import build_docx
    from kvstudy.study.run_names import find_name

    of = find_name(run)
    build_docx(of.text / "report" / f"{of.name}.md", of, of.document("docx"))
    print(of.document("docx"))
