"""Findings about disk, power, limits and what else goes on at the moment."""

from __future__ import annotations

import re
import shutil
import statistics
import time
from pathlib import Path

from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure.finding import Finding, Mount, Tree, hidden, judged
from kvstudy.measure.preflight_cpu import hypervisor

LITTLE_SPACE = 5 * 2**30
FEW_FILES = 4096
LITTLE_LOAD = 0.5
# One look may meet a task that runs for a moment only.
LOOKS, PAUSE = 5, 0.01

NETWORK = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "ceph", "glusterfs")


def load(tree: Tree) -> Finding:
    key, title = "load", N_("Other work at the moment")
    running = []
    for _ in range(LOOKS):
        found = re.match(r"\S+ \S+ \S+ (\d+)/", tree.text("proc/loadavg") or "")
        if not found:
            return hidden(key, title, N_("What else runs on this machine is open."))
        # We run too.
        running.append(max(0, int(found.group(1)) - 1))
        time.sleep(PAUSE)
    others = int(statistics.median(running))
    return judged(
        key,
        title,
        reason("busy-threads", n=others),
        N_(
            "Other programs use the processors: expect lower throughput and longer latencies than"
            " on an idle machine, in some runs more than in others."
        ),
        good=not others,
        number=others,
    )


def load_average(tree: Tree) -> Finding:
    """Not for cells: the cell before is a part of its minute."""
    key, title = "load_average", N_("Load of the last minute")
    try:
        load = float((tree.text("proc/loadavg") or "").split()[0])
    except (ValueError, IndexError):
        return hidden(key, title, N_("What else ran on this machine is open."))
    return judged(
        key,
        title,
        f"{load:.2f}",
        N_(
            "Other programs have used the processors in the last minute: end them before measuring."
        ),
        good=load <= LITTLE_LOAD,
        number=load,
    )


def power(tree: Tree) -> Finding:
    key, title = "power", N_("Power supply")
    if not tree.is_folder("sys/class/power_supply"):
        return hidden(key, title, N_("If this is a laptop on battery, its clock is held low."))
    supplies = [name.rsplit("/", 1)[0] for name in tree.names("sys/class/power_supply/*/type")]
    kinds = {name: tree.text(f"{name}/type") for name in supplies}
    # Mice and keyboards have batteries of their own.
    batteries = [
        name
        for name, kind in kinds.items()
        if kind == "Battery" and tree.text(f"{name}/scope") != "Device"
    ]
    on_battery = any(tree.text(f"{name}/status") == "Discharging" for name in batteries)
    value = N_("battery") if on_battery else N_("mains") if batteries else N_("no battery seen")
    return judged(
        key,
        title,
        value,
        N_(
            "On battery the processor is kept slow to save energy, and slower as it empties: plug"
            " the power in and measure again."
        ),
        good=not on_battery,
    )


def disk_kind(tree: Tree, path: Path) -> Finding:
    key, title = "disk", N_("Disk")
    mount = _mount(tree, path)
    if mount is None:
        return hidden(key, title, N_("What a store waits for when it writes is open."))
    system = mount.system
    if system in NETWORK:
        return judged(
            key,
            title,
            reason("disk-network", system=system),
            N_("Stores that write to their files wait for another machine."),
            good=False,
        )
    if system in ("tmpfs", "ramfs"):
        return judged(
            key,
            title,
            reason("disk-memory", system=system),
            N_("Files lie in memory: stores that write to disk look faster than they are."),
            good=False,
        )
    device = f"sys/dev/block/{mount.numbers}"
    rotational = tree.text(f"{device}/queue/rotational")
    if rotational is None:
        # A partition has no queue of its own; its disk has.
        rotational = tree.text(f"{device}/../queue/rotational")
    # The disk of a virtual machine says what the hypervisor likes.
    if rotational not in ("0", "1") or hypervisor(tree):
        return Finding(
            key,
            title,
            reason("disk-virtual" if hypervisor(tree) else "disk-hidden", system=system),
            None,
            N_(
                "What lies below the disk is open, and whether others write to it too: expect "
                "stores that write to disk to differ more between runs."
            ),
        )
    return judged(
        key,
        title,
        reason("disk-rotating" if rotational == "1" else "disk-solid", system=system),
        N_(
            "A rotating disk needs milliseconds for each place: stores that write to disk at once"
            " wait for it."
        ),
        good=rotational == "0",
    )


def _mount(tree: Tree, path: Path) -> Mount | None:
    """The mount that holds ``path``."""
    holding = [mount for mount in tree.mounts() if path.is_relative_to(mount.place)]
    # A later mount on the same place hides the earlier one.
    return max(reversed(holding), key=lambda mount: len(mount.place), default=None)


def disk_space(path: Path) -> Finding:
    key, title = "disk_space", N_("Free disk space")
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    try:
        free = shutil.disk_usage(existing).free
    except OSError:
        return hidden(key, title, N_("A full disk ends a measurement."))
    return judged(
        key,
        title,
        reason("gib", size=f"{free / 2**30:.1f}"),
        N_("A full disk ends a measurement, and some file systems are slow when little is free."),
        good=free >= LITTLE_SPACE,
        number=round(free / 2**30, 1),
    )


def open_files(tree: Tree) -> Finding:
    key, title = "open_files", N_("Limit of open files")
    found = re.search(r"^Max open files\s+(\S+)\s+(\S+)", tree.text("proc/self/limits") or "", re.M)
    if not found:
        return hidden(key, title, N_("Whether a store may open enough files is open."))
    soft, hard = found.groups()
    # Servers raise it to the hard limit by themselves.
    return judged(
        key,
        title,
        soft if soft == hard else reason("open-files", soft=soft, hard=hard),
        N_("A store that needs more files or connections fails or works with fewer."),
        good=hard == "unlimited" or int(hard) >= FEW_FILES,
    )


def kernel(tree: Tree) -> Finding:
    key, title = "kernel", N_("Kernel")
    release = tree.text("proc/sys/kernel/osrelease")
    if not release:
        return hidden(key, title, N_("Values of another kernel cannot be told from these."))
    return judged(key, title, release, "", good=True)
