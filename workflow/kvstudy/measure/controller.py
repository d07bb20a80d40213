"""The process that asked for the measurement, usually Snakemake.

Killed with SIGKILL, Snakemake leaves its jobs running. A cell that nobody waits
for must not go on beside the next one, so it looks whether its controller
lives.
"""

from __future__ import annotations

import os
import signal

import psutil

from kvstudy.errors import KvstudyError

VARIABLE = "KVSTUDY_CONTROLLER"


class Interrupted(KvstudyError):
    """The measurement was stopped from outside; nothing is wrong with the cell."""


class Controller:
    """``KVSTUDY_CONTROLLER`` holds its process id (set by the Snakefile); else our parent."""

    def __init__(self) -> None:
        self._process = psutil.Process(int(os.environ.get(VARIABLE, os.getppid())))

    def check(self) -> None:
        """Interrupted when the controller has died."""
        if not self._process.is_running() or self._process.status() == psutil.STATUS_ZOMBIE:
            raise Interrupted("the process that started this measurement has died; stopped")


def stop_on_signals() -> None:
    """Let SIGTERM, SIGINT and SIGHUP end the cell the same way: server down, nothing kept."""

    def interrupt(number: int, frame: object) -> None:
        # A second signal must not break the cleaning up.
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(sign, signal.SIG_IGN)
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, interrupt)
