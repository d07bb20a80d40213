"""How far a study is while it is measured, and how long it still takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from kvstudy.planning.costs import read_cost, read_costs
from kvstudy.planning.estimate import Estimator
from kvstudy.planning.words import duration, times
from kvstudy.study.cells import Cell
from kvstudy.study.raw import is_measured, raw_directory


class Progress:
    """Cells done, elapsed, left, failures, as a line; ``str`` of it looks again.

    Before ``begin`` it looks once: a dry run shows the messages of thousands of cells.

    The workflow shows it in the message of each cell. Logs are read once, so a look
    costs some file checks. Times are from cells that this run, and the ``earlier``
    ones (folders of raw logs), measured. ``log`` is a file that gets each new line,
    from ``begin`` on.
    """

    def __init__(
        self,
        run: str,
        wanted: Iterable[Cell],
        earlier: Iterable[Path] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._run = run
        self._wanted = list(wanted)
        self._earlier = list(earlier)
        self._clock = clock
        self._began = clock()
        self._estimator: Estimator | None = None
        self._left: dict[str, Cell] = {cell.path: cell for cell in self._wanted}
        self._there = 0
        self._done = 0
        self._log: Path | None = None
        self._last = ""

    def begin(self, log: Path) -> None:
        """Cells are about to be measured: from now on lines are written to ``log`` too."""
        self._look()
        self._began = self._clock()
        self._there = self._done
        self._log = log

    def __str__(self) -> str:
        if self._log is not None or not self._last:
            self._look()
            self._last = self._line()
        return self._last

    def _line(self) -> str:
        parts = [f"{self._done} of {times(len(self._wanted), 'cell')} done"]
        if self._log is not None:
            parts.append(f"{duration(self._clock() - self._began)} elapsed")
        if self._left:
            parts.append(self._time_left())
        failed = self._failed()
        parts.append(f"{len(failed)} failed")
        line = ", ".join(parts)
        if self._log is not None and line != self._last:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self._clock()))
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{stamp}  {line}\n")
        return line

    def end(self) -> str:
        """What to say when a run ends before it is complete; "" when all cells are there."""
        line = str(self)
        failed = self._failed()
        # A cell that was planned and could not be measured is a gap, and is not left.
        if not self._left:
            return ""
        text = [f"Cells: {line}."]
        if failed:
            text.append(f"Failed, with reasons in results/{self._run}/failed/:")
            text += [f"  {path}" for path in failed]
        text.append("The same command goes on with what is left and measures nothing twice.")
        return "\n".join(text)

    def _look(self) -> None:
        """Take in the cells that were finished since the last look."""
        if self._estimator is None:
            self._estimator = Estimator(read_costs(self._earlier))
        for path, cell in list(self._left.items()):
            if is_measured(self._run, cell):
                del self._left[path]
                self._done += 1
                if (cost := read_cost(raw_directory(self._run, cell))) is not None:
                    self._estimator.add(cost)

    def _time_left(self) -> str:
        estimates = [self._estimator(cell) for cell in self._left.values()]
        known = [each.seconds for each in estimates if each is not None]
        unknown = len(estimates) - len(known)
        if not known:
            return "time left not known yet"
        if not unknown:
            return f"about {duration(sum(known))} left"
        # Of other stores nothing was measured yet: the mean of those that are known.
        mean = sum(known) / len(known)
        return f"roughly {duration(sum(known) + unknown * mean)} left"

    def _failed(self) -> list[str]:
        """Cells that failed since the beginning and are not there."""
        root = Path("results") / self._run / "failed"
        found = []
        for path in self._left:
            folder = root / path
            if folder.is_dir() and any(
                each.stat().st_mtime >= self._began for each in folder.iterdir()
            ):
                found.append(path)
        return found
