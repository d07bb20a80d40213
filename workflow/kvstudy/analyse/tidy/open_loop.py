"""The open-loop cells of a run: tables of their own, so that nothing mixes with the others.

``results/<run>/open-loop/`` has the same tables as the run has of its closed-loop cells: of the
open-loop cells, and of the trial cells that set their rates. A rate that came from the cells that
are judged would depend on their chance. ``targets.csv`` has one row per measured open-loop cell
with its ``load`` (per cent), ``closed`` (parameters of the closed-loop cells of this workload),
``target`` (ops/s), ``trial`` (the path of the trial cell), its ``throughput`` (ops/s) and a
``note``.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from kvstudy.analyse.tidy.cell import MANIFEST, key_of
from kvstudy.analyse.tidy.collect import Collected, collect
from kvstudy.analyse.tidy.files import (
    CELL,
    CELLS,
    HISTOGRAMS,
    MEASUREMENTS,
    SERIES,
    TARGETS,
    counting,
)
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.errors import DataError
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import pd
from kvstudy.stores.configuration import is_current
from kvstudy.stores.definition import Store
from kvstudy.study.cells import Cell, NotNow, Target, rate_of, rate_trial
from kvstudy.study.model import Study
from kvstudy.study.raw import is_gap, raw_directory, reason_on_file, renewal, sums_digest

FOLDER = "open-loop"
# What workflow/rules/common.smk declares.
TABLES = (CELLS, MEASUREMENTS, SERIES, HISTOGRAMS, TARGETS)


@dataclass(frozen=True)
class OpenLoopTables:
    """The tables of the open-loop cells and of the trial cells that set their rates."""

    cells: pd.DataFrame
    measurements: pd.DataFrame
    series: pd.DataFrame
    histograms: pd.DataFrame
    targets: pd.DataFrame

    @property
    def counted(self) -> pd.DataFrame:
        """Return the keys of the cells that count."""
        return counting(self.cells)[CELL]


def explain(
    frame: pd.DataFrame, study: Study, stores: Mapping[str, Store], cells: list[Cell], run: str
) -> pd.DataFrame:
    """The ``cells`` table of open-loop cells, with a reason where a cell has no rate.

    A cell that was left out for want of a rate is not tried again by itself; where
    its trial cell gives one now, the reason says what to do.
    """
    reasons = frame["reason"].tolist()
    planned = {tuple(key_of(cell).values()): cell for cell in cells}
    # Loads and repetitions share a trial cell.
    known: dict[tuple[str, str, str | None], Target | NotNow] = {}
    for index, row in enumerate(frame.itertuples()):
        cell = planned[row.store, row.workload, row.parameters, row.repetition]
        if cell.sets_rate or row.status in ("measured", "failed"):
            continue
        origin = (cell.store, cell.workload, cell.closed)
        if origin not in known:
            known[origin] = find_target(study, stores, cells, cell, run)
        target = known[origin]
        if not isinstance(target, NotNow):
            if is_gap(run, cell):
                remedy = reason("target-now", folder=raw_directory(run, cell))
                reasons[index] = several([reasons[index], remedy])
        elif not reason_on_file(run, cell.path, cell.store):
            # Else the store as a whole cannot be measured here, which says more.
            reasons[index] = target.reason
    return frame.assign(reason=reasons)


def targets(collected: Collected, cells: list[Cell], run: str) -> pd.DataFrame:
    """The table ``targets.csv`` of cells that were read."""
    speeds = throughputs(collected.tables["measurements"])
    speeds = speeds[speeds["phase"] == "run"].set_index(CELL)["value"]
    rows = []
    for cell in cells:
        if cell.load is None or cell.path not in collected.manifests:
            continue
        target = Target.model_validate(collected.manifests[cell.path]["target"])
        trial, note = rate_trial(cells, cell), ""
        if target.trial != trial.path or target.sums != sums_digest(raw_directory(run, trial)):
            note = reason("trial-gone", cell=target.trial)
        elif target.rate != rate_of(speeds[tuple(key_of(trial).values())], cell.load):
            note = reason("rate-differs", load=f"{cell.load} %", cell=target.trial)
        key = [*key_of(cell).values(), cell.closed]
        rows.append([*key, cell.load, target.rate, target.trial, target.throughput, note])
    return TARGETS.frame(rows)


def find_target(
    study: Study, stores: Mapping[str, Store], cells: list[Cell], cell: Cell, run: str
) -> Target | NotNow:
    """The rate of the open-loop ``cell``, its load of the throughput of its trial cell.

    Where open-loop cells of this trial cell are there, it is the throughput that they recorded:
    all repetitions have one rate, also when the trial cell was measured again meanwhile.
    DataError for a trial cell that cannot be read, or of other parameters than the study has.
    """
    trial = rate_trial(cells, cell)
    if recorded := _recorded_target(study, stores, cells, cell, run):
        return recorded.at(cell.load)
    raw = raw_directory(run, trial)
    collected = collect(study, [trial], run, True)
    if problem := collected.unreadable.get(trial):
        raise DataError(f"{raw}: {problem}; {cell.path} needs its throughput; {renewal(raw)}")
    (row,) = collected.tables["cells"].itertuples()
    if row.status != "measured" or row.invalid:
        why = reason("not-measured", why=row.reason)
        if row.status == "measured":
            why = reason("invalid", why=row.invalid)
        # Measuring an invalid one again would not help.
        final = row.status == "measured"
        return NotNow(reason("no-target", cell=trial.path, why=why), final=final)
    runs = throughputs(collected.tables["measurements"])
    (throughput,) = runs.loc[runs["phase"] == "run", "value"]
    return Target(
        rate=rate_of(throughput, cell.load),
        load=cell.load,
        trial=trial.path,
        throughput=throughput,
        sums=sums_digest(raw),
    )


def _recorded_target(
    study: Study, stores: Mapping[str, Store], cells: list[Cell], cell: Cell, run: str
) -> Target | None:
    """The target of the first open-loop cell that is there and has the trial cell of ``cell``."""
    of_trial = (cell.store, cell.workload, cell.closed)
    for other in cells:
        if other.load is None or (other.store, other.workload, other.closed) != of_trial:
            continue
        if is_gap(run, other) or not is_current(study, stores, run, other):
            continue
        # What cannot be read is a failed cell, as `kvstudy parse` will say.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            manifest = (raw_directory(run, other) / MANIFEST).read_text(encoding="utf-8")
            return Target.model_validate(json.loads(manifest)["target"])
    return None
