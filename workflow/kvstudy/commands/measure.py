from pathlib import Path

import click

from kvstudy.commands.options import completed, measuring, study_to_measure
from kvstudy.errors import KvstudyError


@click.command("measure")
@click.argument("cell")
@measuring
def command(cell: str, study: Path, scale: float, **setting) -> None:
    """Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan').

    Starts a fresh server on loopback, loads it, runs the workload, stops the
    server. The raw logs go to results/RUN/raw/CELL/, those of a failed
    measurement to results/RUN/failed/CELL/. The rate of an open-loop cell, and the
    number of clients where the study says 'auto', come from cells that are there.
    """
    from functools import partial

    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.analyse.tidy.clients import with_clients
    from kvstudy.analyse.tidy.open_loop import find_target
    from kvstudy.language.reasons import sentence
    from kvstudy.measure.cell import Request, leave_out, measure_cell
    from kvstudy.measure.controller import stop_on_signals
    from kvstudy.stores.definition import stores_to_measure
    from kvstudy.study.cells import NotNow, find_cell, plan, run_name

    stop_on_signals()
    loaded = study_to_measure(study)
    stores = stores_to_measure(loaded, study)
    cells = plan(loaded, scale)
    planned = find_cell(cells, cell)
    run = run_name(loaded.name, scale)
    wanted = with_clients(loaded, cells, planned, run)
    target = None if planned.load is None else find_target(loaded, cells, planned, run)
    request = Request(
        cell=planned if isinstance(wanted, NotNow) else wanted,
        position=cells.index(planned) + 1,
        run=run,
        store=stores[planned.store],
        planned=frozenset(each.path for each in cells),
        target=None if isinstance(target, NotNow) else target,
        **completed(setting, planned.folder),
    )
    for found in (wanted, target):
        if isinstance(found, NotNow):
            if not found.final:
                raise KvstudyError(f"{cell}: {sentence(found.reason)}; measure those first")
            print(f"{leave_out(request, found.reason)}: {sentence(found.reason)}")
            return
    print(measure_cell(request, partial(read_cell, loaded, planned)))
