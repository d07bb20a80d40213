from pathlib import Path

import click

from kvstudy.commands.options import completed, measuring, refuse_imported
from kvstudy.errors import KvstudyError


@click.command("measure")
@click.argument("cell")
@measuring
def command(cell: str, study: Path, scale: float, **setting) -> None:
    """Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan').

    Starts a fresh server on loopback, loads it, runs the workload, stops the
    server. The raw logs go to results/RUN/raw/CELL/, those of a failed
    measurement to results/RUN/failed/CELL/. The rate of an open-loop cell
    comes from the closed-loop cells that are there.
    """
    from functools import partial

    from kvstudy.analyse.tidy.cell import read_cell
    from kvstudy.analyse.tidy.open_loop import NoTarget, find_target
    from kvstudy.language.reasons import sentence
    from kvstudy.measure.cell import Request, leave_out, measure_cell
    from kvstudy.measure.controller import stop_on_signals
    from kvstudy.stores.definition import stores_to_measure
    from kvstudy.study.cells import find_cell, plan, run_name
    from kvstudy.study.load import load_study

    stop_on_signals()
    loaded = load_study(study)
    refuse_imported(loaded, study)
    stores = stores_to_measure(loaded, study)
    cells = plan(loaded, scale)
    wanted = find_cell(cells, cell)
    run = run_name(loaded.name, scale)
    target = None if wanted.load is None else find_target(loaded, cells, wanted, run)
    without = target if isinstance(target, NoTarget) else None
    request = Request(
        cell=wanted,
        position=cells.index(wanted) + 1,
        run=run,
        planned=frozenset(each.path for each in cells),
        target=None if without else target,
        **completed(setting, wanted.folder),
    )
    if without and not without.final:
        raise KvstudyError(f"{wanted.path}: {sentence(without.reason)}; measure those first")
    if without:
        print(f"{leave_out(request, without.reason)}: {sentence(without.reason)}")
    else:
        print(measure_cell(request, stores[wanted.store], partial(read_cell, loaded, wanted)))
