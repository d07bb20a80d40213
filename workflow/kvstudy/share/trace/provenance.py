"""The cells behind each table, figure and number of a run, as data: ``provenance.json``.

- ``cells``: by path, ``counts`` (whether it is in means), ``why`` not (a code), ``raw`` (the folder
  of its logs) and ``sums``, the sha256 of its SHA256SUMS, which has those of all its
  files; "" where there are no logs. ``probes``: the same by store.
- ``settings``: by ``store/workload/parameters``, the cells that its values are means of.
- ``tables`` and ``figures``: by name, their ``files``, ``cells`` and ``probes``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import path_of, why_not
from kvstudy.errors import DataError
from kvstudy.study.cells import Cell
from kvstudy.study.controls import controls, is_compared
from kvstudy.study.exhibits import Exhibit
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.raw import SUMS, file_digest, sums_digest
from kvstudy.whole_file import put


def write_provenance(run: Run) -> Path:
    """Write ``provenance.json``; DataError where raw logs of a cell are missing."""
    data = provenance(run)
    for path in _measured(run):
        if not data["cells"][path]["sums"]:
            raise DataError(
                f"{run.raw / path}: no {SUMS}; the raw logs of a cell in {run.folder}/cells.csv "
                "are not here. Copy them back, or parse what is here with 'kvstudy parse'"
            )
    file = run.folder / "provenance.json"
    put(f"{json.dumps(data, indent=1)}\n".encode(), file)
    return file


def part_of(run: Run, kind: str, name: str) -> dict[str, Any]:
    """The sha256 of a table's or figure's (``kind``) ``files``, its ``cells`` and ``probes``.

    DataError for a name that is not there, with those that are.
    """
    data = provenance(run)
    parts = data[f"{kind}s"]
    check_known(f"{kind}:{name}", kind, name, [*parts])
    part = parts[name]
    return {
        "files": {path: file_digest(Path(path)) for path in part["files"] if Path(path).is_file()},
        "cells": [
            {"cell": path} | {key: data["cells"][path][key] for key in ("sums", "why")}
            for path in part["cells"]
        ],
        "probes": {store: data["probes"][store]["sums"] for store in part["probes"]},
    }


def provenance(run: Run) -> dict[str, Any]:
    """All that ``provenance.json`` holds."""
    study, cells, probes = run.study, {}, {}
    for row in run.all_cells.itertuples():
        raw, why = run.raw / path_of(row), why_not(row)
        sums = sums_digest(raw) if row.status == "measured" else ""
        cells[path_of(row)] = {"counts": not why, "why": why, "raw": str(raw), "sums": sums}
    for store in study.store_names:
        raw = run.raw.parent / "probes" / store
        probes[store] = {"raw": str(raw), "sums": sums_digest(raw)}
    settings: dict[str, list[str]] = defaultdict(list)
    for path in sorted(path for path, cell in cells.items() if cell["counts"]):
        settings[path.rpartition("/")[0]].append(path)
    return {
        "run": run.name,
        "study": study.name,
        "scale": run.scale,
        "cells": cells,
        "probes": probes,
        "settings": dict(sorted(settings.items())),
        "tables": _parts(run, "table"),
        "figures": _parts(run, "figure"),
    }


def _parts(run: Run, kind: str) -> dict[str, dict[str, list[str]]]:
    """All of the ``kind`` (table or figure) by name, transcripts too, with what they are of."""
    study, planned = run.study, [*run.planned.values()]
    behind = {}
    for part in study.figures if kind == "figure" else study.tables:
        cells = cells_of(part, study, planned, run.headline)
        if part.one_cell:
            measured = set(_measured(run))
            cells = [path for path in cells if path in measured][:1]
        behind[part.name] = (cells, part.probes)
    # In cells.csv are the cells of the plan that the logs were parsed for.
    paths = {path_of(row) for row in run.all_cells.itertuples()}
    return {
        name: {
            "files": [str(path) for path in _files(run, kind, name)],
            "cells": sorted(paths.intersection(cells)),
            "probes": study.store_names if probes and not study.imported else [],
        }
        for name, (cells, probes) in behind.items()
    }


def cells_of(
    part: Exhibit, study: Study, planned: list[Cell], headline: dict[str, str]
) -> list[str]:
    """Paths of the cells that go into a table or figure; whether one counts, its status shows.

    ``headline`` as in ``study.cells.shown``; a part of one cell is of the first that was measured.
    """
    stores, workloads = [*part.stores_of(study)], part.workloads_of(study)
    if part.controls:
        stores += [use.name for use in controls(study)]
    cells = [
        cell
        for cell in planned
        if (part.compares and cell.closed is None and is_compared(cell.store))
        or (
            cell.store in stores
            and cell.workload in workloads
            and _is_of_sizes(part, cell, headline[cell.workload])
        )
    ]
    if part.one_cell:
        cells.sort(key=lambda cell: (cell.parameters != headline[cell.workload], cell.path))
    return [cell.path for cell in cells]


def _is_of_sizes(part: Exhibit, cell: Cell, one: str) -> bool:
    if part.cells == "open loop":
        # With the trial cells that set the rates.
        return cell.closed == one
    if part.cells in ("all", "none"):
        return part.cells == "all"
    return cell.closed is None and (part.cells == "every size" or cell.parameters == one)


def _measured(run: Run) -> list[str]:
    cells = run.all_cells
    return [path_of(row) for row in cells[cells["status"] == "measured"].itertuples()]


def _files(run: Run, kind: str, name: str) -> list[Path]:
    tables, figures = run.folder / "tables", Path("figures") / run.name
    if kind == "figure":
        drawn = name in {figure.name for figure in run.study.drawn_figures}
        return [figures / f"{name}.{form}" for form in ("csv", "pdf", "svg")] if drawn else []
    return [tables / f"{name}.{form}" for form in ("csv", "tex")]
