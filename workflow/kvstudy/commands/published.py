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
    from kvstudy.present.drawing.draw import Looks
    from kvstudy.present.drawing.write import write_charts
    from kvstudy.present.report.published import write_published

    of = find_run(run, published=True)
    main = write_published(of)
    write_charts(Looks.of(of), sorted(of.figures.glob("*.csv")))
    print(main)
