"""The files of a run that a number is traced through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from kvstudy.analyse.tidy.files import read_cells, read_measurements, read_summary
from kvstudy.analyse.tidy.open_loop import FOLDER
from kvstudy.analyse.tidy.summary import per_repetition
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.study.cells import Cell, plan, run_name, shown
from kvstudy.study.load import load_study
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.run_names import PARTIAL, measured_run, parse_name

RESULTS = Path("results")


@dataclass(frozen=True)
class Run:
    """A run with its study. ``name`` is that of its folder below ``results/``."""

    name: str
    study: Study
    scale: float

    @property
    def folder(self) -> Path:
        return RESULTS / self.name

    @property
    def raw(self) -> Path:
        """Its raw logs; a part of a run has those of the whole one."""
        return RESULTS / self.name.removesuffix(PARTIAL) / "raw"

    @cached_property
    def planned(self) -> dict[str, Cell]:
        """All cells of the plan by their paths."""
        return {cell.path: cell for cell in plan(self.study, self.scale)}

    @cached_property
    def shown(self) -> dict[str, str]:
        """The parameters of each workload that tables of one set of sizes show."""
        return shown(self.study, self.scale)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """``cells.csv``, with the open-loop cells."""
        return pd.concat([read_cells(path) for path in self._both("cells.csv")], ignore_index=True)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """``measurements.csv``, with the open-loop cells; ``file`` and ``line`` of each value."""
        frames = []
        for path in self._both("measurements.csv"):
            frame = read_measurements(path)
            frames.append(frame.assign(file=str(path), line=range(2, len(frame) + 2)))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def values(self) -> pd.DataFrame:
        """One value per repetition that counts, with combined rows and means of workloads."""
        plain = self.measurements.drop(columns=["file", "line"])
        return per_repetition(plain, self.cells, self.study.workload_names, self.shown)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """``summary.csv`` with the ``line`` of each row."""
        frame = read_summary(self.folder / "summary.csv")
        return frame.assign(line=range(2, len(frame) + 2))

    def _both(self, name: str) -> list[Path]:
        at_rates = self.folder / FOLDER / name
        return [self.folder / name, *([at_rates] if at_rates.is_file() else [])]


def why_not(row) -> str:
    """Why the cell in a ``row`` of ``cells.csv`` is in no mean; "" for one that counts."""
    if row.status != "measured":
        return f"{row.status}: {sentence(row.reason)}"
    return f"void: {sentence(row.void)}" if row.void else ""


def find_run(name: str) -> Run:
    """The run in ``results/<name>``, whose name tells study and scale.

    KvstudyError when there is no such run, or it is of no study that is here.
    """
    there = sorted(path.parent.name for path in RESULTS.glob("*/cells.csv"))
    known = parse_name(name)
    if name not in there and not (known and known.published):
        hint = did_you_mean(name, there) if there else "; make one with 'snakemake --cores 4'"
        raise KvstudyError(f"{RESULTS / name}: no cells.csv of such a run{hint}")
    known = measured_run(name)
    return Run(name, load_study(known.study_file), known.scale)


def run_of(study: Study, scale: float) -> Run:
    """The run of ``study`` at ``scale``; KvstudyError when there is none."""
    run = Run(run_name(study.name, scale), study, scale)
    if not (run.folder / "cells.csv").is_file():
        find_run(run.name)
    return run
