"""What each table, figure and number of a run is made of, as data: ``provenance.json``.

- ``cells``: by path, ``counts`` (whether it is in means), ``why`` not, ``raw`` (the folder
  of its logs) and ``sums``, the sha256 of its SHA256SUMS, which has those of all its
  files; "" where there are no logs. ``probes``: the same by store.
- ``settings``: by ``store/workload/parameters``, the cells that its values are means of.
- ``tables`` and ``figures``: by name, their ``files``, ``cells`` and ``probes``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import path_of, why_not
from kvstudy.errors import KvstudyError
from kvstudy.share.trace.behind import Behind, behind, claims_behind
from kvstudy.study.naming import did_you_mean
from kvstudy.study.raw import SUMS, file_digest, sums_digest
from kvstudy.whole_file import put

FIGURES = Path("figures")
CLAIMS = "claims"


def provenance(run: Run, claims: bool) -> dict[str, Any]:
    """The content of ``provenance.json``; ``claims`` if the study's source makes any."""
    cells = _cells(run)
    return {
        "run": run.name,
        "study": run.study.name,
        "scale": run.scale,
        "cells": cells,
        "probes": _probes(run),
        "settings": _settings(cells),
        "tables": {
            name: _entry(found, cells, _table_files(run, name))
            for name, found in tables(run, claims).items()
        },
        "figures": {
            name: _entry(found, cells, _figure_files(run, name))
            for name, found in figures(run).items()
        },
    }


def write_provenance(found: dict[str, Any], path: Path) -> None:
    """Write it in one step."""
    put(f"{json.dumps(found, indent=1)}\n".encode(), path)


def tables(run: Run, claims: bool) -> dict[str, Behind]:
    """All tables by name with what is behind them."""
    planned = [*run.planned.values()]
    found = {
        table.name: behind(table, run.study, planned, run.headline)
        for table in run.study.tables + run.study.open_loop_tables
    }
    return found | ({CLAIMS: claims_behind(run.study, planned)} if claims else {})


def figures(run: Run) -> dict[str, Behind]:
    """All figures by name, transcripts too, with what is behind them."""
    planned = [*run.planned.values()]
    found = {}
    for figure in [*run.study.figures, *run.study.open_loop_figures]:
        one = behind(figure, run.study, planned, run.headline)
        if figure.one_cell:
            measured = _measured(run)
            first = next((path for path in one.cells if path in measured), None)
            one = Behind([first] if first else [], [])
        found[figure.name] = one
    return found


def find_part(kind: str, name: str, parts: dict[str, Behind]) -> Behind:
    """The table or figure (``kind``) called ``name``; KvstudyError with those that there are."""
    if name not in parts:
        raise KvstudyError(f"{kind}:{name}: unknown {kind} '{name}'{did_you_mean(name, [*parts])}")
    return parts[name]


def files_of(run: Run, kind: str, name: str) -> dict[str, str]:
    """The files of a table or figure that are there, with their sha256."""
    files = _table_files(run, name) if kind == "table" else _figure_files(run, name)
    return {str(path): file_digest(path) for path in map(Path, files) if path.is_file()}


def _measured(run: Run) -> set[str]:
    rows = run.all_cells[run.all_cells["status"] == "measured"]
    return {path_of(row) for row in rows.itertuples()}


def _cells(run: Run) -> dict[str, dict[str, Any]]:
    found = {}
    for row in run.all_cells.itertuples():
        path = path_of(row)
        why = why_not(row)
        found[path] = {
            "counts": not why,
            "why": why,
            "raw": str(run.raw / path),
            "sums": sums_digest(run.raw / path) if row.status == "measured" else "",
        }
        if row.status == "measured" and not found[path]["sums"]:
            raise KvstudyError(
                f"{run.raw / path}: no {SUMS}; the raw logs of a cell in {run.folder}/cells.csv "
                "are not here. Copy them back, or parse what is here with 'kvstudy parse'"
            )
    return found


def _probes(run: Run) -> dict[str, dict[str, str]]:
    folders = {name: run.raw.parent / "probes" / name for name in run.study.store_names}
    return {
        name: {"raw": str(folder), "sums": sums_digest(folder)} for name, folder in folders.items()
    }


def _settings(cells: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, cell in cells.items():
        if cell["counts"]:
            found.setdefault(path.rpartition("/")[0], []).append(path)
    return {name: sorted(paths) for name, paths in sorted(found.items())}


def _entry(found: Behind, cells: dict, files: list[str]) -> dict[str, Any]:
    # In cells.csv are the cells of the plan that the logs were parsed for.
    there = [path for path in found.cells if path in cells]
    return {"files": files, "cells": sorted(there), "probes": found.probes}


def _table_files(run: Run, name: str) -> list[str]:
    if name == CLAIMS:
        return [str(run.folder / "claims.csv"), str(run.folder / "tables" / "claims.tex")]
    return [str(run.folder / "tables" / f"{name}.{form}") for form in ("csv", "tex")]


def _figure_files(run: Run, name: str) -> list[str]:
    drawn = {figure.name for figure in run.study.drawn_figures}
    if name not in drawn:
        return []
    return [str(FIGURES / run.name / f"{name}.{form}") for form in ("csv", "pdf", "svg")]
