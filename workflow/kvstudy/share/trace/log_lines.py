"""The runs and log lines behind the numbers of a page: ``log_lines.json``.

- ``cells``: of each cell with logs its ``path``, the ``folder`` of its logs, the ``command`` that
  measured it, and ``why`` it does not count ("" if it counts; a code).
- ``values``: by ``store/workload/parameters/operation/metric`` a list for each run: the place of
  its cell in ``cells``, value, unit, and the lines that show it (file, number, text). Of rounds
  there is the time of one, which is the trimmed mean of those that count.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kvstudy.analyse.findings.rounds import ROUND_TIME
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.cell import interval_of
from kvstudy.analyse.tidy.files import CELL, path_of, why_not
from kvstudy.analyse.tidy.summary import measured_phases
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.share.trace.sources import MANIFEST, lines_of
from kvstudy.stats.intervals import trimmed_mean
from kvstudy.study.metrics import SHOWN
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import ROUNDS_FILE
from kvstudy.whole_file import put

FILE = "log_lines.json"
# A number that is made of more lines names the first ones.
MOST_LINES = 6


def write_log_lines(run: Run) -> Path:
    """Write ``log_lines.json`` of the closed-loop cells; numbers without lines are left out."""
    file = run.folder / FILE
    put(f"{json.dumps(log_lines(run), ensure_ascii=False)}\n".encode(), file)
    return file


def log_lines(run: Run) -> dict[str, Any]:
    """Return all that ``log_lines.json`` holds."""
    cells: list[dict[str, str]] = []
    values: dict[str, list[list[Any]]] = defaultdict(list)
    rows = run.measurements[run.measurements["metric"].isin(SHOWN)]
    phases = measured_phases(run.measurements)
    rows = rows[rows["phase"] == rows["workload"].map(phases)]
    # Combined operations have no line of their own, but those of their parts.
    combined = run.values[run.values["operation"].str.contains("+", regex=False)]
    rows = pd.concat([rows, combined[combined["metric"].isin(SHOWN)]])
    of_cells = dict(list(rows.groupby(CELL)))
    of_rounds = dict(list(run.rounds.groupby(CELL)))
    for row in run.cells.itertuples():
        folder, path = run.raw / path_of(row), path_of(row)
        key = (row.store, row.workload, row.parameters, row.repetition)
        if row.status != "measured" or key not in of_cells or not (folder / MANIFEST).is_file():
            continue
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        phase = phases[row.workload]
        place = len(cells)
        command = _command(manifest, phase)
        cells.append({"path": path, "folder": str(folder), "command": command, "why": why_not(row)})
        log = folder / f"{phase}.out"
        interval = interval_of(manifest, run.planned[path], phase) if path in run.planned else "op"
        for value in of_cells[key].itertuples():
            lines = []
            for operation in value.operation.split("+"):
                # Several clients have a file each; the page then names the folder.
                with contextlib.suppress(KvstudyError, OSError):
                    lines += lines_of(log, operation, value.metric, interval)
            shown = [[log.name, line.number, line.text] for line in lines[:MOST_LINES]]
            name = "/".join((*key[:3], value.operation, value.metric))
            values[name].append([place, value.value, value.unit, shown])
        for operation, of_round, shown in _rounds(of_rounds.get(key), folder):
            name = "/".join((*key[:3], operation, ROUND_TIME))
            values[name].append([place, of_round, "ms", shown])
    return {"run": run.name, "cells": cells, "values": values | _of_means(run, values)}


def _rounds(
    rows: pd.DataFrame | None, folder: Path
) -> Iterator[tuple[str, float, list[list[Any]]]]:
    """Yield each operation of a cell's rounds, the time of all in a round (ms), and its lines."""
    if rows is None:
        return
    text = (folder / ROUNDS_FILE).read_text(encoding="utf-8").splitlines()
    for operation, of in rows[rows["counted"] == "yes"].groupby("operation"):
        counted = [[f"{one:.0f}", operation] for one in of["round"]]
        lines = [
            [ROUNDS_FILE, number, line]
            for number, line in enumerate(text, start=1)
            if line.split(",")[:2] in counted
        ]
        yield operation, trimmed_mean(of["ns"] / 1e6).value, lines[:MOST_LINES]


def _of_means(run: Run, values: dict[str, list[list[Any]]]) -> dict[str, list[list[Any]]]:
    """Return the throughputs behind the mean of each store's workloads, at the headline sizes."""
    means = run.values.loc[run.values["workload"] == MEAN]
    keys = means[["store", "parameters", "operation", "metric"]].drop_duplicates()
    return {
        f"{row.store}/{MEAN}/{row.parameters}/{row.operation}/{row.metric}": [
            value
            for workload, parameters in run.headline.items()
            for value in values.get(
                f"{row.store}/{workload}/{parameters}/{row.operation}/{row.metric}", []
            )
        ]
        for row in keys.itertuples()
    }


def _command(manifest: dict[str, Any], phase: str) -> str:
    """Return the command line of the phase's client, "" where it was not recorded."""
    command = manifest.get("phases", {}).get(phase, {}).get("command", [])
    return command if isinstance(command, str) else shlex.join(map(str, command))
