"""What this process may use: cores, and the limits that a control group sets."""

from __future__ import annotations

from collections.abc import Iterator

from kvstudy.measure.finding import Tree

# Version 1 writes about 2^63 bytes for "no limit".
NO_LIMIT = 2**60


def core_numbers(text: str) -> list[int]:
    """``0-2,5`` as numbers, sorted; ValueError when it is no such list."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = range(int(first), int(last if dash else first) + 1)
        if not numbers:
            raise ValueError(f"{part} goes backwards")
        found.update(numbers)
    return sorted(found)


def usable_cores(tree: Tree) -> list[int] | None:
    """Hardware threads that the kernel lets us run on; None when it does not tell."""
    try:
        return core_numbers(tree.fields("proc/self/status")["Cpus_allowed_list"])
    except (KeyError, ValueError):
        return None


def cpu_quota(tree: Tree) -> float | None:
    """Cores' worth of CPU time that the control groups allow; None without a limit."""
    found = []
    for folder, version in _folders(tree, "cpu"):
        if version == 2:
            quota, _, period = (tree.text(f"{folder}/cpu.max") or "max").partition(" ")
        else:
            quota = tree.text(f"{folder}/cpu.cfs_quota_us") or "-1"
            period = tree.text(f"{folder}/cpu.cfs_period_us") or ""
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(int(quota) / int(period))
    return min(found, default=None)


def memory_limit(tree: Tree) -> int | None:
    """Bytes that the control groups allow; None without a limit."""
    found = []
    for folder, version in _folders(tree, "memory"):
        name = "memory.max" if version == 2 else "memory.limit_in_bytes"
        limit = tree.number(f"{folder}/{name}")
        if limit is not None and limit < NO_LIMIT:
            found.append(limit)
    return min(found, default=None)


def has_groups(tree: Tree) -> bool:
    """Whether any control groups can be seen."""
    return any(True for controller in ("cpu", "memory") for _ in _folders(tree, controller))


def _folders(tree: Tree, controller: str) -> Iterator[tuple[str, int]]:
    """The groups that we are in, from the innermost outwards, with their version."""
    places = {}
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for name in controllers.split(","):
            places["" if number == "0" else name] = path
    for mount in tree.mounts():
        version = {"cgroup2": 2, "cgroup": 1}.get(mount.system)
        name = "" if version == 2 else controller
        if version is None or name not in places:
            continue
        if version == 1 and controller not in mount.options:
            continue
        # In a container the path may lie outside of what is mounted; its root still tells.
        parts = [part for part in places[name].split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield "/".join([mount.place.strip("/"), *parts[:depth]]), version
