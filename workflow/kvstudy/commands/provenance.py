import click


@click.command("provenance")
@click.argument("run")
def command(run: str) -> None:
    """Write which cells each table and figure of RUN is made of, with checksums, as JSON."""
    from kvstudy.analyse.run import find_run
    from kvstudy.share.trace.provenance import write_provenance

    click.echo(write_provenance(find_run(run)))
