"""What of this machine makes measurements noisy, or not comparable with others.

Everything is read from files below /proc and /sys (and a few marks of containers), so that
tests can put recorded ones in their place. It takes some hundredths of a second: each cell
looks again.
"""

from __future__ import annotations

import re
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure.finding import Finding, Seen
from kvstudy.measure.kernel import (
    Tree,
    cpu_quota,
    disk_code,
    firmware,
    has_groups,
    hypervisor,
    memory_limit,
    mount_of,
    usable_cores,
)

ROOT = Path("/")
CPU = "sys/devices/system/cpu"
GIB = 2**30
# A share of the CPU time, in per cent, that others may have taken unnoticed.
LITTLE_STEAL = 0.5
# Below it, client and server wait for each other's cores.
ENOUGH_CORES = 4
LITTLE_SPACE = 5 * GIB
FEW_FILES = 4096
LITTLE_LOAD = 0.5
# One look may meet a task that runs for a moment only.
TIMES, PAUSE = 5, 0.01

CHEAP_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs", "ceph", "glusterfs")


def preflight(results: Path, root: Path = ROOT) -> list[Finding]:
    """All findings, always in the same order. ``results`` is where the raw logs will lie."""
    tree, path = Tree(root), results.absolute()
    return [Finding.of(key, look(tree, path)) for key, look in LOOKS.items()]


def load_average(root: Path = ROOT) -> Finding:
    """The load of the last minute. Not for cells: the cell before is a part of it."""
    try:
        load = float((Tree(root).text("proc/loadavg") or "").split()[0])
    except (ValueError, IndexError):
        return Finding.of("load_average", None)
    return Finding.of("load_average", Seen(f"{load:.2f}", load <= LITTLE_LOAD, load))


def _virtual_machine(tree: Tree, path: Path) -> Seen | None:
    if kind := hypervisor(tree):
        return Seen(reason("yes", kind=kind), False)
    if tree.fields("proc/cpuinfo").get("flags") is None and not firmware(tree):
        return None
    return Seen(N_("no"), True)


def _container(tree: Tree, path: Path) -> Seen:
    kind = tree.text("run/systemd/container") or ""
    if not kind and tree.text(".dockerenv") is not None:
        kind = "Docker"
    if not kind and tree.text("run/.containerenv") is not None:
        kind = "Podman"
    if not kind:
        mark = re.search(r"docker|kubepods|lxc|libpod", tree.text("proc/1/cgroup") or "")
        kind = mark.group() if mark else ""
    return Seen(reason("yes", kind=kind) if kind else N_("no"), not kind)


def _steal(tree: Tree, path: Path) -> Seen | None:
    try:
        ticks = [int(part) for part in (tree.text("proc/stat") or "").split("\n")[0].split()[1:9]]
        share = 100 * ticks[7] / sum(ticks)
    except (ValueError, IndexError, ZeroDivisionError):
        return None
    return Seen(reason("stolen", share=f"{share:.2g}"), share <= LITTLE_STEAL, round(share, 3))


def _load(tree: Tree, path: Path) -> Seen | None:
    running = []
    for _ in range(TIMES):
        threads = re.match(r"\S+ \S+ \S+ (\d+)/", tree.text("proc/loadavg") or "")
        if not threads:
            return None
        # We run too.
        running.append(max(0, int(threads.group(1)) - 1))
        time.sleep(PAUSE)
    others = int(statistics.median(running))
    return Seen(reason("busy-threads", n=others), not others, others)


def _cores(tree: Tree, path: Path) -> Seen | None:
    usable = usable_cores(tree)
    if usable is None:
        return None
    quota = cpu_quota(tree)
    value = reason("threads", n=len(usable))
    online = tree.text(f"{CPU}/online")
    allowed = tree.fields("proc/self/status")["Cpus_allowed_list"]
    if online and online != allowed:
        value = reason("threads-of", threads=value, numbers=allowed, online=online)
    if quota is None or quota >= len(usable):
        return Seen(value, len(usable) >= ENOUGH_CORES)
    return Seen(
        reason("threads-limited", threads=value, quota=f"{quota:g}"),
        False,
        consequence=N_(
            "When the allowed time is used up, the kernel stops client and server for the "
            "rest of a tenth of a second or so: expect peaks in the highest latencies."
        ),
    )


def _governor(tree: Tree, path: Path) -> Seen | None:
    governors = tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor")
    if not governors:
        return None
    value = ", ".join(governors)
    if drivers := tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_driver"):
        value = reason("governor", governor=value, driver=", ".join(drivers))
    return Seen(value, governors == ["performance"])


def _turbo(tree: Tree, path: Path) -> Seen | None:
    off = {"0": False, "1": True}.get(tree.text(f"{CPU}/intel_pstate/no_turbo"))
    if off is None:
        off = {"0": True, "1": False}.get(tree.text(f"{CPU}/cpufreq/boost"))
    return None if off is None else Seen(N_("off") if off else N_("on"), off)


def _threads_of_a_core(tree: Tree, path: Path) -> Seen | None:
    active = tree.text(f"{CPU}/smt/active")
    if active not in ("0", "1"):
        return None
    return Seen(N_("two or more") if active == "1" else N_("one"), active == "0")


