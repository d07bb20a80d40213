"""Measure: single cells, those of a study, and what one operation makes a server do."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kvstudy.commands.options import PROVIDER, configuration, study_to_measure
from kvstudy.errors import InputError, RunError
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import stop_on_signals
from kvstudy.stores.configuration import mixed_repetitions
from kvstudy.stores.definition import stores_to_measure
from kvstudy.study.cells import Cell, NotNow, find_cell, plan, run_name
from kvstudy.study.naming import check_known
from kvstudy.study.probe import planned
from kvstudy.study.published import claims_digest
from kvstudy.study.raw import SUMS
from kvstudy.study.workload import WORKLOADS

if TYPE_CHECKING:
    from kvstudy.study.model import Study

PORT = click.IntRange(0, 65535)
# Whether the study can be read, its reader says.
STUDY = click.Path(path_type=Path, readable=False)
PINNED = (
    "Pin server and client to cores: true assigns half of the cores to each, 0-1/2-3 gives 0-1 to "
    "the server and 2-3 to the client.  [default: false]"
)
DELETE = (
    "Delete ALL data on the external server before measuring; without this option, a server that "
    "holds records is refused."
)
HOW = (
    "native (a local program), docker, external (already running) or auto: the provider of the "
    "run's finished cells; in a new run, docker if its daemon responds, else native.  "
    "[default: auto]"
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
    results/RUN/failed/CELL/. If the study has trial cells, measure them first: they set
    the rate of open-loop cells and, with 'clients: auto', the number of clients.
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
    mixed = partial(mixed_repetitions, loaded, stores, run, planned_cell)
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
        planned=[each.path for each in cells],
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


def check_planned(
    study: Study, path: Path, cell: Cell, planned: str | None, mixed: Callable[[], str]
) -> None:
    """Refuse a cell that is no repetition of those that are there.

    ``planned`` is its digest as Snakemake planned it, None by hand: RunError where a file was
    edited since. By hand, InputError where other repetitions are ``mixed`` with it, which says how;
    Snakemake measures those again.
    """
    if planned is None:
        if reason := mixed():
            raise InputError(
                f"{reason}. Put that file back, or remove {SUMS} in the folders of the cell's "
                "other repetitions to measure them again"
            )
    elif planned != cell.digest:
        use = study.workload(cell.workload)
        reason = mixed()
        seen = f" ({reason})" if reason else ""
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

    Starts a new server on 127.0.0.1, or uses the external one, and runs a few
    thousand operations of each type, including reads of keys that do not exist. The
    server's counters, and the record sizes before and after, go to
    results/RUN/probes/STORE/ with YCSB's logs; the report shows them in a table. Logs
    of a failed probe go to results/RUN/failed/probes/.
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
        planned=[cell.path for cell in plan(loaded, scale)],
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
