import click

from kvstudy.commands.options import LANGUAGE


@click.command("published")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Make the report of what a study's source published, without any measurement.

    RUN is STUDY-published, or STUDY-published-LANGUAGE. Reads published.csv, quotes.yaml and
    claims.yaml beside study.yaml, as far as they are there.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.report.published import write_published

    print(write_published(find_run(run, published=True)))
