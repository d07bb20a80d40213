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
from kvstudy.errors import InputError
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
@click.option(
    "--scale",
    type=float,
    help="Multiplies the numbers of records and operations.  [default: as configured]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def trace(
    what: str, name: str | None, study: str | None, scale: float | None, as_json: bool
) -> None:
    """Trace a number, table or figure (WHAT) back to the lines of the raw logs.

    Prints the mean (summary.csv), each repetition (measurements.csv) and whether the
    mean includes it, and the path of the raw log, its SHA-256 checksum and the line of
    the value. Every
    step is recomputed. If a value differs, the difference is listed and the exit
    status is 1.

    \b
    WHAT is
      STORE/WORKLOAD/METRIC             redis/a/throughput
      STORE/WORKLOAD/OPERATION/METRIC   redis/a/read/latency_p99
      STORE/WORKLOAD/PARAMETERS/...     redis/a/threads=8,records=1000/throughput
      STORE/mean/throughput             the mean of all workloads
      ratio:STORE/OTHER/WORKLOAD        the pairs of measurements behind a ratio
      table:NAME, figure:NAME           their cells, with the SHA-256 of the logs

    The operation 'all' means all operations of a workload combined. The default
    parameters are those of the report's tables. The default run is that of the
    configured study and scale, or the only existing one.
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
        raise InputError(f"{what}: {things} not fit, see above")


def _run(name: str | None, study: str | None, scale: float | None) -> Run:
    """The run called ``name``, or that of a study and scale; left out ones are as configured.

    Where nothing is named and that one is not there, it is the only run that is. InputError when
    there is no such run, or one of several is to be named.
    """
    from kvstudy.analyse.run import find_run, run_of
    from kvstudy.analyse.tidy.files import SUMMARY

    if name:
        if study or scale:
            raise InputError("--run shows study and scale; leave out --study and --scale")
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
        raise InputError(f"{RESULTS / wanted}: no such run; name one of these by --run: {names}")
    click.echo(f"run: {analysed[0]}, the only one below {RESULTS}/", err=True)
    return find_run(analysed[0])


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--baseline",
    metavar="STORE",
    help="The baseline store [default: the first that both runs have].",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to [default: results/comparisons/A-vs-B].",
)
def compare(a: str, b: str, baseline: str | None, output: Path | None) -> None:
    """Compare two finished runs, for example of two versions or machines.

    A and B are folders in results/, or paths of such folders, for example copied from
    another machine. Only cells.csv, measurements.csv and environment.json are read.

    The output first lists the differences between the runs (machine, versions, sizes)
    and the parts that cannot be compared, with the reason. For each workload that both
    runs measured with the same parameters, it then shows:

    \b
    - how each store's throughput relative to the baseline changed from A to B (what makes
      a machine faster for all stores alike cancels out);
    - whether the stores have the same ranking;
    - how absolute throughputs changed, only if both runs are from the same machine (CPU,
      cores, memory).

    A change is B divided by A, with its 95 % confidence interval. The sign = means that
    the whole interval is within ±10 %. The sign ~ means that the change is undecided; a
    number after it estimates how many repetitions would decide it.

    The result is printed and written as CSV files, as a forest plot (PDF, SVG) and as
    comparison.pdf.

    \b
    Examples:
      kvstudy compare jedlicka2024 /media/stick/jedlicka2024
      kvstudy compare before after --baseline memcached
    """
    from kvstudy.documents.comparison.compare import compare
    from kvstudy.documents.comparison.text import as_text, build_document, write_comparison

    comparison = compare(a, b, baseline)
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
    help="An author of the data (may be repeated) [default: those of CITATION.cff].",
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
    help="Leave out report, figures, notebook and workbook, which 'kvstudy rebuild' can make.",
)
def archive(
    run: str, output: Path | None, authors: tuple[str, ...], licence: str, lean: bool
) -> None:
    """Pack RUN into one file to share with others or to publish.

    The archive contains raw logs, failed attempts, study, stores, workloads, tables,
    figures, the report and the workflow that made them, with checksums. The zip file is
    a Workflow Run RO-Crate, ready for Zenodo. Packing is reproducible: the same files give an
    identical archive. To pack an unfinished run, run 'make partial' and pack
    RUN-partial. CITATION.cff names the authors of kvstudy; give --author and --license
    for your own data.

    Raw logs reveal the processor, memory, kernel and versions, the time of each cell,
    and the path of the clone, which may contain your user name. They are packed unchanged so
    that their checksums stay valid; the command prints the paths that occur in them.
    Server logs (server.log) may also contain the machine's name.

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
    help="Also write the result to this Markdown file, with all faults and notes.",
)
@click.option(
    "--archived-code",
    is_flag=True,
    help="Recompute the numbers with the archive's workflow. This runs programs from the archive.",
)
def verify(archive: str, output: Path | None, archived_code: bool) -> None:
    """Verify ARCHIVE: a file made by 'kvstudy archive', or a run in results/.

    \b
    - Checksums: no file has been changed, removed or added since packing; raw logs are unchanged
      since the measurement.
    - Plan: every planned cell is present, or the reason for its absence is recorded.
    - Order: the cells were measured one at a time, in the planned order, under the same
      conditions; nothing shows that one was repeated without keeping its earlier logs.
    - Numbers: tidy data, analysis, tables, text and figure data are recomputed from the raw
      logs in a temporary folder, and match those in the archive.

    The exit status is 0 only if all of this holds. Notes do not affect it, but you
    should read them. Nothing is measured. Code from the archive runs only with --archived-code.
    """
    from kvstudy.share.archive.checks import as_text
    from kvstudy.share.archive.verify import verify

    last_message, when = "", 0.0

    def say(text: str) -> None:
        """To a person who waits: what is new, and every few seconds how far."""
        nonlocal last_message, when
        what, now = text.partition(":")[0], time.monotonic()
        if what != last_message or now - when >= SECONDS:
            last_message, when = what, now
            click.echo(f"{text} ...", err=True)

    result = verify(archive, own_code=not archived_code, say=say)
    click.echo(as_text(result), nl=False)
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(as_text(result, every=True), encoding="utf-8")
    sys.exit(0 if result.holds else 1)


@click.command("rebuild")
@click.argument("archive", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to create [default: the archive's name without .zip].",
)
@click.option(
    "--own-code",
    is_flag=True,
    help="Use this clone's workflow and run no programs from the archive.",
)
def rebuild(archive: Path, output: Path | None, own_code: bool) -> None:
    """Rebuild the report of ARCHIVE from its raw logs.

    Unpacks the raw logs, the study and the workflow to a new folder, and runs the workflow
    there. Nothing is measured, and no server is needed. Tables go to results/, figures to
    figures/, the report to report/ in that folder.

    WARNING: this runs code from the archive. Use it only with archives that you trust,
    or use --own-code. ('kvstudy verify' runs no code from the archive by default.)
    """
    from kvstudy.share.archive.rebuild import rebuild

    folder = output or archive.with_suffix("")
    click.echo(rebuild(archive, folder, own_code))
