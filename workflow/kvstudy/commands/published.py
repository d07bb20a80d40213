from pathlib import Path

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
    from kvstudy.present.drawing.draw import looks
    from kvstudy.present.drawing.write import write_charts
    from kvstudy.present.report.published import write_published

    of = find_run(run, published=True)
    text = of.folder / "report"
    main = write_published(of.study_file, Path("report"), of.tables, of.figures, text)
    look = looks(of.titles, {name: store.color for name, store in of.stores.items()})
    write_charts(of.study, look, sorted(of.figures.glob("*.csv")))
    print(main)
