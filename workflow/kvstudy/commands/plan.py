"""``kvstudy plan``"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plan")
@click.option("--study", type=click.Path(path_type=Path), required=True, help="The study.yaml.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Factor on the counts.")
def command(study: Path, scale: float) -> None:
    """List all cells in their order of measurement and say which are there already."""
    from kvstudy.study.cells import plan, run_name
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import is_gap, is_measured

    loaded = load_study(study)
    run = run_name(loaded.name, scale)
    cells = plan(loaded, scale)
    there = 0
    for position, cell in enumerate(cells, start=1):
        measured = is_measured(run, cell) and not is_gap(run, cell)
        there += measured
        print(f"{position:4}  {'measured' if measured else '-':8}  {cell.path}")
    print(f"{len(cells)} cells of {run}, {there} measured")
