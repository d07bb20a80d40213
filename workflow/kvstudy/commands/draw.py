import click

from kvstudy.commands.options import LANGUAGE


@click.command("draw")
@click.argument("run")
@LANGUAGE
@click.option("--figure", "figures", multiple=True, help="Draw only this one (may be repeated).")
def command(run: str, figures: tuple[str, ...]) -> None:
    """Draw the figures of RUN: PDF, SVG, PNG, CSV of what each shows, and an interactive chart.

    Beside its own figures every study has the ratios of its stores, the run order, the runs
    second by second and the spectra of latency. In bar charts, dots are single runs and
    whiskers 95 % intervals. A bar several times higher than the others of its axis is
    broken; its value is written on it. The chart, NAME.vl.json, is a Vega-Lite specification
    made of the CSV.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.drawing.write import write_figures
    from kvstudy.study.raw import noted

    of = find_run(run)
    with noted(of.figures, "draw") as made:
        made += write_figures(of, of.figures, list(figures))
    click.echo(f"{of.figures}: {len(made)} figures")
