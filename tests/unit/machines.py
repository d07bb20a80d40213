"""Folders that look like /proc and /sys of a machine, from recorded texts."""

from __future__ import annotations

import re
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "machines"


def machine(name: str, root: Path) -> Path:
    """Make the files of tests/data/machines/<name>.txt below ``root``.

    There, ``== path`` begins a file, ``== path/`` is an empty folder, and
    ``== path -> target`` a link.
    """
    text = (DATA / f"{name}.txt").read_text(encoding="utf-8")
    for part in re.split(r"^== ", text, flags=re.M)[1:]:
        title, _, content = part.partition("\n")
        place, _, target = title.partition(" -> ")
        if target:
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).symlink_to(target)
        elif place.endswith("/"):
            (root / place).mkdir(parents=True)
        else:
            put(root, place, content)
    return root


def put(root: Path, place: str, content: str) -> None:
    """Write one file below ``root``."""
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).write_text(content, encoding="utf-8")
