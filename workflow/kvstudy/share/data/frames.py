"""The data of a run as pandas frames, for notebooks and scripts: ``kvstudy.load``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kvstudy.analyse.findings.pairs import PAIRS
from kvstudy.analyse.tidy.files import (
    CELL,
    CELLS,
    HISTOGRAMS,
    MEASUREMENTS,
    SUMMARY,
    counting,
)
from kvstudy.errors import InputError
from kvstudy.libraries import pd
from kvstudy.study.run_names import RESULTS

# Of each frame what it is, for the schema as well.
FRAMES = {
    "cells": "One row per planned cell, with its status and why it does not count.",
    "measurements": "One value of one cell per row, of the cells that count.",
    "summary": "Means and spread over the repetitions, one value per row.",
    "pairs": "Ratios of the throughputs of two stores, with intervals and decisions.",
    "histograms": "How often each latency of an operation was measured in a cell that counts.",
}


@dataclass(frozen=True)
class RunData:
    """The frames of the run in ``folder``; each is read when it is first asked for.

    A cell is a store, a workload, parameters (``r1000_o2000_t4``: records, operations, threads)
    and a repetition. Text columns have "" for nothing, numbers are float with NaN; repetitions are
    text. DataError where a file is missing or is something else.
    """

    folder: Path

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per planned cell: store, workload, parameters, repetition, status, reason, ...

        ``status`` is ``measured`` or says what is missing; ``invalid`` is why a measured one does
        not count, "" if it counts; ``started`` is in ISO 8601, ``wall_seconds`` in s.
        """
        return CELLS.read(self.folder)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """One value per row, of the cells that count.

        store, workload, parameters, repetition, phase (load, run), operation (``overall``: all
        together), metric, unit, value.
        """
        return MEASUREMENTS.read(self.folder).merge(self._counting)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Values over the repetitions: n, mean, geometric (mean), sd, cv, min, max.

        By store, workload, parameters, operation, metric and unit; ``sd`` is in that unit, ``cv``
        is sd / mean.
        """
        return SUMMARY.read(self.folder)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Two stores per row: by how much the faster one is ahead, and what that decides.

        workload, parameters, faster, slower, n (repetitions), ratio of geometric means with its
        95 % interval (low, high), p, p_adjusted, would_decide (repetitions), decision (faster,
        equal, undecided), in_floor (within the noise floor).
        """
        return PAIRS.read(self.folder / "analysis")

    @cached_property
    def histograms(self) -> pd.DataFrame:
        """One latency per row: cell, phase, operation, ``latency`` (us), ``count``."""
        rows = HISTOGRAMS.read(self.folder).merge(self._counting)
        names = {"latencies": "latency", "counts": "count"}
        lists = {name: rows[column].str.split() for column, name in names.items()}
        frame = rows.drop(columns=[*names]).assign(**lists)
        return frame.explode([*lists], ignore_index=True).astype(dict.fromkeys(lists, int))

    @property
    def _counting(self) -> pd.DataFrame:
        return counting(self.cells)[CELL]


def load(run: str | Path) -> RunData:
    """Return the data of ``run``: the name of a folder in results/, or the path of such a folder.

    A name is looked for in the present directory and those above it. InputError when there is no
    such run.
    """
    path = Path(run)
    present = Path.cwd()
    places = [path, *(above / RESULTS / run for above in (present, *present.parents))]
    for folder in places:
        if CELLS.path(folder).is_file():
            return RunData(folder)
    raise InputError(
        f"{RESULTS / run}: no such run with a {CELLS.name}.csv, here or above; give the name of a "
        "folder in results/, or its path"
    )
