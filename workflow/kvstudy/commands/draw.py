"""``kvstudy draw``: the figures of the report."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("draw")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@SCALE
@LANGUAGE
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--published", type=FILE, help="published.csv of the study, if it has a source.")
@click.option("--audit", type=FILE, help="audit.csv of the study's source, if it has one.")
@click.option("--series", type=FILE, required=True, help="series.csv of the run.")
@click.option("--resources", type=FILE, required=True, help="resources.csv of the run.")
@click.option(
    "--analysis",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The run's analysis.",
)
@click.option("--figure", "figures", multiple=True, help="Draw only this one (may be repeated).")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder of the figures.",
)
def command(
    study: Path,
    scale: float,
    summary: Path,
    cells: Path,
    published: Path | None,
    audit: Path | None,
    series: Path,
    resources: Path,
    analysis: Path,
    figures: tuple[str, ...],
    output: Path,
) -> None:
    """Draw the study's figures: PDF, SVG, CSV of what each shows, and an interactive chart.

    Beside its own bar charts every study has the run order, the runs second by
    second, the spectra of latency and the CPU time of an operation. Whiskers are the
    range over repetitions. A bar several times higher than the others of its axis is
    torn; its value is written on it. The chart, NAME.vl.json, is a Vega-Lite specification
    made of the CSV.
    """
    from kvstudy.analyse.audit.doubts import read_judged
    from kvstudy.analyse.findings.files import read_analysis, shown_of
    from kvstudy.analyse.tidy.files import read_cells, read_resources, read_series, read_summary
    from kvstudy.analyse.tidy.shown import only
    from kvstudy.analyse.tidy.swept import Swept
    from kvstudy.present.drawing.draw import looks
    from kvstudy.present.drawing.figure import Shown
    from kvstudy.present.drawing.write import write_charts, write_figures
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.cells import shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted

    plan = load_study(study)
    one = shown(plan, scale)
    means, planned = read_summary(summary), read_cells(cells)
    theirs = read_judged(published, audit) if published else None
    swept = Swept(plan, scale, means, planned, theirs)
    stores = load_stores(plan)
    look = looks(
        {name: store.title for name, store in stores.items()},
        {name: store.color for name, store in stores.items()},
    )
    parts = Shown(
        plan,
        swept.shown(),
        only(read_series(series), one),
        only(read_resources(resources), one),
        shown_of(read_analysis(analysis), one),
        swept,
    )
    with noted(output, "draw") as made:
        written = write_figures(parts, look, output, list(figures))
        write_charts(plan, look, written)
        made += written
    click.echo(f"{output}: {len(written)} figures")
