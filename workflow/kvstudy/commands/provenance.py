"""``kvstudy provenance``"""

from __future__ import annotations

import click


@click.command("provenance")
@click.argument("run")
def command(run: str) -> None:
    """Write which cells each table and figure of RUN is made of, with checksums, as JSON."""
    from kvstudy.analyse.run import find_run
    from kvstudy.share.trace.provenance import provenance, write_provenance

    of = find_run(run)
    output = of.folder / "provenance.json"
    write_provenance(provenance(of, claims=of.claims_file is not None), output)
    click.echo(output)
