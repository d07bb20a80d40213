"""Garbage collection of the YCSB client, from the log of its Java virtual machine."""

from __future__ import annotations

import re
from pathlib import Path

from kvstudy.errors import KvstudyError

# Others (Z, Epsilon) stop the client too, but do not say so in such lines.
_KNOWN = re.compile(r"Using (Serial|Parallel|G1|Shenandoah)\b")
_PAUSE = re.compile(r" Pause .* (\d+[.,]\d+)ms$", re.M)


def gc_pauses(raw: Path, phase: str) -> tuple[int, float] | None:
    """How often the collector stopped the client in ``phase``, and for how long together (ms).

    From ``<phase>.gc.log``. None without that file, or of a collector whose pauses
    do not stand in it.
    """
    path = raw / f"{phase}.gc.log"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KvstudyError(f"{path}: cannot be read: {error.strerror}") from None
    if not _KNOWN.search(text):
        return None
    pauses = [float(number.replace(",", ".")) for number in _PAUSE.findall(text)]
    return len(pauses), sum(pauses)
