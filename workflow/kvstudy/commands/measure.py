"""Measure: single cells, those of a study, and what one operation makes a server do."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kvstudy.commands.options import PROVIDER, configuration, study_to_measure
from kvstudy.errors import InputError, RunError
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import stop_on_signals
from kvstudy.stores import providers
from kvstudy.stores.configuration import mixed_repetitions
from kvstudy.stores.definition import load_store, stores_to_measure
from kvstudy.study.base import MOST
from kvstudy.study.cells import Cell, NotNow, find_cell, plan, run_name
from kvstudy.study.load import STORES, design_problems, project_stores
from kvstudy.study.naming import check_known
from kvstudy.study.probe import planned
from kvstudy.study.published import claims_digest
from kvstudy.study.raw import SUMS, raw_directory
from kvstudy.study.workload import WORKLOADS, load_only, load_workload, project_workloads

if TYPE_CHECKING:
    from kvstudy.logs.ycsb.log import YcsbLog
    from kvstudy.study.model import Study

PORT = click.IntRange(0, 65535)
# Whether the study can be read, its reader says.
STUDY = click.Path(path_type=Path, readable=False)
PINNED = (
    "Pin server and client to cores: true gives each half of them, 0-1/2-3 gives 0-1 to the server "
    "and 2-3 to the client.  [default: false]"
)
DELETE = (
    "Delete ALL data on the external server before measuring; without this option, a server that "
    "holds records is refused."
)
HOW = (
    "native (a local program), docker, external (already running) or auto (native if it is "
    "installed, else docker).  [default: auto]"
)
OPTIONS = [
    click.option("--study", type=STUDY, required=True, help="Path of the study.yaml."),
    click.option(
        "--scale",
        default=1.0,
        show_default=True,
        help="Multiplies the numbers of records and operations.",
    ),
    click.option(
        "--provider",
        type=PROVIDER,
        help=HOW,
    ),
    click.option(
        "--port", type=PORT, help="Port of the server; 0 selects a free one.  [default: 0]"
    ),
    click.option("--address", help="host:port of the server (provider external)."),
    click.option("--delete-all-data", is_flag=True, default=None, help=DELETE),
    click.option(
        "--ycsb-home",
        help="Folder of an unpacked YCSB 0.17.0 distribution.  [default: kvstudy's bindings]",
    ),
    click.option(
        "--protocol",
        default=1,
        help="Version number of the measuring procedure; it is stored with the results.",
    ),
    click.option("--pin-cpus", help=PINNED),
    click.option(
        "--mixed",
        type=bool,
        help="Accept a run whose cells were measured under different conditions.",
    ),
]
COUNT = click.IntRange(1, MOST)
# Where the results of single cells lie, below results/, and what is in their table.
RUN = "single-cells"
LATENCIES = ("mean", "min", "p95", "p99", "max")
COLUMNS = [
    *("store", "workload", "records", "threads", "repetition", "operation", "operations"),
    *("failed", "throughput", "runtime", *(f"latency_{part}" for part in LATENCIES)),
    "invalid",
]


def measuring(command: Callable) -> Callable:
    """Give ``command`` the options; all but study and scale are those of a Setting."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def completed(options: dict[str, Any], folder: str) -> dict[str, Any]:
    """The options of ``measuring`` for the store of that folder under envs/stores/.

    Those that were left out are as Snakemake was told, where it runs the command.
    """
    return configuration().setting_of(folder) | {
        name: value for name, value in options.items() if value is not None
    }


