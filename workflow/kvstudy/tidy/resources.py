"""What server and client used, from the counters that were read while a phase ran."""

from __future__ import annotations

import csv
from pathlib import Path

from kvstudy.errors import KvstudyError


def server_cpu_seconds(raw: Path, phase: str) -> float | None:
    """CPU time of the server from the first to the last sample of ``phase``, in s.

    None where the server's processes are not on this machine. KvstudyError for a
    file that is no ``processes.csv``.
    """
    path = raw / "processes.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            used = [
                float(row["cpu_user"]) + float(row["cpu_system"])
                for row in csv.DictReader(file)
                if row["phase"] == phase and row["side"] == "server"
            ]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error!r}); measure the cell again") from None
    return used[-1] - used[0] if len(used) > 1 else None
