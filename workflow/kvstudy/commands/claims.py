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
    from kvstudy.analyse.claims.file import load_claims
    from kvstudy.analyse.claims.selection import grid_of
    from kvstudy.analyse.claims.table import judge_claims
    from kvstudy.analyse.claims.values import measured_values, published_values
    from kvstudy.analyse.claims.words import Names
    from kvstudy.analyse.run import find_run
    from kvstudy.analyse.tidy.probes import records_of, updating
    from kvstudy.language.current import _
    from kvstudy.language.locale import decimal
    from kvstudy.present.claims import lines, write_claims
    from kvstudy.study.raw import noted

    of = find_run(run)
    study = of.study
    claims = load_claims(of.study_file.with_name("claims.yaml"), study)
    grid = grid_of(study, of.scale)
    measured = measured_values(
        of.values,
        of.cells,
        of.analysis.bottleneck,
        of.analysis.floor,
        paired=study.imported is None,
        rounds=of.rounds,
        updating=updating(study),
        records=records_of(of.probes, study.store_names),
    )
    published = None
    if of.published is not None:
        published = published_values(of.published, grid, study.workload_names, of.audit)
    names = Names.of(study, of.titles, grid)
    verdicts = of.scale == 1
    rows = judge_claims(claims, names, study.store_names, measured, published, verdicts=verdicts)
    with noted(of.text, "claims") as made:
        write_claims(rows, Path("report/templates/tables"), of.text, of.tables)
        tables = [of.tables / f"claims.{form}" for form in ("tex", "html")]
        made += [of.text / "claims.csv", *tables]
    if of.scale != 1:
        click.echo(_("trial run (scale {}): no verdicts").format(decimal(f"{of.scale:g}")))
    for line in lines(rows):
        click.echo(line)