@click.command("measure")
@click.argument("cell")
@click.option("--planned", hidden=True, help="The digest of the cell as Snakemake planned it.")
@measuring
def measure(cell: str, planned: str | None, study: Path, scale: float, **setting) -> None:
    """Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan --cells').

    Starts a new, empty server on 127.0.0.1, loads the records, runs the workload
    and stops the server; an external server is neither started nor stopped. Raw
    logs go to results/RUN/raw/CELL/. If the measurement fails, its logs go to
    results/RUN/failed/CELL/. Trial cells must be measured first: they set the rate
    of open-loop cells and, with 'clients: auto', the number of clients.
    """
    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.analyse.tidy.clients import with_clients
    from kvstudy.analyse.tidy.open_loop import find_target
    from kvstudy.measure.cell import Request, leave_out, measure_cell

    stop_on_signals()
    loaded = study_to_measure(study)
    stores = stores_to_measure(loaded, study)
    cells = plan(loaded, scale)
    planned_cell = find_cell(cells, cell)
    run = run_name(loaded.name, scale)
    mixed = mixed_repetitions(loaded, stores, run, planned_cell)
    check_planned(loaded, study, planned_cell, planned, mixed)
    wanted = with_clients(loaded, cells, planned_cell, run)
    target = (
        None if planned_cell.load is None else find_target(loaded, stores, cells, planned_cell, run)
    )
    request = Request(
        cell=planned_cell if isinstance(wanted, NotNow) else wanted,
        position=cells.index(planned_cell) + 1,
        run=run,
        store=stores[planned_cell.store],
        planned=frozenset(each.path for each in cells),
        target=None if isinstance(target, NotNow) else target,
        claims=claims_digest(study),
        repetitions=loaded.recorded_repetitions,
        **completed(setting, planned_cell.folder),
    )
    for answer in (wanted, target):
        if isinstance(answer, NotNow):
            if not answer.final:
                raise InputError(f"{cell}: {sentence(answer.reason)}; measure those first")
            print(f"{leave_out(request, answer.reason)}: {sentence(answer.reason)}")
            return
    print(measure_cell(request, partial(read_cell, loaded, planned_cell)))


def check_planned(study: Study, path: Path, cell: Cell, planned: str | None, mixed: str) -> None:
    """Refuse a cell that is no repetition of those that are there.

    ``planned`` is its digest as Snakemake planned it, None by hand: RunError where a file was
    edited since. By hand, InputError where other repetitions are ``mixed`` with it; Snakemake
    measures those again.
    """
    if planned is None:
        if mixed:
            raise InputError(
                f"{mixed}. Put that file back, or remove {SUMS} in the folders of the cell's other "
                "repetitions to measure them again"
            )
    elif planned != cell.digest:
        use = study.workload(cell.workload)
        seen = f" ({mixed})" if mixed else ""
        raise RunError(
            f"{cell.path}: {path} or {WORKLOADS / use.file} was edited after this run had begun"
            f"{seen}. The same command again measures what has changed, or goes on after the file "
            "is put back"
        )


@click.command("probe")
@click.argument("store")
@measuring
def probe(store: str, study: Path, scale: float, **setting) -> None:
    """Count the server commands that each YCSB operation causes on STORE.

    Starts a new server on 127.0.0.1 and runs a few thousand operations of each
    type, including reads of keys that do not exist. The server's counters, and the
    record sizes before and after, go to results/RUN/probes/STORE/ with YCSB's logs;
    the report shows them in a table. Logs of a failed probe go to
    results/RUN/failed/probes/.
    """
    from kvstudy.measure.cell import probe_store
    from kvstudy.measure.setting import MeasurementContext

    stop_on_signals()
    loaded = study_to_measure(study)
    check_known(f"{study}: stores", "store", store, loaded.store_names)
    definition = stores_to_measure(loaded, study)[store]
    request = MeasurementContext(
        run=run_name(loaded.name, scale),
        store=definition,
        planned=frozenset(cell.path for cell in plan(loaded, scale)),
        **completed(setting, definition.folder.name),
    )
    print(probe_store(request, planned(loaded)[store]))


