"""How the kernel counts the CPU time of interrupts, which decides what is left for others."""

from __future__ import annotations

import gzip
import re

from kvstudy.measure.finding import Tree


def interrupts_apart(tree: Tree) -> bool | None:
    """Whether interrupts (as of the loopback network) are in no process's CPU time.

    Kernels built so count them for the machine only; the others count them for
    the process that they interrupt too. None when the kernel's settings are not
    readable.
    """
    text = _packed(tree, "proc/config.gz")
    if text is None:
        text = tree.text(f"boot/config-{tree.text('proc/sys/kernel/osrelease')}")
    if text is None:
        return None
    return bool(re.search(r"^CONFIG_IRQ_TIME_ACCOUNTING=y$", text, re.M))


def _packed(tree: Tree, name: str) -> str | None:
    try:
        return gzip.decompress((tree.root / name).read_bytes()).decode("ascii", "replace")
    except (OSError, EOFError):
        return None
