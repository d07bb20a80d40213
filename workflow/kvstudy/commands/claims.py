from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE


@click.command("claims")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Ask the measured values of RUN and the published ones what holds of the source's claims.

    Prints a verdict for each claim, and writes them with the intervals behind them. A trial
    run, of another scale than 1, has intervals and no verdicts.
    """
    from kvstudy.analyse.claims.table import judge_run
    from kvstudy.analyse.run import find_run
    from kvstudy.language.current import _
    from kvstudy.language.locale import decimal
    from kvstudy.present.claims import lines, write_claims
    from kvstudy.study.raw import noted

    of = find_run(run)
    rows = judge_run(of)
    with noted(of.text, "claims") as made:
        write_claims(rows, Path("report/templates/tables"), of.text, of.tables)
        tables = [of.tables / f"claims.{form}" for form in ("tex", "html")]
        made += [of.text / "claims.csv", *tables]
    if of.scale != 1:
        click.echo(_("trial run (scale {}): no verdicts").format(decimal(f"{of.scale:g}")))
    for line in lines(rows):
        click.echo(line)
