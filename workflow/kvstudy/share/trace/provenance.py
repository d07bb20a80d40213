"""What each table, figure and number of a run is made of, as data: ``provenance.json``.

- ``cells``: by path, ``counts`` (whether it is in means), ``why`` not, ``raw`` (the folder
  of its logs) and ``sums``, the sha256 of its SHA256SUMS, which has those of all its
  files; "" where there are no logs. ``probes``: the same by store.
- ``settings``: by ``store/workload/parameters``, the cells that its values are means of.
- ``tables`` and ``figures``: by name, their ``files``, ``cells`` and ``probes``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import path_of, why_not
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import Cell
from kvstudy.study.controls import AGAIN, controls, noise_store
from kvstudy.study.kinds import Part
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.raw import SUMS, file_digest, sums_digest
from kvstudy.whole_file import put

CLAIMS = "claims"


@dataclass(frozen=True)
class Origin:
    """Paths of the cells that go into something, and stores whose probe does.

    Planned ones: whether a cell counts, its status tells.
    """

    cells: list[str]
    probes: list[str]


def write_provenance(run: Run) -> Path:
    """Write ``provenance.json``; KvstudyError where raw logs of a cell are missing."""
    cells = cells_of(run)
    for path in _measured(run):
        if not cells[path]["sums"]:
            raise KvstudyError(
                f"{run.raw / path}: no {SUMS}; the raw logs of a cell in {run.folder}/cells.csv "
                "are not here. Copy them back, or parse what is here with 'kvstudy parse'"
            )
    settings: dict[str, list[str]] = defaultdict(list)
    for path in sorted(path for path, cell in cells.items() if cell["counts"]):
        settings[path.rpartition("/")[0]].append(path)
    # In cells.csv are the cells of the plan that the logs were parsed for.
    tables, figures = (
        {
            name: {
                "files": [str(path) for path in _files(run, kind, name)],
                "cells": sorted(path for path in origin.cells if path in cells),
                "probes": origin.probes,
            }
            for name, origin in origins(run, kind).items()
        }
        for kind in ("table", "figure")
    )
    provenance = {
        "run": run.name,
        "study": run.study.name,
        "scale": run.scale,
        "cells": cells,
        "probes": probes_of(run, run.study.store_names),
        "settings": dict(sorted(settings.items())),
        "tables": tables,
        "figures": figures,
    }
    file = run.folder / "provenance.json"
    put(f"{json.dumps(provenance, indent=1)}\n".encode(), file)
    return file


def origin_of(part: Part, study: Study, planned: list[Cell], headline: dict[str, str]) -> Origin:
    """What a table or figure of ``study`` is made of; ``headline`` as in ``study.cells.shown``."""
    stores, noise = [*part.stores_of(study)], noise_store(study)
    if part.controls == "all":
        stores += [use.name for use in controls(study)]
    elif part.controls == "noise floor" and noise:
        stores += [noise, f"{noise}{AGAIN}"]
    workloads = part.workloads_of(study)
    cells = [
        cell
        for cell in planned
        if cell.store in stores
        and cell.workload in workloads
        and _is_of_sizes(part, cell, headline[cell.workload])
    ]
    if part.one_cell:
        cells.sort(key=lambda cell: (cell.parameters != headline[cell.workload], cell.path))
    probes = study.store_names if part.probes and not study.imported else []
    return Origin([cell.path for cell in cells], probes)


def _is_of_sizes(part: Part, cell: Cell, one: str) -> bool:
    if part.cells == "open loop":
        # With the cells that the rates come from.
        return one in (cell.closed, cell.parameters)
    if part.cells in ("all", "none"):
        return part.cells == "all"
    return cell.load is None and (part.cells == "every size" or cell.parameters == one)


def origins(run: Run, kind: str) -> dict[str, Origin]:
    """All of the ``kind`` (table or figure) by name, transcripts too, with what they are of."""
    study, planned = run.study, [*run.planned.values()]
    parts = study.figures if kind == "figure" else study.tables
    by_name = {part.name: origin_of(part, study, planned, run.headline) for part in parts}
    measured = set(_measured(run))
    for part in parts:
        if part.one_cell:
            cells = [path for path in by_name[part.name].cells if path in measured]
            by_name[part.name] = Origin(cells[:1], [])
    if kind == "table" and run.claims_file:
        # What the verdicts on the source's claims are made of.
        probes = [] if study.imported else study.store_names
        by_name[CLAIMS] = Origin([cell.path for cell in planned if cell.load is None], probes)
    return by_name


def _measured(run: Run) -> list[str]:
    cells = run.all_cells
    return [path_of(row) for row in cells[cells["status"] == "measured"].itertuples()]


def part_of(run: Run, kind: str, name: str) -> dict[str, dict[str, Any]]:
    """The sha256 of a table's or figure's (``kind``) ``files``, its ``cells`` and ``probes``.

    KvstudyError for a name that is not there, with those that are.
    """
    parts = origins(run, kind)
    if name not in parts:
        raise KvstudyError(f"{kind}:{name}: unknown {kind} '{name}'{did_you_mean(name, [*parts])}")
    origin, cells = parts[name], cells_of(run)
    paths = [path for path in _files(run, kind, name) if path.is_file()]
    return {
        "files": {str(path): file_digest(path) for path in paths},
        "cells": {path: cells[path] for path in sorted(origin.cells) if path in cells},
        "probes": probes_of(run, origin.probes),
    }


def cells_of(run: Run) -> dict[str, dict[str, Any]]:
    """All cells of ``cells.csv``: whether they count, why not, their raw logs and checksums."""
    cells = {}
    for row in run.all_cells.itertuples():
        raw, why = run.raw / path_of(row), why_not(row)
        sums = sums_digest(raw) if row.status == "measured" else ""
        cells[path_of(row)] = {"counts": not why, "why": why, "raw": str(raw), "sums": sums}
    return cells


def probes_of(run: Run, stores: list[str]) -> dict[str, dict[str, str]]:
    """The folders and checksums of the probes of ``stores``."""
    folders = {name: run.raw.parent / "probes" / name for name in stores}
    return {name: {"raw": str(at), "sums": sums_digest(at)} for name, at in folders.items()}


def _files(run: Run, kind: str, name: str) -> list[Path]:
    tables, figures = run.folder / "tables", Path("figures") / run.name
    if kind == "figure":
        drawn = name in {figure.name for figure in run.study.drawn_figures}
        return [figures / f"{name}.{form}" for form in ("csv", "pdf", "svg")] if drawn else []
    if name == CLAIMS:
        return [run.folder / "claims.csv", tables / "claims.tex"]
    return [tables / f"{name}.{form}" for form in ("csv", "tex")]
