"""Traces of persons and machines in what was measured: folders that raw logs name."""

from __future__ import annotations

import re
from collections import Counter

from kvstudy.share.archive.contents import Contents

# The project's folder on the machine that measured stands before that of its results.
FOLDER = re.compile(rb"(/[^\s\"'=:,]+)/results/[^\s\"'/]+/measuring/")
# What a person may be found in; histograms and latencies are numbers.
TEXT = (".json", ".sh", ".log", ".out", ".err", ".txt", ".md", ".tex")


def folders_named(contents: Contents) -> dict[str, int]:
    """Folders of the measuring machine that files name, with the number of these files."""
    found: Counter[str] = Counter()
    for path in contents.files.values():
        if path.suffix in TEXT:
            names = {name.decode(errors="replace") for name in FOLDER.findall(path.read_bytes())}
            found.update(names)
    return dict(sorted(found.items()))
