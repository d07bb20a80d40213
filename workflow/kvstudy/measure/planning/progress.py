"""The progress of a run and its remaining time."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kvstudy.language.reasons import sentence
from kvstudy.measure import hosts
from kvstudy.measure.planning.costs import Estimator, read_cost, read_costs
from kvstudy.stores import providers
from kvstudy.stores.configuration import outdated as otherwise
from kvstudy.stores.definition import Store
from kvstudy.study.cells import Cell, left_out, plan, run_name
from kvstudy.study.config import Config
from kvstudy.study.controls import is_control
from kvstudy.study.model import Study
from kvstudy.study.raw import is_gap, is_measured, raw_directory
from kvstudy.study.run_names import parse_name

# Raw logs of the calibration cells, which all studies share.
CALIBRATION = Path("results/calibration/raw")


@dataclass(frozen=True)
class Outlook:
    """The cells of a run. ``wanted`` are those that it is to have, in their order.

    ``done`` are there, ``gaps`` of them with a reason in place of logs; of those that are
    ``outdated``, and measured again, it says what has changed. ``missing`` says why a
    store cannot be measured here; its cells that are not there are ``absent``.
    """

    run: str
    provider: str
    cells: list[Cell]
    wanted: list[Cell]
    done: frozenset[Cell]
    outdated: dict[Cell, str]
    gaps: frozenset[Cell]
    missing: dict[str, str]
    absent: frozenset[Cell]

    @property
    def left(self) -> list[Cell]:
        return [cell for cell in self.wanted if cell not in self.done]


def why_missing(stores: Mapping[str, Store], config: Config, provider: str) -> dict[str, str]:
    """Return why stores cannot be measured, by name, without those that can."""
    if config.hosts.server:
        return hosts.why_missing(stores, config.hosts)
    servers = config.external.servers
    reasons = {
        name: providers.missing_requirement(store, provider, servers.get(store.folder.name, ""))
        for name, store in stores.items()
    }
    return {name: why for name, why in reasons.items() if why}


def look(study: Study, stores: dict[str, Store], config: Config, scale: float) -> Outlook:
    """The outlook of the run of ``study`` with this configuration, as Snakemake sees it."""
    run = run_name(study.name, scale)
    cells = plan(study, scale)
    measured = [cell for cell in cells if is_measured(run, cell)]
    outdated = {cell: why for cell in measured if (why := otherwise(study, stores, run, cell))}
    done = {cell for cell in measured if cell not in outdated}
    provider = "native"
    if not config.hosts.server:
        provider = providers.resolve(config.provider, Path("results") / run / "raw")
    # Hosts need not be there any more when all is measured.
    looked = not config.hosts.server or len(done) < len(cells)
    why = why_missing(stores, config, provider) if looked else {}
    missing = {name: sentence(reason) for name, reason in why.items()}
    absent = {cell for cell in cells if cell.store in missing and cell not in done}
    controls = left_out(study, cells, done, absent)
    return Outlook(
        run=run,
        provider=provider,
        cells=cells,
        wanted=[cell for cell in cells if cell not in absent and cell not in controls],
        done=frozenset(done),
        outdated=outdated,
        gaps=frozenset(cell for cell in done if is_gap(run, cell)),
        missing=missing,
        absent=frozenset(absent - controls),
    )


def earlier_runs(study: str, run: str) -> list[Path]:
    """Raw logs of the study's runs: ``run`` itself, then the others, the largest scale first."""
    names = (parse_name(path.parent.name) for path in Path("results").glob(f"{study}*/raw"))
    others = [name for name in names if name and name.study == study and name.name != run]
    others.sort(key=lambda name: name.scale, reverse=True)
    return [Path("results") / run / "raw", *(name.raw for name in others)]


@dataclass(frozen=True)
class RunProgress:
    """``done`` cells of ``wanted``, in words, are there; ``failed`` are paths of others.

    ``seconds`` is what each cell that is left will take, None where nothing is known of any;
    ``sure`` when each is told by cells like it.
    """

    done: int
    wanted: str
    failed: tuple[str, ...]
    seconds: dict[str, float | None]
    sure: bool

    def time_left(self, spent: dict[str, float] | None = None) -> str:
        """In words; ``spent`` are seconds that went into cells that are not there yet."""
        if not self.seconds:
            return ""
        if None in self.seconds.values():
            return "time left not known yet"
        spent = spent or {}
        left = sum(max(whole - spent.get(path, 0), 0) for path, whole in self.seconds.items())
        return f"{'about' if self.sure else 'roughly'} {duration(left)} left"


