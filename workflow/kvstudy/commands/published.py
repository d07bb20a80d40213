"""``kvstudy published``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("published")
@LANGUAGE
@click.option("--study", type=FILE, required=True, help="The study.yaml.")
@click.option(
    "--tables", type=FOLDER, required=True, help="Folder for the tables (CSV, LaTeX, HTML)."
)
@click.option("--figures", type=FOLDER, required=True, help="Folder for the figures.")
@click.option(
    "--report",
    type=FOLDER,
    default=Path("report"),
    show_default=True,
    help="Folder of the text and the templates.",
)
@click.option("--output", type=FOLDER, required=True, help="Folder for text and LaTeX source.")
def command(study: Path, tables: Path, figures: Path, report: Path, output: Path) -> None:
    """Make the report of what a study's source published, without any measurement.

    Reads published.csv, quotes.yaml and claims.yaml beside study.yaml, as far as they are there.
    """
    from kvstudy.present.drawing.draw import looks
    from kvstudy.present.drawing.write import write_charts
    from kvstudy.present.report.published import write_published
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.load import load_study

    main = write_published(study, report, tables, figures, output)
    plan = load_study(study)
    stores = load_stores(plan)
    look = looks(
        {name: store.title for name, store in stores.items()},
        {name: store.color for name, store in stores.items()},
    )
    write_charts(plan, look, sorted(figures.glob("*.csv")))
    print(main)
