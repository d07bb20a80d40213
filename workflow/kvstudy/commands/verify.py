import sys
import time
from pathlib import Path

import click

SECONDS = 5


@click.command("verify")
@click.argument("archive")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the page to this file (Markdown), with every fault and note.",
)
@click.option(
    "--archived-code",
    is_flag=True,
    help="Make the numbers anew by the archive's own workflow. This runs programs out of it.",
)
def command(archive: str, output: Path | None, archived_code: bool) -> None:
    """Check ARCHIVE, a file of 'kvstudy archive', or a run below results/.

    \b
    - Checksums: each file is as it was packed, none is missing, none was added; the raw logs
      are as they were measured.
    - Plan: each planned cell is there, or the reason why not.
    - Course: the cells were measured one at a time, in the planned order, in one way; none was
      measured again without its earlier logs being kept.
    - Numbers: tidy data, analysis, tables and values of figures are made anew from the raw logs,
      in a temporary folder, and are equal.

    Prints one page. The exit code is 0 only when all of that holds; notes are no faults, but
    worth a look. Nothing is measured. Nothing out of the archive is run but with --archived-code.
    """
    from kvstudy.share.archive.checks import as_text
    from kvstudy.share.archive.verify import verify

    told, when = "", 0.0

    def say(text: str) -> None:
        """To a person who waits: what is new, and every few seconds how far."""
        nonlocal told, when
        what, now = text.partition(":")[0], time.monotonic()
        if what != told or now - when >= SECONDS:
            told, when = what, now
            click.echo(f"{text} ...", err=True)

    found = verify(archive, own_code=not archived_code, say=say)
    click.echo(as_text(found), nl=False)
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(as_text(found, every=True), encoding="utf-8")
    sys.exit(0 if found.holds else 1)