@click.command("agent", hidden=True)
@click.argument("folder")
def agent(folder: str) -> None:
    """Run server and clients on this host for a cell that is led from another; works in FOLDER."""
    from kvstudy.measure.agent import serve

    stop_on_signals()
    try:
        os.chdir(folder)
    except OSError as error:
        raise InputError(
            f"{folder}: {error.strerror} on this host; the clone must be at the same path on all "
            "hosts, on a file system that they share"
        ) from None
    serve()


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

    Prompts for the store, the workload and its parameters if no option gives them.
    Raw logs go to results/single-cells/raw/, the result to results/single-cells/ as
    text and as a row of results.csv. With the same parameters again, the result is
    added as a further repetition.
    """
    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.logs.ycsb.log import parse
    from kvstudy.measure.cell import Request, measure_cell
    from kvstudy.study.model import Study
    from kvstudy.study.parts import Parameters, StoreUse, WorkloadUse

    if insert_only and workload not in (None, "insert"):
        raise InputError(
            f"--insert-only runs no workload: leave out --workload {workload}, or --insert-only"
        )
    names = project_stores()
    if store is None:
        reasons = {
            name: providers.missing_requirement(load_store(STORES / name), provider)
            for name in names
        }
        if all(reasons.values()):
            raise InputError("no store can be measured here; 'kvstudy doctor' shows why")
        here = click.Choice([name for name in names if not reasons[name]])
        store = _ask("Store", "--store", here)
    check_known("--store", "store", store, names)
    definition = load_store(STORES / store)
    resolved = providers.resolve(provider, Path("results") / RUN / "raw")
    if problem := providers.missing_requirement(definition, resolved):
        raise InputError(sentence(problem))
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
    workloads = project_workloads()
    runs = [name for name in workloads if not load_only(load_workload(WORKLOADS / name))]
    if insert_only:
        workload = "insert"
    elif workload is None:
        insert_only = _ask("Insert only (measure the loading)", "--insert-only", click.BOOL, False)
        workload = "insert" if insert_only else _ask("Workload", "--workload", click.Choice(runs))
    check_known("--workload", "workload", workload, workloads)
    records = records or _ask("Records", "--records", COUNT, 100_000)
    if workload in runs:
        operations = operations or _ask("Operations", "--operations", COUNT, 1_000_000)
    # Each choice has results of its own.
    name = "-".join([store, *(value for _, value in sorted(options.items()))])
    study = Study(
        name=RUN,
        title="Single cells",
        question="How fast is it?",
        stores=[StoreUse(store=store, name=name, options=options)],
        workloads=[WorkloadUse(name=workload)],
        parameters=Parameters(records=records, operations=operations or 1, threads=threads),
        repetitions=1,
        noise_floor=False,
        client_ceiling=False,
    )
    for _key, problem in design_problems(Path(RUN, "study.yaml"), study):
        raise InputError(f"kvstudy run: {problem}")
    stop_on_signals()
    definition = stores_to_measure(study, Path("kvstudy run"))[name]
    # A run never replaces an earlier one: it is the next repetition.
    plans = (plan(study.with_repetitions(number)) for number in count(1))
    cell = next(cells[-1] for cells in plans if not raw_directory(RUN, cells[-1]).exists())
    if mixed := mixed_repetitions(study, {name: definition}, RUN, cell):
        raise InputError(
            f"{mixed}. This would be the next repetition of another cell: put that file back, or "
            "give the workload a file of its own ('cp workloads/x workloads/y', --workload y), or "
            f"move {raw_directory(RUN, cell).parent} away"
        )
    click.echo(f"measuring {cell.path} ...", err=True)
    request = Request(
        cell=cell,
        run=RUN,
        store=definition,
        planned=frozenset([cell.path]),
        position=1,
        provider=resolved,
        protocol=1,
        port=port,
        ycsb_home=ycsb_home,
        # Single cells are compared by nobody but the user, who chose the provider.
        mixed=True,
    )
    raw = measure_cell(request, partial(read_cell, study, cell))
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
