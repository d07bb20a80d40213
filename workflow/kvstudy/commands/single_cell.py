"""The command run: one cell that belongs to no study, and its result."""

from __future__ import annotations

import csv
import os
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kvstudy.commands.measure import PORT
from kvstudy.errors import InputError
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import stop_on_signals
from kvstudy.stores import providers
from kvstudy.stores.configuration import mixed_repetitions
from kvstudy.stores.definition import Store, load_store, stores_to_measure
from kvstudy.study.base import MOST
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import STORES, design_problems, project_stores
from kvstudy.study.naming import check_known
from kvstudy.study.raw import raw_directory
from kvstudy.study.workload import WORKLOADS, load_only, load_workload, project_workloads

if TYPE_CHECKING:
    from kvstudy.logs.ycsb.log import YcsbLog
    from kvstudy.study.model import Study

COUNT = click.IntRange(1, MOST)
# The folder below results/, and the columns of its table.
RUN = "single-cells"
LATENCIES = ("mean", "min", "p95", "p99", "max")
COLUMNS = [
    *("store", "workload", "records", "threads", "repetition", "operation", "operations"),
    *("failed", "throughput", "runtime", *(f"latency_{part}" for part in LATENCIES)),
    "invalid",
]


@click.command("run")
@click.option("--store", help="Name of the store, see 'kvstudy doctor'.")
@click.option(
    "--option",
    "chosen",
    multiple=True,
    metavar="NAME=CHOICE",
    help="An option of the store, for example consistency=strong.",
)
@click.option("--workload", help="Name of the workload, a file in workloads/.")
@click.option("--insert-only", is_flag=True, help="Measure only the load phase.")
@click.option("--records", type=COUNT, help="Records to load.")
@click.option("--operations", type=COUNT, help="Operations of the run phase.")
@click.option("--threads", type=COUNT, default=4, show_default=True, help="Client threads.")
@click.option(
    "--provider",
    type=click.Choice(["auto", "native", "docker"]),
    default="auto",
    show_default=True,
    help="How the server runs, see 'kvstudy measure --help'.",
)
@click.option(
    "--port",
    type=PORT,
    default=0,
    show_default=True,
    help="Port of the server; 0 selects a free one.",
)
@click.option(
    "--ycsb-home",
    default="",
    help="Folder of an unpacked YCSB 0.17.0 distribution.  [default: kvstudy's bindings]",
)
def run(
    store: str | None,
    chosen: tuple[str, ...],
    workload: str | None,
    insert_only: bool,
    records: int | None,
    operations: int | None,
    threads: int,
    provider: str,
    port: int,
    ycsb_home: str,
) -> None:
    """Measure one cell without a study, print its result and keep its logs.

    Prompts for the store, the workload and those parameters that no option gives.
    Raw logs go to results/single-cells/raw/, the result to results/single-cells/ as
    text and as a row of results.csv. If you run the command again with the same
    parameters, the result is added as a further repetition.
    """
    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.measure.cell import Request, measure_cell

    if insert_only and workload not in (None, "insert"):
        raise InputError(
            f"--insert-only runs no workload: leave out --workload {workload}, or --insert-only"
        )
    store = store or _ask_store(provider)
    check_known("--store", "store", store, project_stores())
    definition = load_store(STORES / store)
    resolved = providers.resolve(provider, Path("results") / RUN / "raw")
    if problem := providers.missing_requirement(definition, resolved):
        raise InputError(sentence(problem))
    options = _all_options(definition, chosen)
    workload = "insert" if insert_only else workload or _ask_workload()
    check_known("--workload", "workload", workload, project_workloads())
    records = records or _ask("Records", "--records", COUNT, 100_000)
    if not load_only(load_workload(WORKLOADS / workload)):
        operations = operations or _ask("Operations", "--operations", COUNT, 1_000_000)
    study = _study(store, options, workload, records, operations or 1, threads)
    stop_on_signals()
    (used,) = stores_to_measure(study, Path("kvstudy run")).values()
    cell = _next_repetition(study, used)
    click.echo(f"measuring {cell.path} ...", err=True)
    request = Request(
        cell=cell,
        run=RUN,
        store=used,
        planned=[cell.path],
        position=1,
        provider=resolved,
        protocol=1,
        port=port,
        ycsb_home=ycsb_home,
        # Single cells are compared by nobody but the user, who chose the provider.
        mixed=True,
    )
    _report(study, cell, measure_cell(request, partial(read_cell, study, cell)))


def _ask_store(provider: str) -> str:
    """Prompt for one of the stores that can be measured here."""
    names = project_stores()
    reasons = {
        name: providers.missing_requirement(load_store(STORES / name), provider) for name in names
    }
    if all(reasons.values()):
        raise InputError("no store can be measured here; 'kvstudy doctor' shows why")
    return _ask("Store", "--store", click.Choice([name for name in names if not reasons[name]]))


def _all_options(definition: Store, chosen: tuple[str, ...]) -> dict[str, str]:
    """Return the choice of each option of the store: those ``chosen``, and prompts for the rest."""
    for text in chosen:
        if "=" not in text:
            raise InputError(f"--option {text}: give it as NAME=CHOICE")
    options = dict(text.split("=", 1) for text in chosen)
    if len(options) < len(chosen):
        raise InputError("--option: gives one name twice; give each once")
    for name, option in definition.options.items():
        if name not in options:
            choices = click.Choice(list(option.choices))
            options[name] = _ask(option.description, "--option", choices, option.default)
    return options


