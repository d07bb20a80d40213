"""A run while it is measured, line by line: what a second terminal shows."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from kvstudy.logs.ycsb.status import Status, last_status
from kvstudy.measure.planning.costs import read_cost
from kvstudy.measure.planning.progress import Progress, RunProgress, duration, times
from kvstudy.stores.server import end_of
from kvstudy.study.cells import Cell
from kvstudy.study.raw import raw_directory, reason_on_file
from kvstudy.study.run_names import command_of, parse_name

STEPS = re.compile(r"^(\d+) of (\d+) steps \(\d+%\) done$", re.M)
# So long nothing may work on the run before the watching ends: between two cells, nothing does.
PATIENCE = 5.0


class Watch:
    """Looks at the run that ``progress`` counts again and again; files are only read.

    ``working`` shows whether a process works on the project.
    """

    def __init__(
        self,
        progress: Progress,
        working: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run, self.progress, self._working, self._clock = progress.run, progress, working, clock
        self._cells = {cell.path: cell for cell in progress.wanted}
        self._seen: RunProgress | None = None
        self._now: Current | None = None
        # When the present cell began, and when something worked on the project for the last time.
        self._since = self._worked = 0.0

    def look(self) -> tuple[list[str], str, bool]:
        """Return the events since the last call, the state, and whether the run continues."""
        state, clock = self.progress.look(), self._clock()
        now = current(Path("results") / self.run, self._cells)
        if (now and now.name) != (self._now and self._now.name):
            self._since = clock
        working = self._working()
        if working or self._seen is None:
            self._worked = clock
        news = [] if self._seen is None else list(self._news(state))
        self._seen, self._now = state, now
        # Without a cell there is nothing that could go on.
        goes_on = working or (now is not None and clock - self._worked < PATIENCE)
        parts = [f"{state.done}/{times(len(self._cells), 'cell')}", f"{len(state.failed)} failed"]
        left = state.time_left({now.name: clock - self._since} if now else {})
        line = f"{', '.join(filter(None, [*parts, left]))} | {self._doing(state, now)}"
        return news, line, goes_on

    def end(self) -> str:
        """The last word on the run."""
        state = self._seen
        line = f"{self.run}: {state.done} of {state.wanted} done"
        if state.failed:
            line += f", {len(state.failed)} failed (results/{self.run}/failed/)"
        line += "; nothing works on it now."
        if state.seconds:
            line += f" '{command_of(self.run)}' goes on with what is left."
        return line

    def _doing(self, state: RunProgress, now: Current | None) -> str:
        if now is None:
            return "between cells" if state.seconds else _steps()
        if now.phase == "probe":
            return f"probe of {now.name}"
        words = "server starts" if now.phase == "start" else now.phase
        if now.share is not None:
            words += f" {now.share:.0%}".replace("%", " %")
        if now.rate is not None:
            words += f", {now.rate:.0f} ops/s"
        # The name last: a narrow terminal cuts it off.
        store, workload, parameters, repetition = now.name.split("/")
        same = (path.split("/") for path in self._cells if path.startswith(f"{store}/{workload}/"))
        several = len({parts[2] for parts in same}) > 1
        return f"{words}, {store}/{workload} {repetition}" + (f" ({parameters})" if several else "")

    def _news(self, state: RunProgress) -> Iterator[str]:
        for path in self._seen.seconds:
            if path not in state.seconds:
                cost = read_cost(raw_directory(self.run, self._cells[path]))
                yield f"done    {path}" + (
                    f", {cost.throughput:.0f} ops/s, {duration(cost.seconds)}" if cost else ""
                )
        for path in state.failed:
            if path not in self._seen.failed:
                reason = reason_on_file(self.run, path, "")
                yield f"FAILED  {path}: {reason[1] if reason else 'no reason is on file'}"


def works_here() -> bool:
    """Return whether Snakemake, or a measurement, runs in this folder."""
    here = Path.cwd()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            names = {Path(part).name for part in process.cmdline()[:4]}
            ours = "snakemake" in names or names >= {"kvstudy", "measure"}
            if ours and Path(process.cwd()) == here:
                return True
    return False


def latest_run() -> str | None:
    """The run that is measured, or else was measured last; None when there is none."""
    results = Path("results")
    running = [path.parent for path in results.glob("*/measuring") if any(path.iterdir())]
    logs = sorted(results.glob("*/logs/progress.log"), key=lambda path: path.stat().st_mtime)
    names = [path.name for path in running or [path.parent.parent for path in reversed(logs)]]
    runs = filter(None, map(parse_name, names))
    # The values of a source have a log of Snakemake's steps, but nothing is measured.
    return next((run.name for run in runs if not run.published_only), None)


def _steps() -> str:
    """Return the progress of Snakemake's steps after the measurement."""
    logs = Path(".snakemake/log").glob("*.snakemake.log")
    steps = ""
    with contextlib.suppress(OSError, ValueError, IndexError):
        # Not by their names, which are in the time zone of their day.
        latest = max(logs, key=lambda path: path.stat().st_mtime)
        done, planned = STEPS.findall(latest.read_text(encoding="utf-8", errors="replace"))[-1]
        steps = f", {done} of {planned} steps"
    return f"all cells are there; probes and report{steps}"


@dataclass(frozen=True)
class Current:
    """A cell or probe that is being measured.

    ``name`` is the cell's path, ``phase`` "start", "load", "run" or "probe". ``rate`` is
    ops/s, ``share`` how much of the phase is done (0 to 1); None where that is not known.
    """

    name: str
    phase: str
    rate: float | None = None
    share: float | None = None


def current(results: Path, planned: Mapping[str, Cell]) -> Current | None:
    """Return the current cell of the run in ``results``; None if there is none.

    Files may vanish while this looks at them: the cell has ended then.
    """
    root = results / "measuring"
    for folder in sorted(root.glob("probes/*")):
        return Current(folder.name, "probe")
    for folder in sorted(root.glob("*/*/*/rep*")):
        name = str(folder.relative_to(root))
        phases = (phase for phase in ("run", "load") if (folder / f"{phase}.err").is_file())
        if not (phase := next(phases, None)):
            return Current(name, "start")
        # The last one of each client.
        lines: list[Status] = []
        for errors in folder.glob(f"{phase}*.err"):
            with contextlib.suppress(OSError), errors.open("rb") as file:
                lines += filter(None, [last_status(end_of(file))])
        rates = [line.rate for line in lines if line.rate is not None]
        share = _share(planned[name], phase, lines) if lines and name in planned else None
        return Current(name, phase, sum(rates) if rates else None, share)
    return None


def _share(cell: Cell, phase: str, lines: list[Status]) -> float:
    if phase == "run" and cell.seconds:
        return min(lines[0].seconds / cell.seconds, 1.0)
    whole = cell.executed if phase == "run" else cell.records
    return min(sum(line.operations for line in lines) / whole, 1.0)
