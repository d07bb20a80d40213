"""Short cells of a study's stores, from which its time, disk and spread are foretold."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from kvstudy.errors import KvstudyError
from kvstudy.measure.cell import Request, measure_cell
from kvstudy.measure.planning.costs import Cost, conditions, read_cost, same_store, same_workload
from kvstudy.measure.planning.progress import CALIBRATION
from kvstudy.stores.definition import Store
from kvstudy.study.cells import Cell
from kvstudy.study.config import Config
from kvstudy.study.controls import clients_of_trial
from kvstudy.study.raw import raw_directory

RUN = CALIBRATION.parent.name
# The first cell of a store loads so few that the slowest store takes seconds.
FIRST_RECORDS = 2_000
# How long a load should take at the rate of the first cell's, when the client was still
# cold; it then takes about a third.
LOAD_SECONDS = 8
RUN_SECONDS = 5
# A run of fewer operations that is also shorter was one of a cold client.
WARM_OPERATIONS = 200_000
WARM_SECONDS = 3
# So much longer than an insert a scan may take (YCSB scans 50 records, on average).
SCAN = 20
REPETITIONS = 3


def cells_to_calibrate(planned: Iterable[Cell], known: list[Cost]) -> list[Cell]:
    """Return the cells to measure for the stores of ``planned`` cells, given the ``known`` costs.

    One cell for each store and workload, and of the first workload as many as a spread needs, if
    none is known. Of a new store one comes before: the others' sizes follow from its rate.
    """
    selection: list[Cell] = []
    closed = [
        cell for cell in planned if cell.closed is None and clients_of_trial(cell.store) is None
    ]
    for store in dict.fromkeys(map(same_store, closed)):
        mine = [cost for cost in known if same_store(cost.cell) == store]
        chosen = _chosen([cell for cell in closed if same_store(cell) == store])
        new = [cell for cell in chosen if not any(_tells(cost, cell) for cost in mine)]
        selection += new if mine else [chosen[0], *new]
        cells = [cost.cell for cost in mine if cost.cell.closed is None]
        if len({(cell.store, *conditions(cell)) for cell in cells}) == len(cells):
            selection += [chosen[0]] * (REPETITIONS - (chosen[0] in new))
    return selection


def _chosen(cells: list[Cell]) -> list[Cell]:
    """The cells of one store that stand for all: one for each workload, at its most threads.

    Where the time follows from the rate, one at the fewest threads too.
    """
    chosen = []
    running = [cell for cell in cells if cell.operations]
    for workload in dict.fromkeys(map(same_workload, running)):
        those = [cell for cell in running if same_workload(cell) == workload]
        most = max(those, key=lambda cell: cell.threads)
        fewest = min(those, key=lambda cell: cell.threads)
        chosen.append(most)
        if fewest.threads < most.threads and fewest.seconds is None:
            chosen.append(fewest)
    # A load alone is measured only where there is nothing else.
    return chosen or cells[:1]


def calibrate(
    wants: list[Cell],
    known: list[Cost],
    stores: dict[str, Store],
    config: Config,
    provider: str,
    say: Callable[[str], None],
) -> dict[str, str]:
    """Measure the short cells; returns the stores that could not be, with the reasons.

    The new costs are appended to ``known``. What is to be done is told to ``say``.
    """
    failed: dict[str, str] = {}
    sizes: dict[tuple, int] = {}
    for number, like in enumerate(wants, start=1):
        if like.store in failed:
            continue
        records, rate = FIRST_RECORDS, _rate(known, like)
        if rate:
            # Once for each store: repetitions are alike.
            records = sizes.setdefault(same_store(like), _round(rate * LOAD_SECONDS))
        cell = _short(like, min(records, like.records), rate)
        while raw_directory(RUN, cell).exists():
            cell = replace(cell, repetition=cell.repetition + 1)
        say(f"calibration {number} of {len(wants)}: {cell.store}, workload {cell.workload}")
        request = Request(
            cell=cell,
            run=RUN,
            store=stores[like.store],
            planned=[cell.path],
            position=number,
            protocol=1,
            # They foretell times; no report compares them.
            **config.setting_of(like.folder) | {"provider": provider, "mixed": True},
        )
        try:
            # Only times are taken from them.
            known.append(read_cost(measure_cell(request, read=read_cost)))
        except KvstudyError as error:
            failed[like.store] = str(error)
    return failed


def _rate(known: list[Cost], like: Cell) -> float:
    """Inserts per s while the store was loaded; 0 when it never was."""
    loads = [
        cost.phases["load"]
        for cost in known
        if same_store(cost.cell) == same_store(like) and "load" in cost.phases
    ]
    return max((load.count / load.runtime for load in loads if load.runtime), default=0.0)


def _round(count: float) -> int:
    """In whole thousands of one digit, so that other cells may have as many."""
    thousands = round(count / 1000)
    return max(round(thousands, 1 - len(str(thousands))) * 1000, FIRST_RECORDS)


def _short(cell: Cell, records: int, rate: float) -> Cell:
    """The same work, for a short time, under a name that all studies share."""
    name = "-".join([cell.folder, *(value for _, value in cell.options)])
    operations, seconds = WARM_OPERATIONS, RUN_SECONDS if cell.operations else None
    inserts, scans = (
        float(dict(cell.properties).get(f"{operation}proportion", 0)) > 0
        for operation in ("insert", "scan")
    )
    if inserts:
        # A timed run has no end of operations, and with inserts YCSB then draws most keys from
        # records that never come to be: it would measure its own draws.
        operations = _round(rate * RUN_SECONDS / (SCAN if scans else 1))
        seconds = None
    operations = min(cell.operations, operations)
    sizes = {"records": records, "operations": operations, "seconds": seconds}
    return replace(cell, store=name, **sizes, repetition=1, clients=None)


def _tells(cost: Cost, cell: Cell) -> bool:
    """Return whether the cost shows the speed of the cell's workload with a warm client."""
    if not cell.operations:
        return "load" in cost.phases
    run, other = cost.phases.get("run"), cost.cell
    if run is None or other.load is not None or other.threads != cell.threads:
        return False
    enough = run.runtime >= WARM_SECONDS or run.count >= min(WARM_OPERATIONS, cell.operations)
    # A calibration has chosen its length.
    chosen = CALIBRATION in run.errors.parents
    return (enough or chosen) and same_workload(other) == same_workload(cell)
