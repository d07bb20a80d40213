"""``kvstudy provenance``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE


@click.command("provenance")
@click.option(
    "--study", type=click.Path(path_type=Path, dir_okay=False), required=True, help="study.yaml."
)
@SCALE
@click.option("--run", metavar="RUN", required=True, help="The folder below results/.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file."
)
def command(study: Path, scale: float, run: str, output: Path) -> None:
    """Write which cells each table and figure is made of, with checksums, as JSON."""
    from kvstudy.share.trace.provenance import provenance, write_provenance
    from kvstudy.share.trace.run import Run
    from kvstudy.study.load import load_study

    found = provenance(
        Run(run, load_study(study), scale), claims=study.with_name("claims.yaml").is_file()
    )
    write_provenance(found, output)
    click.echo(output)
