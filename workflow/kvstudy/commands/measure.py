"""``kvstudy measure``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import measuring, refuse_imported


@click.command("measure")
@click.argument("cell")
@measuring
def command(cell: str, study: Path, scale: float, **setting) -> None:
    """Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan').

    Starts a fresh server on loopback, loads it, runs the workload, stops the
    server. The raw logs go to results/RUN/raw/CELL/, those of a failed
    measurement to results/RUN/failed/CELL/.
    """
    from kvstudy.measure.cell import Request, measure_cell
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
    request = Request(
        cell=wanted,
        position=cells.index(wanted) + 1,
        run=run_name(loaded.name, scale),
        **setting,
    )
    print(measure_cell(request, stores[wanted.store]))
