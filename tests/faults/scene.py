"""Where a fault is injected: a small project, its commands, and what must be as before."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import psutil
import pytest
from kvstudy import cli
from kvstudy.language.current import ORIGINAL, use

from tests.project import with_defaults

# All that is started in a scene inherits it.
MARK = "KVSTUDY_FAULTS"
CELL = "pretend/a/r1000_o2000_t2/rep1"
OTHER = "pretend/a/r1000_o2000_t2/rep2"


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it wrote."""

    code: int
    text: str


class Scene:
    """The project in ``folder``, in which the test runs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.study = Path("config/studies/small/study.yaml")
        self._guarded: dict[Path, str] = {}
        monkeypatch.setenv(MARK, str(folder))
        # Nobody but the test waits for its commands.
        monkeypatch.delenv("KVSTUDY_CONTROLLER", raising=False)
        # Snakemake's notes, and what else a program keeps for its user.
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))

    # --- commands

    def kvstudy(self, *arguments: object) -> Answer:
        """The command in this process; an exception that it does not catch fails the test."""
        output = io.StringIO()
        self.monkeypatch.setattr(sys, "argv", ["kvstudy", *map(str, arguments)])
        code = 0
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code or 0
            finally:
                use(ORIGINAL)
        return Answer(int(code), output.getvalue())

    def measure(self, cell: str = CELL, *more: object) -> Answer:
        return self.kvstudy("measure", cell, *with_defaults(more, self.study))

    def results(self) -> pd.DataFrame:
        """cells.csv, by the cell's path without its sizes, after ``kvstudy parse``."""
        answer = self.kvstudy("parse", self.study.parent.name)
        assert answer.code == 0, answer.text
        table = pd.read_csv("results/small/cells.csv", keep_default_na=False)
        keys = ("store", "workload", "repetition")
        table.index = ["/".join(map(str, row)) for row in table[list(keys)].itertuples(index=False)]
        return table

    # --- what must be as before

    def guard(self, *folders: Path) -> None:
        """Remember these folders: nothing in them may change until the test ends."""
        for folder in folders:
            self._guarded[folder.absolute()] = digest(folder)

    def lost(self) -> list[Path]:
        """Guarded folders that are not as they were."""
        return [folder for folder, before in self._guarded.items() if digest(folder) != before]

    def left(self) -> list[psutil.Process]:
        """Processes of the scene that still run, by what they inherited or work in."""
        return processes_of(self.folder)

    @staticmethod
    def end(processes: list[psutil.Process]) -> None:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()


def processes_of(folder: Path) -> list[psutil.Process]:
    """All but ourselves that were started in ``folder``, hold it open or name it."""
    sign = str(folder)
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in (os.getpid(), os.getppid()) and _belongs(process, sign)
    ]


def _belongs(process: psutil.Process, sign: str) -> bool:
    for look in (
        lambda: process.environ().get(MARK, ""),
        process.cwd,
        lambda: "\0".join(process.cmdline()),
        lambda: "\0".join(file.path for file in process.open_files()),
    ):
        try:
            if sign in look() and process.status() != psutil.STATUS_ZOMBIE:
                return True
        except (psutil.Error, OSError):
            continue
    return False


def digest(folder: Path) -> str:
    """What changes with any name or content below the folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return total.hexdigest()


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """The test fails when it takes longer: what hangs is a fault that was not handled."""

    def late(number: int, frame: object) -> None:
        pytest.fail(f"still at it after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def says(answer: Answer, message: str) -> None:
    """The answer has the message (a pattern) and no trace of Python's."""
    assert "Traceback" not in answer.text, answer.text
    assert re.search(message, answer.text), f"no {message!r} in: {answer.text}"


@contextlib.contextmanager
def edited(path: str | Path, change: Callable[[bytes], bytes]) -> Iterator[None]:
    """The file with other content, as long as the context lasts."""
    path = Path(path)
    before = path.read_bytes()
    path.write_bytes(change(before))
    try:
        yield
    finally:
        path.write_bytes(before)
