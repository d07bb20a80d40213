from pathlib import Path

import click

from kvstudy.errors import KvstudyError

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("audit")
@click.option("--study", type=FILE, required=True, help="study.yaml.")
@click.option("--output", type=FILE, help="The checks, as CSV [default: results/STUDY/audit.csv].")
@click.option("--all", "everything", is_flag=True, help="Print also the checks that fit.")
def command(study: Path, output: Path | None, everything: bool) -> None:
    """Check the values of a study's source against each other, and its text against them.

    Reads published.csv and quotes.yaml beside study.yaml; nothing measured here is
    looked at. Allowed for is what rounding to the printed digits can do.

    Prints the checks by kind and those that do not fit, and writes them all.
    """
    from kvstudy.analyse.audit.files import as_text, audit
    from kvstudy.analyse.claims.file import check_source
    from kvstudy.study.load import load_study
    from kvstudy.study.published import PUBLISHED, QUOTES, beside
    from kvstudy.study.raw import noted

    plan = load_study(study)
    published, quotes = beside(study, PUBLISHED), beside(study, QUOTES)
    if not published and not quotes:
        raise KvstudyError(
            f"{study.parent}: neither {PUBLISHED} nor {QUOTES}; there is nothing to audit"
        )
    check_source(study, plan)
    checks = audit(plan, published, quotes)
    output = output or Path("results") / plan.name / "audit.csv"
    with noted(output.parent, "audit") as made:
        output.parent.mkdir(parents=True, exist_ok=True)
        checks.to_csv(output, index=False, lineterminator="\n")
        made.append(output)
    for line in as_text(checks, everything):
        click.echo(line)
    click.echo(f"{output}: {len(checks)} checks")
