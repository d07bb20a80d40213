"""What ends a command from outside: a signal, or the death of what started it.

Killed with SIGKILL, Snakemake leaves its jobs running. What nobody waits for must not go on
beside the jobs of the next Snakemake, so every command of a rule watches whether it lives.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable

import psutil

VARIABLE = "KVSTUDY_CONTROLLER"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """The measurement was stopped from outside; nothing is wrong with the cell.

    No Exception, like KeyboardInterrupt: whoever reads damaged files catches all of these.
    """


def stop_with_controller() -> None:
    """Send us SIGTERM when the process has died that ``KVSTUDY_CONTROLLER`` names.

    The Snakefile sets it. Without it nobody waits for us: a command by hand ends by itself.
    """
    if VARIABLE not in os.environ:
        return

    def wait(handle: int | None) -> None:
        if handle is not None:
            select.select([handle], [], [])
        with contextlib.suppress(OSError):
            print("the process that started this has died; stopped", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    handle = None
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(int(os.environ[VARIABLE]))
    threading.Thread(target=wait, args=[handle], daemon=True).start()


def end_with_children() -> None:
    """Let SIGTERM and SIGHUP end the programs that we started (LaTeX, pandoc) before us."""

    def end(number: int) -> None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
        sys.exit(128 + number)

    # Ctrl-C reaches them as it reaches us.
    _handle(end, [signal.SIGTERM, signal.SIGHUP])


def stop_on_signals() -> None:
    """Let SIGTERM, SIGINT and SIGHUP end the cell the same way: server down, nothing kept."""

    def interrupt(number: int) -> None:
        # A second signal must not break the cleaning up.
        for sign in SIGNALS:
            signal.signal(sign, signal.SIG_IGN)
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    _handle(interrupt, SIGNALS)


def _handle(action: Callable[[int], None], signals) -> None:
    for sign in signals:
        # nohup asks to go on after the terminal is closed.
        if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:
            signal.signal(sign, lambda number, frame: action(number))
