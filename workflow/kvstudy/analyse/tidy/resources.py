"""What server, client and machine used, from the counters that were read while a phase ran.

The counters are totals (``measure/sampler.py``), so what is used in a second is
their difference. A counter that a kernel does not have is empty, and a side whose
processes are not on this machine has no rows.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.status import run_start


def read_samples(
    path: Path,
    phase: str,
    columns: Sequence[str],
    side: str | None = None,
    optional: Sequence[str] = (),
) -> list[dict[str, float]]:
    """``columns`` of the samples of ``phase`` (and of one ``side``), in their order.

    ``optional`` columns are left out where the file has none. Empty without a file, as
    with logs that were not measured here. KvstudyError for a file that the sampler did
    not write.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                {name: float(row[name]) for name in columns if name in row or name not in optional}
                for row in csv.DictReader(file)
                if row["phase"] == phase and (side is None or row["side"] == side)
            ]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise KvstudyError(f"{path}: cannot be read ({error!r}); measure the cell again") from None


# Samples that are nearer than this say little: processor time comes in steps of 10 ms.
SHORTEST = 0.5
# Time zones differ by multiples of a quarter of an hour.
ZONE_STEP = 900

PROCESS_RATES = {
    "cores_user": ["cpu_user"],
    "cores_system": ["cpu_system"],
    "switches": ["switches_voluntary", "switches_involuntary"],
    "read_bytes": ["read_bytes"],
    "write_bytes": ["write_bytes"],
}
MACHINE_RATES = {
    "cores_busy": ["cpu_busy"],
    "cores_steal": ["cpu_steal"],
    "cpu_pressure": ["cpu_pressure"],
    "memory_pressure": ["memory_pressure"],
    "io_pressure": ["io_pressure"],
    "loopback_bytes": ["loopback_bytes"],
}


def server_cpu_seconds(raw: Path, phase: str) -> float | None:
    """CPU time of the server from the first to the last sample of ``phase``, in s.

    None where the server's processes are not on this machine, or nothing was
    sampled. KvstudyError for a file that is no ``processes.csv``.
    """
    columns = ("cpu_user", "cpu_system")
    samples = read_samples(raw / "processes.csv", phase, columns, "server")
    used = [sum(sample.values()) for sample in samples]
    return used[-1] - used[0] if len(used) > 1 else None


def resources(raw: Path, phase: str, started: float | None) -> list[dict]:
    """What each side used between every two samples of ``phase``, one row each.

    ``started`` (epoch s) is when the client was started. Keys: phase, side (client,
    server, machine), second (end of the interval, s since YCSB's clock started;
    below 0 while Java starts; since the client's start where YCSB printed no
    status), seconds (its length), cores_user, cores_system (processor time by
    time), rss (bytes at its end), switches (context switches per s), read_bytes,
    write_bytes, loopback_bytes (per s), cores_busy, cores_steal, and the shares of
    time in which some task of the machine waited: cpu_pressure, memory_pressure,
    io_pressure. What is not known is NaN or has no key. KvstudyError for files
    that the sampler did not write.
    """
    offset = _client_start(raw, phase, started)
    rows = []
    for side, samples in _samples(raw, phase):
        rates = MACHINE_RATES if side == "machine" else PROCESS_RATES
        for before, after in pairwise(samples):
            length = after["seconds"] - before["seconds"]
            row = {
                "phase": phase,
                "side": side,
                "second": round(after["seconds"] - offset, 3),
                "seconds": round(length, 3),
            }
            for name, counters in rates.items():
                row[name] = _rate(before, after, counters, length)
            if side != "machine":
                row["rss"] = after.get("rss")
            rows.append(row)
    return rows


def _client_start(raw: Path, phase: str, started: float | None) -> float:
    """How long after its start the client began to count seconds, in s."""
    try:
        text = (raw / f"{phase}.err").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    clock = run_start(text)
    if clock is None or started is None:
        return 0.0
    return (clock.replace(tzinfo=UTC) - datetime.fromtimestamp(started, UTC)).total_seconds() % (
        ZONE_STEP
    )


def _samples(raw: Path, phase: str) -> list[tuple[str, list[dict]]]:
    """Each side with its samples, at least ``SHORTEST`` apart."""
    found = []
    for name in ("processes.csv", "machine.csv"):
        try:
            table = pd.read_csv(raw / name)
            table = table[table["phase"] == phase]
            table = table.assign(seconds=table["seconds"].astype(float))
            if name == "machine.csv":
                table["side"] = "machine"
            sides = table.groupby("side", sort=False)
        except FileNotFoundError:
            continue
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise KvstudyError(
                f"{raw / name}: cannot be read ({error!r}); measure the cell again"
            ) from None
        for side, rows in sides:
            found.append((side, _apart(rows.sort_values("seconds").to_dict("records"))))
    return found


def _apart(samples: list[dict]) -> list[dict]:
    """Without samples that follow another at once; the first and the last stay."""
    kept = samples[:1]
    for sample in samples[1:]:
        if sample["seconds"] - kept[-1]["seconds"] >= SHORTEST:
            kept.append(sample)
        elif sample is samples[-1]:
            kept[-1 if len(kept) > 1 else 1 :] = [sample]
    return kept


def _rate(before: dict, after: dict, counters: list[str], seconds: float) -> float | None:
    """What the counters rose by in a second; None where that is not known."""
    values = [(before.get(name), after.get(name)) for name in counters]
    try:
        risen = sum(float(last) - float(first) for first, last in values)
    except (TypeError, ValueError, OverflowError):
        return None
    # The counters of a process that ended are gone, those of a new one were not there.
    by_process = before.get("processes") != after.get("processes")
    if by_process and not (counters[0].startswith("cpu_") and after.get("cpu_from") == "cgroup"):
        return None
    return risen / seconds if risen >= 0 and seconds > 0 else None
