"""Commands about the duration and the progress of a study."""

import contextlib
import itertools
import shutil
import sys
import time
from functools import partial
from pathlib import Path

import click

from kvstudy.commands.options import PROVIDER, study_file, study_to_measure
from kvstudy.errors import InputError
from kvstudy.measure.controller import stop_on_signals
from kvstudy.measure.planning import calibrate as short
from kvstudy.measure.planning import screen
from kvstudy.measure.planning.costs import Estimator, between_stores, read_costs, spreads
from kvstudy.measure.planning.progress import (
    CALIBRATION,
    Progress,
    counted,
    duration,
    earlier_runs,
    look,
    size,
    times,
)
from kvstudy.measure.planning.watch import Watch, latest_run, works_here
from kvstudy.stores.configuration import is_current
from kvstudy.stores.definition import stores_to_measure
from kvstudy.study.cells import plan as plan_cells
from kvstudy.study.config import configured
from kvstudy.study.load import load_study
from kvstudy.study.run_names import find_name
from kvstudy.study.workload import class_of
from kvstudy.study.ycsb_properties import CORE

# Between two looks at a run.
SECONDS = 1.0


@click.command("plan")
@click.argument("study", required=False)
@click.option(
    "--scale",
    type=float,
    help="Multiplies the numbers of records and operations.  [default: as configured]",
)
@click.option(
    "--provider",
    type=PROVIDER,
    help="How servers run, see 'kvstudy measure --help'.  [default: as configured]",
)
@click.option(
    "--calibrate",
    is_flag=True,
    help="First measure a few short cells of each store that has no finished ones.",
)
@click.option("--cells", is_flag=True, help="List all cells in the order of measurement.")
def plan(
    study: str | None, scale: float | None, provider: str | None, calibrate: bool, cells: bool
) -> None:
    """Estimate the time and disk space for STUDY, and the detectable differences.

    STUDY is the name of a study or the path of a study.yaml [default: the one in
    config/config.yaml]. Shows the number of cells per store and workload, the stores
    that cannot be measured here, and the number of repetitions needed to detect
    differences of 5, 10 and 25 %.

    Estimates use finished cells of the study, at any scale, and calibration cells (see
    --calibrate). Calibration cells are kept in results/calibration for all studies.
    """
    config = configured()
    if provider:
        config = config.model_copy(update={"provider": provider})
    path = study_file(study or config.study)
    loaded = study_to_measure(path)
    stores = stores_to_measure(loaded, path)
    scale = config.scale if scale is None else scale
    outlook = look(loaded, stores, config, scale)
    if cells:
        _list(outlook)
        return
    runs = earlier_runs(loaded.name, outlook.run)
    known = read_costs([*runs, CALIBRATION])
    failed: dict[str, str] = {}
    if calibrate:
        here = [cell for cell in plan_cells(loaded, scale) if cell.store not in outlook.missing]
        wants = short.cells_to_calibrate(here, known)
        stop_on_signals()
        failed = short.calibrate(
            *(wants, known, stores, config, outlook.provider),
            lambda text: click.echo(text, err=True),
        )
        if wants:
            click.echo("", err=True)
    names = {(use.store, tuple(sorted(use.options.items()))): use.name for use in loaded.stores}
    spread = {}
    # The study's own cells first: those of a calibration are shorter and vary more.
    for source in (runs[:1], runs[1:], [CALIBRATION]):
        spread = spreads(read_costs(source), names) | spread
    of_stores = {name: spread[name] for name in loaded.store_names if name in spread}
    blocks = (between_stores(read_costs([raw]), names) for raw in runs)
    paired = next((blocks_found for blocks_found in blocks if blocks_found), None)
    for line in _screen(loaded, stores, outlook, Estimator(known), failed, of_stores, paired):
        click.echo(line)


def _list(outlook) -> None:
    for position, cell in enumerate(outlook.cells, start=1):
        status = "measured" if cell in outlook.done else "-"
        status = "no value" if cell in outlook.gaps else status
        status = "changed" if cell in outlook.outdated else status
        click.echo(f"{position:4}  {status:8}  {cell.path}")
    measured = len(outlook.done - outlook.gaps)
    click.echo(f"{counted(outlook.cells)} of {outlook.run}, {measured} measured")


def _repetitions(study) -> str:
    if not study.until:
        return times(study.repetitions, "repetition")
    return f"{study.until.first} to {study.until.last} repetitions, until all is decided"