class Progress:
    """Cells done, elapsed, left, failures, as a line in the message of each cell.

    ``str`` of it looks again; before ``begin`` it looks once, since a dry run shows the messages of
    thousands of cells. Logs are read once, so a look costs some file checks. Times are from cells
    that this run, and the ``earlier`` ones (folders of raw logs), measured. Failures count from
    ``since`` (epoch s), left out: from now on. ``is_done`` says whether a cell is, see
    ``is_current``; left out, whole logs are enough.
    """

    def __init__(
        self,
        run: str,
        wanted: Iterable[Cell],
        earlier: Iterable[Path] = (),
        clock: Callable[[], float] = time.time,
        since: float | None = None,
        is_done: Callable[[Cell], bool] | None = None,
    ) -> None:
        self.run, self.wanted, self._earlier = run, list(wanted), earlier
        self._clock = clock
        self._is_done = is_done or partial(is_measured, run)
        self._began = clock() if since is None else since
        self._estimator: Estimator | None = None
        self._left: dict[str, Cell] = {cell.path: cell for cell in self.wanted}
        self._log: Path | None = None
        self._line = ""

    def begin(self, log: Path) -> None:
        """Cells are about to be measured: from now on each new line is written to ``log`` too."""
        self._began, self._log = self._clock(), log

    def __str__(self) -> str:
        if self._log is None and self._line:
            return self._line
        state, now = self.look(), self._clock()
        parts = [f"{state.done} of {state.wanted} done"]
        if self._log is not None:
            parts.append(f"{duration(now - self._began)} elapsed")
        if self._left:
            parts.append(state.time_left())
        line = ", ".join([*parts, f"{len(state.failed)} failed"])
        if self._log is not None and line != self._line:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
            # On a full disk it is said all the same.
            with contextlib.suppress(OSError):
                self._log.parent.mkdir(parents=True, exist_ok=True)
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(f"{stamp}  {line}\n")
        self._line = line
        return line

    def look(self) -> RunProgress:
        """Return the current progress, without writing to the log."""
        if self._estimator is None:
            self._estimator = Estimator(read_costs(self._earlier))
        for cell in [cell for cell in self._left.values() if self._is_done(cell)]:
            del self._left[cell.path]
            if (cost := read_cost(raw_directory(self.run, cell))) is not None:
                self._estimator.add(cost)
        estimates = {path: self._estimator(cell) for path, cell in self._left.items()}
        known = {path: each.seconds for path, each in estimates.items() if each is not None}
        # Of other stores nothing was measured yet: the mean of those that are known.
        mean = sum(known.values()) / len(known) if known else None
        return RunProgress(
            done=len(self.wanted) - len(self._left),
            wanted=counted(self.wanted),
            failed=tuple(self._failed()),
            seconds={path: known.get(path, mean) for path in estimates},
            sure=len(known) == len(estimates),
        )

    def end(self) -> str:
        """Return the message for a run that ends incomplete; "" if all cells exist."""
        line = str(self)
        # A cell that was planned and could not be measured is a gap, and is not left.
        if not self._left:
            return ""
        failed = self._failed()
        text = [f"Cells: {line}, {len(self._left) - len(failed)} not measured."]
        if failed:
            text.append(f"Failed, with reasons in results/{self.run}/failed/:")
            text += [f"  {path}" for path in failed]
        text.append("The same command goes on with what is left and measures nothing twice.")
        return "\n".join(text)

    def _failed(self) -> list[str]:
        """Cells that failed since the beginning and are not there."""
        root = Path("results") / self.run / "failed"
        # One look at all: at each of thousands of cells it takes as long as a short cell.
        failed = {
            attempt.parent.relative_to(root).as_posix()
            for attempt in root.glob("*/*/*/rep*/*")
            if attempt.stat().st_mtime >= self._began
        }
        return [path for path in self._left if path in failed]


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.4 h``: two or three digits, as an estimate deserves."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def size(count: float) -> str:
    """``12 kB``, ``3.4 MB``: of bytes, in powers of 1000."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.5:
            return f"{count:.1f} {unit}" if count < 9.95 else f"{count:.0f} {unit}"
    return f"{count / 1000:.1f} TB"


def counted(cells: Collection[Cell]) -> str:
    """``54 cells (24 of them control cells)``."""
    controls = sum(is_control(cell.store) for cell in cells)
    return times(len(cells), "cell") + (f" ({controls} of them control cells)" if controls else "")


def times(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
