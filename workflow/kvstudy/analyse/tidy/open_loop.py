"""The open-loop cells of a run: tables of their own, so that nothing mixes with the others.

``results/<run>/open-loop/`` has the same tables as the run has of its closed-loop
cells, and ``targets.csv``: one row per measured cell with its ``load`` (per cent),
``closed`` (parameters of the closed-loop cells that its rate comes from), ``target``
(ops/s), ``mean`` and ``runs`` (their mean throughput, and how many they were) and a
``note``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from kvstudy.analyse.tidy.cell import key_of
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
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import pd
from kvstudy.study.cells import Cell, NotNow, Origin, Target
from kvstudy.study.model import Study
from kvstudy.study.raw import is_gap, raw_directory, reason_on_file, renewal, sums_digest

FOLDER = "open-loop"
# With targets.csv, which is made here, what workflow/rules/common.smk declares.
KEPT = ("cells", "measurements", "series")


TABLES = (CELLS, MEASUREMENTS, SERIES, HISTOGRAMS, TARGETS)


@dataclass(frozen=True)
class OpenLoop:
    """Those tables of the open-loop cells."""

    cells: pd.DataFrame
    measurements: pd.DataFrame
    series: pd.DataFrame
    histograms: pd.DataFrame
    targets: pd.DataFrame

    @property
    def counted(self) -> pd.DataFrame:
        """What names the cells that count."""
        return counting(self.cells)[CELL]


def split(found: Collected, cells: list[Cell]) -> tuple[dict, dict]:
    """The tables of ``found`` by name: of closed-loop cells, and those read of open-loop cells."""
    at_rates = {cell.parameters for cell in cells if cell.load is not None}
    closed, opened = {}, {}
    for name, frame in found.tables.items():
        open_loop = frame["parameters"].isin(at_rates)
        closed[name] = frame[~open_loop]
        if name in KEPT:
            opened[name] = frame[open_loop]
    return closed, opened


def explain(frame: pd.DataFrame, study: Study, cells: list[Cell], run: str) -> pd.DataFrame:
    """The ``cells`` table of open-loop cells, with a reason where a cell has no rate.

    A cell that was left out for want of a rate is not tried again by itself; where
    its closed-loop cells give one now, the reason says what to do.
    """
    reasons = frame["reason"].tolist()
    planned = {tuple(key_of(cell).values()): cell for cell in cells}
    # Each rate means reading all logs of its closed-loop cells; loads and repetitions share them.
    known: dict[tuple[str, str, str | None], Target | NotNow] = {}
    for index, row in enumerate(frame.itertuples()):
        cell = planned[row.store, row.workload, row.parameters, row.repetition]
        if row.status in ("measured", "failed"):
            continue
        origin = (cell.store, cell.workload, cell.closed)
        if origin not in known:
            known[origin] = find_target(study, cells, cell, run)
        target = known[origin]
        if not isinstance(target, NotNow):
            if is_gap(run, cell):
                remedy = reason("target-now", folder=raw_directory(run, cell))
                reasons[index] = several([reasons[index], remedy])
        elif not reason_on_file(run, cell.path, cell.store):
            # Else the store as a whole cannot be measured here, which says more.
            reasons[index] = target.reason
    return frame.assign(reason=reasons)


def targets(found: Collected, cells: list[Cell], run: str) -> pd.DataFrame:
    """The table ``targets.csv`` of cells that were read."""
    rows = []
    for cell in cells:
        if cell.load is None or cell.path not in found.manifests:
            continue
        target = Target.model_validate(found.manifests[cell.path]["target"])
        # Closed-loop cells whose logs are gone or others now.
        gone = [
            origin.cell
            for origin in target.origins
            if sums_digest(Path("results") / run / "raw" / origin.cell) != origin.sums
        ]
        note = reason("origins-gone", cells=", ".join(gone)) if gone else ""
        key = [*key_of(cell).values(), cell.closed]
        rows.append([*key, cell.load, target.rate, target.mean, len(target.origins), note])
    return TARGETS.frame(rows)


def find_target(study: Study, cells: list[Cell], cell: Cell, run: str) -> Target | NotNow:
    """The rate of the open-loop ``cell``.

    It is the cell's load of the geometric mean throughput of all measured and
    valid closed-loop cells of its store, workload and parameters. KvstudyError
    for a closed-loop cell of other parameters than the study has now.
    """
    closed = [
        each
        for each in cells
        if (each.store, each.workload, each.parameters) == (cell.store, cell.workload, cell.closed)
    ]
    found = collect(study, closed, run, True)
    for each, problem in found.unreadable.items():
        raise KvstudyError(
            f"{raw_directory(run, each)}: {problem}; {cell.path} needs its throughput; "
            f"{renewal(raw_directory(run, each))}"
        )
    runs = throughputs(found.tables["measurements"])
    runs = runs[runs["phase"] == "run"].set_index("repetition")["value"]
    origins: list[Origin] = []
    for each, row in zip(closed, found.tables["cells"].itertuples(), strict=True):
        if row.status == "measured" and not row.invalid:
            digest = sums_digest(raw_directory(run, each))
            speed = runs[each.repetition]
            origins.append(Origin(cell=each.path, throughput=speed, sums=digest))
    if not origins:
        cells = found.tables["cells"]
        absent = cells.loc[cells["status"] != "measured", "reason"]
        invalid = cells.loc[cells["status"] == "measured", "invalid"]
        reasons = [reason("not-measured", why=why) for why in absent]
        reasons += [reason("invalid", why=why) for why in invalid]
        why = several(dict.fromkeys(reasons)) or "not-planned"
        return NotNow(reason("no-target", why=why), final=absent.empty)
    mean = geometric_mean(origin.throughput for origin in origins)
    rate = max(1, round(mean * cell.load / 100))
    return Target(rate=rate, load=cell.load, mean=mean, origins=origins)
