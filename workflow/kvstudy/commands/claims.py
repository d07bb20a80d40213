"""``kvstudy claims``: what holds of the source's claims."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, SCALE

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("claims")
@click.option("--study", type=FILE, required=True, help="study.yaml; claims.yaml is beside it.")
@SCALE
@LANGUAGE
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--analysis", type=FOLDER, required=True, help="The run's analysis.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
@click.option("--rounds", type=FILE, help="rounds.csv of the run, if cells have rounds.")
@click.option("--published", type=FILE, help="published.csv of the study, if it has a source.")
@click.option("--audit", type=FILE, help="audit.csv of the study's source, if it has one.")
@click.option(
    "--templates",
    type=FOLDER,
    default=Path("report/templates/tables"),
    show_default=True,
    help="Folder of the templates.",
)
@click.option(
    "--output",
    type=FOLDER,
    required=True,
    help="Folder of the run; gets claims.csv, tables/claims.tex and .html.",
)
def command(
    study: Path,
    scale: float,
    measurements: Path,
    cells: Path,
    analysis: Path,
    probes: Path,
    rounds: Path | None,
    published: Path | None,
    audit: Path | None,
    templates: Path,
    output: Path,
) -> None:
    """Ask the measured and the published values what holds of the source's claims.

    Prints a verdict for each claim, and writes them with the intervals behind them. A trial
    run, of another scale than 1, has intervals and no verdicts.
    """
    from kvstudy.analyse.audit.doubts import read_judged
    from kvstudy.analyse.audit.files import read_audit
    from kvstudy.analyse.claims.evaluate import evaluate
    from kvstudy.analyse.claims.file import load_claims
    from kvstudy.analyse.claims.selection import grid_of
    from kvstudy.analyse.claims.table import table
    from kvstudy.analyse.claims.values import measured_values, published_values
    from kvstudy.analyse.claims.words import Names
    from kvstudy.analyse.findings.files import read_analysis
    from kvstudy.analyse.findings.updates import records_of, updating
    from kvstudy.analyse.tidy.files import read_cells, read_measurements
    from kvstudy.analyse.tidy.probes import read_probes
    from kvstudy.analyse.tidy.rounds import read_rounds
    from kvstudy.analyse.tidy.summary import per_repetition
    from kvstudy.language.current import _
    from kvstudy.language.locale import decimal
    from kvstudy.present.tables.claims import lines, write_claims
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.cells import shown
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted

    plan = load_study(study)
    claims = load_claims(study.with_name("claims.yaml"), plan)
    grid, planned, found = grid_of(plan, scale), read_cells(cells), read_analysis(analysis)
    measured = read_measurements(measurements)
    values = per_repetition(measured, planned, plan.workload_names, shown(plan, scale))
    answers = evaluate(
        claims,
        grid,
        plan.store_names,
        measured_values(
            values,
            planned,
            found.bottleneck,
            found.floor,
            paired=plan.imported is None,
            rounds=read_rounds(rounds) if rounds else None,
            updating=updating(plan),
            records=records_of(read_probes(probes), plan.store_names),
        ),
        published_values(
            read_judged(published, audit),
            grid,
            plan.workload_names,
            read_audit(audit) if audit else None,
        )
        if published
        else None,
    )
    titles = {name: store.title for name, store in load_stores(plan).items()}
    rows = table(answers, Names.of(plan, titles, grid), verdicts=scale == 1)
    with noted(output, "claims") as made:
        write_claims(rows, templates, output)
        tables = [output / "tables" / f"claims.{form}" for form in ("tex", "html")]
        made += [output / "claims.csv", *tables]
    if scale != 1:
        click.echo(_("trial run (scale {}): no verdicts").format(decimal(f"{scale:g}")))
    for line in lines(rows):
        click.echo(line)
