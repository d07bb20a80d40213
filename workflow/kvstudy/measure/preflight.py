"""What of this machine makes measurements noisy, or not comparable with others.

Everything is read from files below /proc and /sys (and a few marks of
containers), so that tests can put recorded ones in their place. It takes some
hundredths of a second: each cell looks again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kvstudy.measure import preflight_cpu, preflight_memory, preflight_rest
from kvstudy.measure.finding import Finding, Tree

ROOT = Path("/")


def preflight(results: Path, root: Path = ROOT) -> list[Finding]:
    """All findings, always in the same order. ``results`` is where the raw logs will lie."""
    tree = Tree(root)
    looks: list[Callable[[Tree], Finding]] = [
        preflight_cpu.virtual_machine,
        preflight_cpu.container,
        preflight_cpu.steal,
        preflight_rest.load,
        preflight_cpu.cores,
        preflight_cpu.governor,
        preflight_cpu.turbo,
        preflight_cpu.threads_of_a_core,
        preflight_cpu.throttling,
        preflight_rest.power,
        preflight_cpu.nodes,
        preflight_cpu.mitigations,
        preflight_cpu.clock_source,
        preflight_memory.limit,
        preflight_memory.swap,
        preflight_memory.huge_pages,
        preflight_memory.pressure,
        lambda tree: preflight_rest.disk_kind(tree, results.absolute()),
        lambda tree: preflight_rest.disk_space(results.absolute()),
        preflight_rest.open_files,
        preflight_rest.kernel,
    ]
    return [look(tree) for look in looks]
