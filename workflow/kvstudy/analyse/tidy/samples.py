"""The counters that were read while a phase ran (``processes.csv``, ``machine.csv``)."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from kvstudy.errors import KvstudyError


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
