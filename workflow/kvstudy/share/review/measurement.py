"""The cells of a review, measured repetition by repetition until decided or the time is over."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from kvstudy.analyse.claims.stopping import TRUNCATED
from kvstudy.analyse.findings.pairs import pairs
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.collect import collect
from kvstudy.errors import DataError
from kvstudy.libraries import pd
from kvstudy.share.review.original import ArchivedPair
from kvstudy.share.review.selection import ReviewSelection
from kvstudy.stats.ratios import Decision
from kvstudy.study.cells import Cell, closed_loop
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.raw import is_measured
from kvstudy.study.run_names import RESULTS
from kvstudy.whole_file import put

# Until a measured process has ended after its signal.
END_SECONDS = 60


@dataclass
class ReviewRun:
    """The cells that were measured: ``repetitions`` whole ones, and why others ``failed``."""

    run: Run | None = None
    repetitions: int = 0
    decided: bool = False
    failed: dict[str, str] = field(default_factory=dict)


def write_study(selection: ReviewSelection) -> Path:
    """Write the review's study as one of this clone; one that is there is of the same review."""
    path = STUDIES / selection.study.name / "study.yaml"
    if not path.is_file():
        content = selection.study.model_dump(mode="json", by_alias=True, exclude_unset=True)
        # Those that every report has come by themselves.
        content = {name: of for name, of in content.items() if name not in ("tables", "figures")}
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        put(f"# Written by 'kvstudy review'.\n{text}".encode(), path)
    return path


def measure(
    path: Path,
    selection: ReviewSelection,
    seconds: float,
    provider: str,
    say: Callable[[str], None],
) -> ReviewRun:
    """Measure whole repetitions as long as the next one fits into ``seconds``.

    Cells that are there are taken over, so an interrupted review goes on.
    """
    began, longest, state = time.monotonic(), 0.0, ReviewRun()
    by_repetition: dict[int, list[Cell]] = {}
    for cell in selection.cells:
        by_repetition.setdefault(cell.repetition, []).append(cell)
    for repetition, cells in sorted(by_repetition.items()):
        start = time.monotonic()
        left = [cell for cell in cells if not is_measured(selection.study.name, cell)]
        expected = longest or selection.seconds or 0.0
        if left and repetition > 1 and start - began + expected > seconds:
            break
        for number, cell in enumerate(left, start=1):
            spent = time.monotonic() - began
            say(
                f"repetition {repetition}, cell {number} of {len(left)}: {cell.store}, workload "
                f"{cell.workload}; {spent / 60:.0f} of {seconds / 60:.0f} min"
            )
            if reason := _measure(path, cell, provider):
                state.failed[cell.path] = reason
        state.repetitions = repetition
        if left:
            longest = max(longest, time.monotonic() - start)
        if repetition >= selection.study.until.first:
            state.run = measured_run(selection, repetition)
            state.decided = _decided(state.run, selection)
            if state.decided:
                break
    if state.run is None and state.repetitions:
        state.run = measured_run(selection, state.repetitions)
    return state


def _decided(run: Run, selection: ReviewSelection) -> bool:
    """Return whether no comparison of the review is undecided."""
    rows = review_pairs(run)
    return all(
        (of := row_of(rows, pair)) is not None and of.decision != Decision.UNDECIDED
        for pair in selection.pairs
    )


def review_pairs(run: Run) -> pd.DataFrame:
    """Return all pairs of the review's run, see ``analyse.findings.pairs.pairs``."""
    return pairs(run.spread, run.study.store_names, None, run.compared)


def row_of(rows: pd.DataFrame, pair: ArchivedPair) -> tuple | None:
    """Return the row of ``review_pairs`` of the pair's two stores and workload; None without it."""
    both = rows["faster"].isin([*pair.stores]) & rows["slower"].isin([*pair.stores])
    return next(rows[both & (rows["workload"] == pair.workload)].itertuples(), None)


def _measure(path: Path, cell: Cell, provider: str) -> str:
    """Measure the cell in a process of its own; returns why it failed, "" where it did not."""
    command = [sys.executable, "-m", "kvstudy", "measure", cell.path]
    command += ["--study", str(path), "--provider", provider]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            _, errors = process.communicate()
        except BaseException:
            # It stops its server and puts its logs aside.
            process.terminate()
            process.wait(timeout=END_SECONDS)
            raise
    lines = [line for line in errors.splitlines() if line.startswith("kvstudy: ")]
    if process.returncode:
        return lines[-1].removeprefix("kvstudy: ") if lines else f"status {process.returncode}"
    return ""


def measured_run(selection: ReviewSelection, repetitions: int) -> Run:
    """Return the run of the first ``repetitions``, with its tables in memory."""
    study = load_study(STUDIES / selection.study.name / "study.yaml")
    study = study.with_repetitions(repetitions)
    cells = [cell for cell in closed_loop(selection.cells) if cell.repetition <= repetitions]
    collected = collect(study, cells, study.name, True, TRUNCATED)
    if collected.unreadable:
        cell, reason = next(iter(collected.unreadable.items()))
        raise DataError(
            f"{RESULTS / study.name}: {cell.path}: {reason}; remove that cell's folder and run the "
            "review again"
        )
    run = Run(study.name, study)
    vars(run).update(collected.tables)
    return run