def _throttling(tree: Tree, path: Path) -> Seen | None:
    names = tree.names(f"{CPU}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [count for name in names if (count := tree.number(name)) is not None]
    if not counts:
        return None
    # A package tells its count on each of its cores, so the largest stands for all.
    most = max(counts)
    return Seen(reason("throttled", n=most) if most else N_("never"), not most, most)


def _power(tree: Tree, path: Path) -> Seen | None:
    if not tree.is_folder("sys/class/power_supply"):
        return None
    supplies = [name.rsplit("/", 1)[0] for name in tree.names("sys/class/power_supply/*/type")]
    # Mice and keyboards have batteries of their own.
    batteries = [
        name
        for name in supplies
        if tree.text(f"{name}/type") == "Battery" and tree.text(f"{name}/scope") != "Device"
    ]
    if any(tree.text(f"{name}/status") == "Discharging" for name in batteries):
        return Seen(N_("battery"), False)
    return Seen(N_("mains") if batteries else N_("no battery seen"), True)


def _nodes(tree: Tree, path: Path) -> Seen | None:
    nodes = tree.names("sys/devices/system/node/node[0-9]*")
    return Seen(str(len(nodes)), len(nodes) == 1) if nodes else None


def _mitigations(tree: Tree, path: Path) -> Seen | None:
    names = tree.names(f"{CPU}/vulnerabilities/*")
    if not names:
        return None
    active = [name.rsplit("/", 1)[1] for name in names if "itigation" in (tree.text(name) or "")]
    if not active:
        return Seen(N_("none active"), True)
    return Seen(reason("active", n=len(active), names=", ".join(active)), False)


def _clock_source(tree: Tree, path: Path) -> Seen | None:
    name = tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
    return Seen(name, name in CHEAP_CLOCKS) if name else None


def _memory_limit(tree: Tree, path: Path) -> Seen | None:
    if not has_groups(tree):
        return None
    limit = memory_limit(tree)
    return Seen(N_("none") if limit is None else _gib(limit), limit is None)


def _swap(tree: Tree, path: Path) -> Seen | None:
    memory = tree.fields("proc/meminfo")
    try:
        total, free = (int(memory[name].split()[0]) for name in ("SwapTotal", "SwapFree"))
    except (KeyError, ValueError, IndexError):
        return None
    if not total:
        return Seen(N_("none"), True, 0)
    used, size = total - free, f"{total / 2**20:.1f}"
    if not used:
        return Seen(reason("swap-unused", size=size), True, used)
    return Seen(reason("swap-used", size=size, used=f"{used / 2**10:.0f}"), False, used)


def _huge_pages(tree: Tree, path: Path) -> Seen | None:
    text = tree.text("sys/kernel/mm/transparent_hugepage/enabled")
    chosen = [word.strip("[]") for word in (text or "").split() if word.startswith("[")]
    return Seen(chosen[0], chosen[0] != "always") if chosen else None


def _pressure(tree: Tree, path: Path) -> Seen | None:
    names = [name for name in ("cpu", "memory", "io") if tree.text(f"proc/pressure/{name}")]
    return Seen(", ".join(names), True) if names else None


def _disk_kind(tree: Tree, path: Path) -> Seen | None:
    mount = mount_of(tree, path)
    if mount is None:
        return None
    system = mount.system
    if system in NETWORK:
        consequence = N_("Stores that write to their files wait for another machine.")
        return Seen(reason("disk-network", system=system), False, consequence=consequence)
    if system in ("tmpfs", "ramfs"):
        consequence = N_(
            "Files lie in memory: stores that write to disk look faster than they are."
        )
        return Seen(reason("disk-memory", system=system), False, consequence=consequence)
    code = disk_code(tree, mount)
    if code in ("disk-virtual", "disk-hidden"):
        consequence = N_(
            "What lies below the disk is open, and whether others write to it too: expect "
            "stores that write to disk to differ more between runs."
        )
        return Seen(reason(code, system=system), None, consequence=consequence)
    consequence = N_(
        "A rotating disk needs milliseconds for each place: stores that write to disk at once"
        " wait for it."
    )
    return Seen(reason(code, system=system), code == "disk-solid", consequence=consequence)


def _disk_space(tree: Tree, path: Path) -> Seen | None:
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    try:
        free = shutil.disk_usage(existing).free
    except OSError:
        return None
    return Seen(_gib(free), free >= LITTLE_SPACE, round(free / GIB, 1))


def _open_files(tree: Tree, path: Path) -> Seen | None:
    text = tree.text("proc/self/limits") or ""
    limits = re.search(r"^Max open files\s+(\S+)\s+(\S+)", text, re.M)
    if not limits:
        return None
    soft, hard = limits.groups()
    value = soft if soft == hard else reason("open-files", soft=soft, hard=hard)
    # Servers raise it to the hard limit by themselves.
    return Seen(value, hard == "unlimited" or int(hard) >= FEW_FILES)


def _kernel(tree: Tree, path: Path) -> Seen | None:
    release = tree.text("proc/sys/kernel/osrelease")
    return Seen(release, True) if release else None


def _gib(size: int) -> str:
    return reason("gib", size=f"{size / GIB:.1f}")


# What each is called, and what follows, is in ``finding``.
LOOKS: dict[str, Callable[[Tree, Path], Seen | None]] = {
    "virtual_machine": _virtual_machine,
    "container": _container,
    "steal": _steal,
    "load": _load,
    "cores": _cores,
    "governor": _governor,
    "turbo": _turbo,
    "smt": _threads_of_a_core,
    "throttling": _throttling,
    "power": _power,
    "numa": _nodes,
    "mitigations": _mitigations,
    "clock_source": _clock_source,
    "memory_limit": _memory_limit,
    "swap": _swap,
    "huge_pages": _huge_pages,
    "pressure": _pressure,
    "disk": _disk_kind,
    "disk_space": _disk_space,
    "open_files": _open_files,
    "kernel": _kernel,
}
