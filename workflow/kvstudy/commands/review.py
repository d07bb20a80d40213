"""Check another person's archive by measuring its comparisons again."""

import contextlib
import datetime
import subprocess
import sys
import time
from pathlib import Path

import click

from kvstudy import __version__
from kvstudy.commands.options import PROVIDER
from kvstudy.errors import InputError
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import stop_on_signals

DEFAULT_MINUTES = 15
# Judging and the page, with a repetition that takes a little longer than the one before. Seen: a
# review of three minutes that ended after 198 s.
RESERVE_SECONDS = 20
# So much of the archive's digest names its review.
DIGITS = 8


@click.command("review")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--minutes",
    type=click.FloatRange(2, 24 * 60),
    default=DEFAULT_MINUTES,
    show_default=True,
    help="The time for verifying and measuring.",
)
@click.option("--name", "reviewer", default="", help="Your name, as the record shows it.")
@click.option("--provider", type=PROVIDER, default="auto", show_default=True)
@click.option("--yes", is_flag=True, help="Install missing servers without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be measured.")
def review(
    archive: Path, minutes: float, reviewer: str, provider: str, yes: bool, dry_run: bool
) -> None:
    """Review ARCHIVE: verify it, and measure its main comparisons again on this machine.

    Verifies the archive, shows what it claims, chooses the comparisons that fit into the
    time, and measures them in interleaved repetitions until they are decided or the time
    is over. Stores, threads and workloads are the archive's, sizes are smaller where
    needed. Only orders and ratios are compared, not rates.

    Nothing in the archive is executed: servers run as this clone configures them. Stores
    and workloads that this clone does not have are named and not tried. An interrupted
    review goes on with the same command. Writes a page and a record for the author to
    results/review-.../; the author puts the record into reviews/ beside the archive, where
    'kvstudy verify' checks it.
    """
    from kvstudy.analyse.tidy.reviews import FOLDER, ReviewRecord, write_record
    from kvstudy.measure.environment import components, java
    from kvstudy.measure.planning.progress import why_missing
    from kvstudy.share.archive.checks import as_text
    from kvstudy.share.archive.verify import verify
    from kvstudy.share.review import text
    from kvstudy.share.review.judgement import judge
    from kvstudy.share.review.measurement import ReviewRun, measure, write_study
    from kvstudy.share.review.original import read_original
    from kvstudy.share.review.page import write_page
    from kvstudy.share.review.selection import select
    from kvstudy.stores.definition import load_stores
    from kvstudy.stores.providers import resolve
    from kvstudy.study.config import Config
    from kvstudy.study.run_names import RESULTS

    stop_on_signals()
    began = time.monotonic()
    click.echo(f"verifying {archive}; this takes a minute or more ...", err=True)
    verified = verify(str(archive))
    if not verified.holds:
        click.echo(as_text(verified), nl=False)
        raise InputError(f"{archive}: does not hold, as said above; there is nothing to review")
    original = read_original(archive)
    seconds = minutes * 60 - (time.monotonic() - began) - RESERVE_SECONDS
    name = f"review-{original.study.name}-{original.digest[:DIGITS]}"
    click.echo(f"{archive}: all holds (kvstudy verify)\n")
    _say(text.claim_lines(original))
    here = components(java())
    click.echo()
    _say(text.machine_lines(original, here))

    def missing_here() -> dict[str, str]:
        known = [
            use for use in original.study.stores if ("store", use.name) not in original.foreign
        ]
        resolved = resolve(provider, RESULTS / name / "raw")
        config = Config(study=name, provider=provider)
        missing = why_missing(load_stores(original.study, known), config, resolved)
        return {store: sentence(reason) for store, reason in missing.items()}

    missing = missing_here()
    wanted = [use.store for use in original.study.stores if use.name in missing]
    if wanted and not dry_run:
        question = f"\nInstall what is missing ({', '.join(wanted)})?"
        if yes or (sys.stdin.isatty() and click.confirm(question)):
            command = [sys.executable, "-m", "kvstudy", "servers", "get", *wanted]
            subprocess.run(command, check=False)
            missing = missing_here()
    selection = select(original, name, missing, minutes * 60)
    click.echo()
    _say(text.plan_lines(original, selection))
    if dry_run:
        return
    click.echo()
    state = ReviewRun()
    if selection.study:
        state = measure(
            *(write_study(selection), selection, seconds, provider),
            lambda line: click.echo(line, err=True),
        )
    judgement = judge(original, selection, state)
    click.echo()
    lines = [*text.result_lines(original, state, judgement)]
    _say(lines)
    for cell, reason in state.failed.items():
        click.echo(text.wrapped(f"failed: {cell}: {reason}"))
    who = reviewer or "anonymous"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    output = RESULTS / name
    about = [
        f"By {who} on {today} with kvstudy {__version__}: {state.repetitions} repetitions.",
        *(line.strip() for line in text.machine_lines(original, here)),
    ]
    write_page(original, judgement, about, " ".join(lines[0].split()), output / "review.html")
    record = ReviewRecord(
        archive=original.digest,
        run=original.run.name,
        reviewer=who,
        date=today,
        kvstudy=__version__,
        minutes=minutes,
        machine=here,
        comparisons=[text.as_json(one) for one in judgement.pairs],
    )
    write_record(record, output / FOLDER / f"{original.run.name}-{today}.json")
    click.echo(f"\n{output / 'review.html'}")
    click.echo(f"for the author: {output / FOLDER / f'{original.run.name}-{today}.json'}")


def _say(lines) -> None:
    with contextlib.suppress(BrokenPipeError):
        for line in lines:
            click.echo(line)
