"""``kvstudy measure``"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("measure")
@click.argument("cell")
@click.option("--study", type=click.Path(path_type=Path), required=True, help="The study.yaml.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Factor on the counts.")
@click.option(
    "--provider",
    type=click.Choice(["auto", "native", "docker", "external"]),
    default="auto",
    show_default=True,
    help="How the server runs.",
)
@click.option("--port", type=int, default=0, show_default=True, help="Its port; 0: any free one.")
@click.option("--address", default="", help="host:port of the server (provider external).")
@click.option(
    "--may-empty", is_flag=True, help="Delete ALL data of the external server before the cell."
)
@click.option("--ycsb-home", default="", help="An unpacked YCSB distribution to use.")
@click.option("--protocol", type=int, default=1, help="Number of the way of measuring, recorded.")
@click.option("--mixed-providers", type=bool, default=False, help="Allow several in one run.")
def command(
    cell: str,
    study: Path,
    scale: float,
    provider: str,
    port: int,
    address: str,
    may_empty: bool,
    ycsb_home: str,
    protocol: int,
    mixed_providers: bool,
) -> None:
    """Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan').

    Starts a fresh server on loopback, loads it, runs the workload, stops the
    server. The raw logs go to results/RUN/raw/CELL/, those of a failed
    measurement to results/RUN/failed/CELL/.
    """
    from kvstudy.measure.cell import Request, measure_cell
    from kvstudy.measure.controller import stop_on_signals
    from kvstudy.stores.definition import load_stores_of
    from kvstudy.study.cells import find_cell, plan, run_name
    from kvstudy.study.load import load_study

    stop_on_signals()
    loaded = load_study(study)
    stores = load_stores_of(loaded, study)
    cells = plan(loaded, scale)
    wanted = find_cell(cells, cell)
    request = Request(
        cell=wanted,
        run=run_name(loaded.name, scale),
        position=cells.index(wanted) + 1,
        provider=provider,
        protocol=protocol,
        port=port,
        address=address,
        may_empty=may_empty,
        ycsb_home=ycsb_home,
        mixed_providers=mixed_providers,
    )
    print(measure_cell(request, stores[wanted.store]))