def _ask_workload() -> str:
    if _ask("Insert only (measure the loading)", "--insert-only", click.BOOL, False):
        return "insert"
    names = [name for name in project_workloads() if not load_only(load_workload(WORKLOADS / name))]
    return _ask("Workload", "--workload", click.Choice(names))


def _study(
    store: str, options: dict[str, str], workload: str, records: int, operations: int, threads: int
) -> Study:
    """Return a study of this cell; InputError for one that cannot be measured."""
    from kvstudy.study.model import Study
    from kvstudy.study.parts import Parameters, StoreUse, WorkloadUse

    # Each choice has results of its own.
    name = "-".join([store, *(value for _, value in sorted(options.items()))])
    study = Study(
        name=RUN,
        title="Single cells",
        question="How fast is it?",
        stores=[StoreUse(store=store, name=name, options=options)],
        workloads=[WorkloadUse(name=workload)],
        parameters=Parameters(records=records, operations=operations, threads=threads),
        repetitions=1,
        noise_floor=False,
        client_ceiling=False,
    )
    for _key, problem in design_problems(Path(RUN, "study.yaml"), study):
        raise InputError(f"kvstudy run: {problem}")
    return study


def _next_repetition(study: Study, store: Store) -> Cell:
    """Return the cell as the next repetition: a run never replaces an earlier one."""
    plans = (plan(study.with_repetitions(number)) for number in count(1))
    cell = next(cells[-1] for cells in plans if not raw_directory(RUN, cells[-1]).exists())
    if mixed := mixed_repetitions(study, {cell.store: store}, RUN, cell):
        raise InputError(
            f"{mixed}. This would be the next repetition of another cell: put that file back, or "
            "give the workload a file of its own ('cp workloads/x workloads/y', --workload y), or "
            f"move {raw_directory(RUN, cell).parent} away"
        )
    return cell


def _report(study: Study, cell: Cell, raw: Path) -> None:
    """Print and save the result of the measured cell."""
    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.logs.ycsb.log import parse

    text = (raw / f"{cell.measured_phase}.out").read_text(encoding="utf-8", errors="replace")
    log = parse(text, str(raw))
    lines = _result(log)
    # A study leaves such a cell out of its means; here nobody else would say it.
    (row,) = read_cell(study, cell, raw).rows["cells"]
    invalid = sentence(row["invalid"])
    if invalid:
        lines.append(f"invalid: {invalid}")
    for line in lines:
        click.echo(line)
    for path in _save(cell, log, invalid, [cell.path, *lines, f"raw logs: {raw}"]):
        click.echo(f"saved: {path}")
    click.echo(f"raw logs: {raw}")


def _ask(question: str, option: str, kind: click.ParamType, default: object = None) -> object:
    """The answer; where nobody is there to answer, the default, or InputError without one."""
    try:
        if kind is click.BOOL:
            return click.confirm(question, default=default)
        return click.prompt(question, type=kind, default=default)
    except click.Abort as error:
        if sys.stdin.isatty() or isinstance(error.__context__, KeyboardInterrupt):
            raise
    if default is None:
        raise InputError(f"{option} is missing, and nobody answers: give it")
    click.echo(default, err=True)
    return default


def _save(cell: Cell, log: YcsbLog, invalid: str, lines: list[str]) -> list[Path]:
    """Append the cell to ``results.csv`` of its run and write ``lines`` to a text file.

    One row for the whole phase (operation ``overall``; ops/s and s) and one for each
    operation (latencies in us), with why the cell is ``invalid``. Returns both paths.
    InputError when they cannot be written; the raw logs are there all the same.
    """
    root = Path("results") / RUN
    table, text = root / "results.csv", root / f"{cell.path.replace('/', '-')}.txt"
    about = [cell.store, cell.workload, cell.records, cell.threads, cell.repetition]
    whole = [log.attempted, log.failed, log.throughput, log.runtime / 1000]
    rows = [[*about, "overall", *whole, *[""] * len(LATENCIES)]]
    for name, section in log.sections.items():
        latencies = [section.latencies.get(f"latency_{part}", "") for part in LATENCIES]
        rows.append([*about, name.lower(), section.operations, section.failed, "", "", *latencies])
    try:
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with table.open("a", encoding="utf-8", newline="") as file:
            head = [COLUMNS] if os.fstat(file.fileno()).st_size == 0 else []
            rows = [[*row, invalid] for row in rows]
            csv.writer(file, lineterminator="\n").writerows(head + rows)
    except OSError as error:
        problem = f"{error.filename}: the result cannot be kept: {error.strerror}"
        raise InputError(problem) from None
    return [table, text]


def _result(log) -> list[str]:
    lines = [
        f"throughput {log.throughput:.0f} ops/s, run time {log.runtime / 1000:.2f} s, "
        f"{log.attempted} operations, {log.failed} failed",
        f"{'latency (us)':18}{'operations':>12}{'failed':>8}"
        f"{'mean':>10}{'min':>8}{'p95':>8}{'p99':>8}{'max':>10}",
    ]
    for name, section in log.sections.items():
        numbers = [section.latencies.get(f"latency_{part}") for part in LATENCIES]
        cells = ["-" if number is None else f"{number:.0f}" for number in numbers]
        form = "{:18}{:>12}{:>8}{:>10}{:>8}{:>8}{:>8}{:>10}"
        lines.append(form.format(name.lower(), section.operations, section.failed, *cells))
    return lines
