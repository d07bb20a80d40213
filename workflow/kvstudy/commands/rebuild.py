from pathlib import Path

import click


@click.command("rebuild")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="A new folder to work in [default: the archive's name without .zip].",
)
@click.option(
    "--own-code",
    is_flag=True,
    help="Build it by this clone's workflow, and run nothing out of the archive.",
)
def command(archive: Path, output: Path | None, own_code: bool) -> None:
    """Build the report of ARCHIVE again from its raw logs.

    Unpacks the raw logs, the study and the workflow to a new folder, and runs the workflow
    there. Nothing is measured, and no server is needed. Tables go to results/, figures to
    figures/, the report to report/ in that folder; those that were packed stay in the archive.

    This runs programs out of the archive: do it with archives of people whom you trust, or with
    --own-code. 'kvstudy verify' runs nothing out of it.
    """
    from kvstudy.share.archive.rebuild import rebuild

    folder = output or archive.with_suffix("")
    click.echo(rebuild(archive, folder, own_code))
