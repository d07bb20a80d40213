"""Follow, compare, pack and check finished runs."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kvstudy.commands.options import study_file
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import run_name
from kvstudy.study.config import configured
from kvstudy.study.load import load_study
from kvstudy.study.run_names import RESULTS, find_name, run_folders

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


@click.command("trace")
@click.argument("what")
@click.option("--run", "name", metavar="RUN", help="A folder below results/.")
@click.option("--study", help="A study's name or study.yaml.  [default: as configured]")
@click.option("--scale", type=float, help="Factor on the counts.  [default: as configured]")
@click.option("--json", "as_json", is_flag=True, help="Print it as data.")
def trace(
    what: str, name: str | None, study: str | None, scale: float | None, as_json: bool
) -> None:
    """Follow WHAT from the report to the lines of the logs that it comes from.

    Prints the mean as in summary.csv, each repetition as in measurements.csv and
    whether it counts, the raw file with its sha256 and the line in it. On the way
    everything is worked out again; what does not fit is listed, and the exit
    status is 1.

    \b
    WHAT is
      STORE/WORKLOAD/METRIC             redis/a/throughput
      STORE/WORKLOAD/OPERATION/METRIC   redis/a/read/latency_p99
      STORE/WORKLOAD/SIZES/...          redis/a/threads=8,records=1000/throughput
      STORE/mean/throughput             the mean of all workloads
      ratio:STORE/OTHER/WORKLOAD        the pairs behind a ratio
      table:NAME, figure:NAME           their cells and the sha256 of their logs

    The operation 'all' stands for a workload's operations combined. Without sizes,
    those are meant that the report shows. Without --run it is the run of the
    configured study and scale, or the only one that is there.
    """
    from kvstudy.share.trace import text
    from kvstudy.share.trace.chain import chain, ratio_chain, resolve
    from kvstudy.share.trace.provenance import part_of

    run = _run(name, study, scale)
    kind, _, rest = what.partition(":")
    data: Any
    problems: list[str] = []
    if kind in ("table", "figure") and rest:
        data = part_of(run, kind, rest)
        lines = text.part_lines(f"{kind} {rest} of {run.name}", data)
    elif kind == "ratio" and rest:
        ratio = ratio_chain(run, rest)
        lines, data, problems = text.ratio_lines(ratio), dataclasses.asdict(ratio), ratio.problems
    else:
        value = chain(run, resolve(run, what))
        lines, data, problems = text.chain_lines(value), dataclasses.asdict(value), value.problems
    if as_json:
        whole = json.dumps({"run": run.name} | data)
        # JSON has no NaN: what is not known is null.
        click.echo(json.dumps(json.loads(whole, parse_constant=lambda _nan: None), indent=1))
    else:
        click.echo("\n".join([*lines, *text.problem_lines(problems)]))
    if problems:
        things = "1 thing does" if len(problems) == 1 else f"{len(problems)} things do"
        raise KvstudyError(f"{what}: {things} not fit, see above")


def _run(name: str | None, study: str | None, scale: float | None) -> Run:
    """The run called ``name``, or that of a study and scale; left out ones are as configured.

    Where nothing is named and that one is not there, it is the only run that is. KvstudyError when
    there is no such run, or one of several is to be named.
    """
    from kvstudy.analyse.run import find_run, run_of
    from kvstudy.analyse.tidy.files import SUMMARY

    if name:
        if study or scale:
            raise KvstudyError("--run tells study and scale; leave out --study and --scale")
        return find_run(name)
    config = configured()
    loaded = load_study(study_file(study or config.study))
    if study or scale is not None:
        return run_of(loaded, config.scale if scale is None else scale)
    wanted = run_name(loaded.name, config.scale)
    analysed = [run for run in run_folders() if SUMMARY.path(RESULTS / run).is_file()]
    if wanted in analysed or not analysed:
        return run_of(loaded, config.scale)
    if len(analysed) > 1:
        names = ", ".join(analysed)
        raise KvstudyError(f"{RESULTS / wanted}: no such run; name one of these by --run: {names}")
    click.echo(f"run: {analysed[0]}, the only one below {RESULTS}/", err=True)
    return find_run(analysed[0])


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--base",
    metavar="STORE",
    help="The store that the others are divided by [default: the first that both runs have].",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of what is written [default: results/comparisons/A-vs-B].",
)
def compare(a: str, b: str, base: str | None, output: Path | None) -> None:
    """Compare two finished runs, A and B: before and after, two versions, two machines.

    A and B are names of folders below results/, or paths of such folders, also copied
    from another machine. Only cells.csv, measurements.csv and environment.json are read.

    First comes what differs between the runs (machine, versions, sizes), and what is not
    compared, with the reason. Then, for each workload that both have with the same
    parameters:

    \b
    - the change of each store's throughput relative to the base, from A to B. The speed
      of the machines cancels out, so this also compares two machines.
    - whether the stores stand in the same order.
    - the change of the throughputs themselves, only when both runs say that they are of
      the same machine (CPU, cores, memory).

    Changes are B by A, with 95 % intervals. = marks a change whose whole interval is within
    ±10 %, ~ one that is undecided, with about the number of repetitions that would decide.

    Prints all that, and writes it as CSV files, as a forest plot (PDF, SVG) and as
    comparison.pdf.

    \b
    Examples:
      kvstudy compare jedlicka2024 /media/stick/jedlicka2024
      kvstudy compare before after --base memcached
    """
    from kvstudy.present.comparison.compare import compare
    from kvstudy.present.comparison.text import as_text, build_document, write_comparison

    comparison = compare(a, b, base)
    output = output or Path("results/comparisons") / f"{comparison.a.name}-vs-{comparison.b.name}"
    click.echo(as_text(comparison))
    drawn = write_comparison(comparison, output)
    click.echo(build_document(comparison, drawn, output))


@click.command("archive")
@click.argument("run")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write [default: RUN.zip].",
)
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME[, ORCID]",
    help="Who answers for the data; may be given several times [default: those of CITATION.cff].",
)
@click.option(
    "--license",
    "licence",
    metavar="SPDX",
    default="",
    help="Licence of the data, for example CC-BY-4.0 [default: that of CITATION.cff].",
)
@click.option(
    "--lean",
    is_flag=True,
    help="Without report, drawings, notebook and workbook: 'kvstudy rebuild' makes them again.",
)
def archive(
    run: str, output: Path | None, authors: tuple[str, ...], licence: str, lean: bool
) -> None:
    """Pack RUN, a folder below results/, as one file for a colleague or a repository.

    Raw logs, failed attempts, study, stores, workloads, tables, figures, the report and the
    workflow that made them, with checksums. The zip is a Workflow Run RO-Crate, ready for
    Zenodo. The same files always give the same bytes. A run that is not finished is packed as
    RUN-partial, after 'make partial'.

    Raw logs tell about machine and person: processor, memory, kernel, versions, the time of
    each cell, and the folder of the project, which can hold a user's name. They are packed
    as they are, since their checksums would not hold otherwise; the command says which
    folders are named. Logs of servers (server.log) may also have the machine's name.

    \b
    Examples:
      kvstudy archive jedlicka2024
      kvstudy archive jedlicka2024 --license CC-BY-4.0 \\
        --author "Jana Nováková, https://orcid.org/0000-0002-1825-0097"
    """
    from kvstudy.share.archive.contents import contents_of
    from kvstudy.share.archive.crate import parse_person
    from kvstudy.share.archive.pack import folders_named, pack

    people = tuple(parse_person(each) for each in authors)
    contents = contents_of(find_name(run), lean)
    output = output or Path(f"{contents.run.name}.zip")
    # A log file stays quiet.
    shown = sys.stderr if sys.stderr.isatty() else io.StringIO()
    total = sum(Path(name).stat().st_size for name in contents.files)
    with click.progressbar(length=total, label=f"packing {output}", file=shown) as bar:
        pack(contents, output, people, licence, bar.update)
    megabytes = output.stat().st_size / 1e6
    click.echo(f"{output}: {len(contents.files)} files, {megabytes:.1f} MB")
    if contents.missing:
        click.echo(f"not finished: {len(contents.missing)} planned cells are not there")
    for folder, count in folders_named(contents).items():
        click.echo(f"names a folder of the machine that measured: {folder} ({count} files)")
    click.echo(f"next: kvstudy verify {output}")


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
def verify(archive: str, output: Path | None, archived_code: bool) -> None:
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
def rebuild(archive: Path, output: Path | None, own_code: bool) -> None:
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