def _screen(study, stores, outlook, estimate, failed, spread, paired) -> list[str]:
    # Where the study names the network of each store, it leaves the provider no choice.
    chosen = all(store.network for store in stores.values())
    how = "providers as the study's networks say" if chosen else f"provider {outlook.provider}"
    lines = screen.paragraph(f"{study.title}: results/{outlook.run}, {how}.")
    lines += screen.paragraph(
        f"{times(len(study.stores), 'store')}, {times(len(study.workloads), 'workload')}, "
        f"{_repetitions(study)}: {counted(outlook.cells)} planned; "
        f"{counted(outlook.wanted)} here, {len(outlook.wanted) - len(outlook.left)} done."
    )
    reasons: dict[str, list[str]] = {}
    for name, reason in outlook.missing.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        lines += screen.paragraph(f"Not measured here: {', '.join(names)}. Why: {reason}.")
    for cell, changed in itertools.islice(outlook.outdated.items(), 1):
        count = times(len(outlook.outdated), "cell")
        lines += screen.paragraph(
            f"To be measured again because of changed parameters: {count}, such as {cell.path}: "
            f"{changed}."
        )
    for name, reason in failed.items():
        lines += screen.paragraph(f"Not calibrated: {stores[name].title}: {reason}")
    if not outlook.wanted:
        return [*lines, "Nothing to measure; 'kvstudy doctor' shows what is missing."]
    rows = screen.rows(outlook, estimate)
    every = screen.total(row for workloads in rows.values() for row in workloads.values())
    lines += ["", *screen.table(rows, [*study.store_names, *study.workload_names]), ""]
    lines += screen.notes(every)
    if every["unknown"] < every["cells"]:
        least = "at least " if every["unknown"] or every["timed"] else ""
        lines += screen.paragraph(
            f"Whole study: {least}{duration(sum(every[part] for part in screen.PARTS))}, and "
            f"{least}{size(every['bytes'])} of raw logs; left: {least}{duration(every['left'])}. "
            "Add some seconds per store for probes, and a minute for the report."
        )
        if held := max(map(_held, outlook.wanted)):
            lines += screen.paragraph(
                f"A server that keeps records on disk needs more than {size(held)} during its "
                "largest cell, which is freed afterwards."
            )
    if every["unknown"] or every["timed"]:
        lines += screen.paragraph(
            f"To estimate them: kvstudy plan {study.name} --calibrate (short cells of each "
            "store, of a minute each if it starts slowly), or measure the study at a small scale: "
            f"snakemake --cores 4 --config study={study.name} scale=0.1"
        )
    lines.append("")
    if spread:
        freedom = screen.freedom_of(outlook.cells)
        return lines + screen.repetition_lines(spread, paired, study.repetitions, freedom)
    return lines + screen.paragraph(
        "The required number of repetitions is unknown, because no cell was measured twice; "
        f"'kvstudy plan {study.name} --calibrate' does that."
    )


def _held(cell) -> int:
    """Bytes that the server holds while it runs; 0 where the workload class has its own sizes."""
    properties = dict(cell.properties)
    fields, length = properties.get("fieldcount", 10), properties.get("fieldlength", 100)
    return cell.records * int(fields) * int(length) if class_of(properties) == CORE else 0


@click.command("watch")
@click.argument("run", required=False)
def watch(run: str | None) -> None:
    """Show the live progress of a run; start it in a second terminal.

    RUN is a folder in results/ [default: the current or the latest run]. A live line
    shows the number of finished and failed cells, the remaining time, and the current
    cell with its phase and operations per second. Each finished or failed cell adds a
    line; if the output is not a terminal, only these lines are written.

    The command only reads files, and exits when the run ends. Ctrl-C stops the display,
    not the run.
    """
    name = Path(run).name if run else latest_run()
    if name is None:
        raise InputError("results/: no run was begun here; start one with 'snakemake --cores 4'")
    of = find_name(name, published=False)
    study = load_study(of.study_file)
    # The cells that are there tell the provider, whatever Snakemake was told.
    config = configured().model_copy(update={"provider": "auto"})
    stores = stores_to_measure(study, of.study_file)
    wanted = look(study, stores, config, of.scale).wanted
    earlier = [*earlier_runs(study.name, name), CALIBRATION]
    began = _began(of.folder / "logs" / "progress.log")
    is_done = partial(is_current, study, stores, name)
    watch = Watch(Progress(name, wanted, earlier, since=began, is_done=is_done), works_here)
    live = sys.stdout.isatty()

    def show(line: str) -> None:
        if live:
            # Cut to the width of now: a line that wraps could not be taken back.
            width = shutil.get_terminal_size().columns - 1
            cut = line if len(line) <= width else line[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
            print(f"\r\x1b[2K{cut}", end="", flush=True)

    news, line, goes_on = watch.look()
    if goes_on and not live:
        click.echo(line.partition(" | ")[0])
    last = "The run goes on; 'kvstudy watch' shows it again."
    with contextlib.suppress(KeyboardInterrupt):
        while goes_on:
            show(line)
            time.sleep(SECONDS)
            news, line, goes_on = watch.look()
            for event in news:
                show("")
                click.echo(event)
        last = watch.end()
    show("")
    click.echo(last)


def _began(log: Path) -> float | None:
    """Return the start of Snakemake's work on the run: the first line after its last start."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    for line in reversed(lines):
        if ", 0 s elapsed," in line:
            return time.mktime(time.strptime(line[:19], "%Y-%m-%d %H:%M:%S"))
    return None
