"""Checks of this machine for sources of noise and of differences from other machines.

Everything is read from files below /proc and /sys (and a few marks of containers), so that
tests can put recorded ones in their place. It takes some hundredths of a second: each cell
looks again.
"""

import contextlib
import os
import re
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure import kernel
from kvstudy.measure.kernel import NOT_VISIBLE, Tree


@dataclass(frozen=True)
class Finding:
    """The ``value`` of what was looked at (``key``, ``title``), and what follows from it.

    ``value`` is a text of ``language.reasons``; ``good`` is None when nothing could be read.
    ``consequence`` is a sentence, empty when good. ``number`` puts values that change in order.
    A look gives a consequence only where it is not that of its own words.
    """

    value: str
    good: bool | None
    number: float | None = None
    consequence: str = ""
    key: str = ""
    title: str = ""


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

# In the order of the report.
LOOKS: list[Callable[[Tree, Path], Finding]] = []


def preflight(results: Path, root: Path = Path("/")) -> list[Finding]:
    """All findings, always in the same order. ``results`` is where the raw logs will lie."""
    return [look(Tree(root), results.absolute()) for look in LOOKS]


def state(results: Path) -> dict:
    """Return the manifest's entries on the state of the machine when a cell started."""
    return {
        # Of the last 1, 5 and 15 minutes.
        "load_average_before": [round(value, 2) for value in os.getloadavg()],
        "findings": [asdict(finding) for finding in preflight(results)],
        "interrupts_apart": kernel.interrupts_apart(Tree()),
    }


def _look(title: str, bad: str, hidden: str, for_cells: bool = True) -> Callable:
    """Make a finding of what the function sees, called as the function is.

    ``bad`` is what follows when it is not good ("" where nothing is bad or it depends on what was
    seen), ``hidden`` when nothing can be read: that is said so, never guessed.
    """

    def decorate(look: Callable[[Tree, Path], Finding | None]) -> Callable[[Tree, Path], Finding]:
        def finding(tree: Tree, path: Path) -> Finding:
            seen = None
            # Of files that are not there, or of a form that is not known.
            with contextlib.suppress(OSError, ValueError, LookupError, ArithmeticError):
                seen = look(tree, path)
            seen = seen or Finding(NOT_VISIBLE, None, consequence=hidden)
            consequence = "" if seen.good else seen.consequence or bad
            key = look.__name__.lstrip("_")
            return replace(seen, key=key, title=title, consequence=consequence)

        if for_cells:
            LOOKS.append(finding)
        return finding

    return decorate


@_look(
    N_("Load of the last minute"),
    N_("Other programs used the processors in the last minute: end them before measuring."),
    N_("Other work on this machine could not be checked."),
    for_cells=False,
)
def load_average(tree: Tree, path: Path) -> Finding | None:
    """Not for cells: the cell before is a part of it."""
    load = float(tree.read("proc/loadavg").split()[0])
    return Finding(f"{load:.2f}", load <= LITTLE_LOAD, load)


@_look(
    N_("Virtual machine"),
    N_(
        "A virtual machine shares its processors with others that are invisible to it: expect "
        "slow and fast periods, and compare only values measured close together."
    ),
    N_("If this is a virtual machine, invisible others share its processors."),
)
def _virtual_machine(tree: Tree, path: Path) -> Finding | None:
    if kind := kernel.hypervisor(tree):
        return Finding(reason("yes", kind=kind), False)
    if tree.fields("proc/cpuinfo").get("flags") is None and not kernel.firmware(tree):
        return None
    return Finding(N_("no"), True)


@_look(
    N_("Container"),
    N_("Other containers may use the same machine, and this one cannot see all of them."),
    "",
)
def _container(tree: Tree, path: Path) -> Finding:
    marks = {".dockerenv": "Docker", "run/.containerenv": "Podman"}
    mark = re.search(r"docker|kubepods|lxc|libpod", tree.text("proc/1/cgroup") or "")
    kinds = [
        tree.text("run/systemd/container"),
        *(kind for file, kind in marks.items() if tree.text(file) is not None),
        mark and mark.group(),
    ]
    kind = next(filter(None, kinds), None)
    return Finding(reason("yes", kind=kind) if kind else N_("no"), not kind)


@_look(
    N_("Steal time"),
    N_(
        "Other virtual machines took CPU time from this one: expect single runs to be slow "
        "without a visible cause."
    ),
    N_("Steal by other virtual machines could not be checked."),
)
def _steal(tree: Tree, path: Path) -> Finding | None:
    ticks = [int(part) for part in tree.read("proc/stat").split("\n")[0].split()[1:9]]
    share = 100 * ticks[7] / sum(ticks)
    return Finding(reason("stolen", share=f"{share:.2g}"), share <= LITTLE_STEAL, round(share, 3))


@_look(
    N_("Background load"),
    N_(
        "Other programs use the processors: expect lower throughput and higher latencies than "
        "on an idle machine, in some runs more than in others."
    ),
    N_("Background load could not be checked."),
)
def _load(tree: Tree, path: Path) -> Finding | None:
    running = []
    for _ in range(TIMES):
        threads, _, _ = tree.read("proc/loadavg").split()[3].partition("/")
        # We run too.
        running.append(max(0, int(threads) - 1))
        time.sleep(PAUSE)
    others = int(statistics.median(running))
    return Finding(reason("busy-threads", n=others), not others, others)


@_look(
    N_("Usable cores"),
    N_(
        "Client and server compete for few cores: a store whose client or server needs more CPU "
        "looks slower than on a larger machine."
    ),
    N_("The number of usable cores could not be determined."),
)
def _cores(tree: Tree, path: Path) -> Finding | None:
    allowed, online = tree.fields("proc/self/status")[kernel.ALLOWED], tree.text(f"{CPU}/online")
    usable, quota = kernel.core_numbers(allowed), kernel.cpu_quota(tree)
    value = reason("threads", n=len(usable))
    if online and online != allowed:
        value = reason("threads-of", threads=value, numbers=allowed, online=online)
    if quota is None or quota >= len(usable):
        return Finding(value, len(usable) >= ENOUGH_CORES)
    return Finding(
        reason("threads-limited", threads=value, quota=f"{quota:g}"),
        False,
        consequence=N_(
            "When the CPU quota is used up, the kernel stops client and server until the next "
            "period: expect peaks in the highest latencies."
        ),
    )


@_look(
    N_("Frequency governor"),
    N_(
        "The clock frequency falls while a core is idle and rises late: expect slow starts and "
        "lower values at low load. The governor 'performance' keeps it high."
    ),
    N_(
        "No frequency governor (the kernel's policy for the processor's clock) is visible: "
        "expect differences between runs, because the clock may change during a run."
    ),
)
def _governor(tree: Tree, path: Path) -> Finding | None:
    governors = tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor")
    if not governors:
        return None
    value = ", ".join(governors)
    if drivers := tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_driver"):
        value = reason("governor", governor=value, driver=", ".join(drivers))
    return Finding(value, governors == ["performance"])


@_look(
    N_("Turbo clock"),
    N_(
        "The clock frequency rises while the processor is cool and few cores are busy: expect "
        "the first runs and those with idle cores to be faster."
    ),
    N_(
        "Turbo could not be checked: if it is on, expect first runs on a cool processor to be "
        "faster."
    ),
)
def _turbo(tree: Tree, path: Path) -> Finding | None:
    off = {"0": False, "1": True}.get(tree.text(f"{CPU}/intel_pstate/no_turbo"))
    if off is None:
        off = {"0": True, "1": False}.get(tree.text(f"{CPU}/cpufreq/boost"))
    return None if off is None else Finding(N_("off") if off else N_("on"), off)


@_look(
    N_("Threads per core (SMT)"),
    N_(
        "Two hardware threads share one core: client and server slow each other down when the "
        "kernel schedules them on the same core."
    ),
    N_("Hardware threads that share a core could not be checked."),
)
def _smt(tree: Tree, path: Path) -> Finding | None:
    one = {"0": True, "1": False}[tree.read(f"{CPU}/smt/active")]
    return Finding(N_("one") if one else N_("two or more"), one)


@_look(
    N_("Thermal throttling"),
    N_(
        "The processor became too hot and reduced its clock: expect long and late runs to be "
        "slower."
    ),
    N_("Thermal throttling could not be checked."),
)
def _throttling(tree: Tree, path: Path) -> Finding | None:
    counts = tree.values(f"{CPU}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    # A package shows its count on each of its cores, so the largest stands for all.
    most = max(int(count) for count in counts if count.isdecimal())
    return Finding(reason("throttled", n=most) if most else N_("never"), not most, most)


@_look(
    N_("Power supply"),
    N_(
        "On battery, the processor runs slower to save energy: plug in the power supply and "
        "measure again."
    ),
    N_("If this is a laptop on battery, its clock frequency is reduced."),
)
def _power(tree: Tree, path: Path) -> Finding | None:
    if not (tree.root / "sys/class/power_supply").is_dir():
        return None
    # Mice and keyboards have batteries of their own.
    batteries = [
        name
        for name in tree.names("sys/class/power_supply/*")
        if tree.text(f"{name}/type") == "Battery" and tree.text(f"{name}/scope") != "Device"
    ]
    if any(tree.text(f"{name}/status") == "Discharging" for name in batteries):
        return Finding(N_("battery"), False)
    return Finding(N_("mains") if batteries else N_("no battery found"), True)


@_look(
    N_("Memory nodes (NUMA)"),
    N_(
        "Memory of another node is slower, and the kernel may place server and client "
        "differently in each run: expect some runs to be slower than others."
    ),
    N_("NUMA nodes could not be checked."),
)
def _numa(tree: Tree, path: Path) -> Finding | None:
    nodes = tree.names("sys/devices/system/node/node[0-9]*")
    return Finding(str(len(nodes)), len(nodes) == 1) if nodes else None


@_look(
    N_("Mitigations"),
    N_(
        "Mitigations of processor vulnerabilities slow down system calls: do not compare values "
        "with a machine that has other mitigations."
    ),
    N_("Mitigations of processor vulnerabilities could not be checked."),
)
def _mitigations(tree: Tree, path: Path) -> Finding | None:
    names = tree.names(f"{CPU}/vulnerabilities/*")
    if not names:
        return None
    active = [name.rsplit("/", 1)[1] for name in names if "itigation" in (tree.text(name) or "")]
    if not active:
        return Finding(N_("none active"), True)
    return Finding(reason("active", n=len(active), names=", ".join(active)), False)


@_look(
    N_("Clock source"),
    N_(
        "Reading the time is slow with this clock source, and the client reads it twice per "
        "operation: expect all latencies to be too high by that time."
    ),
    N_("The cost of reading the time could not be checked."),
)
def _clock_source(tree: Tree, path: Path) -> Finding | None:
    name = tree.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
    return Finding(name, name in CHEAP_CLOCKS)


@_look(
    N_("Memory limit"),
    N_(
        "Client, server and cached files share this limit: a store with more data is slowed "
        "down or killed."
    ),
    N_("Memory limits could not be checked."),
)
def _memory_limit(tree: Tree, path: Path) -> Finding | None:
    if not kernel.has_groups(tree):
        return None
    limit = kernel.memory_limit(tree)
    return Finding(N_("none") if limit is None else _gib(limit), limit is None)


@_look(
    N_("Swap"),
    N_(
        "The kernel has swapped memory to disk: expect single operations that take milliseconds "
        "when it is needed again."
    ),
    N_("Use of swap could not be checked."),
)
def _swap(tree: Tree, path: Path) -> Finding | None:
    memory = tree.fields("proc/meminfo")
    total, free = (int(memory[name].split()[0]) for name in ("SwapTotal", "SwapFree"))
    if not total:
        return Finding(N_("none"), True, 0)
    used, size = total - free, f"{total / 2**20:.1f}"
    if not used:
        return Finding(reason("swap-unused", size=size), True, used)
    return Finding(reason("swap-used", size=size, used=f"{used / 2**10:.0f}"), False, used)


@_look(
    N_("Transparent huge pages"),
    N_(
        "The kernel merges small memory pages into large ones while a server runs: expect peaks "
        "in its highest latencies and more memory in use."
    ),
    N_("Transparent huge pages could not be checked."),
)
def _huge_pages(tree: Tree, path: Path) -> Finding | None:
    modes = tree.read("sys/kernel/mm/transparent_hugepage/enabled").split()
    (chosen,) = (mode.strip("[]") for mode in modes if mode.startswith("["))
    return Finding(chosen, chosen != "always")


@_look(
    N_("Pressure stall information"),
    "",
    N_(
        "The kernel does not count how long programs wait for CPU, memory and disk, so the "
        "report cannot show it."
    ),
)
def _pressure(tree: Tree, path: Path) -> Finding | None:
    names = [name for name in ("cpu", "memory", "io") if tree.text(f"proc/pressure/{name}")]
    return Finding(", ".join(names), True) if names else None


# What follows from the kind of a disk.
OF_DISKS = {
    "disk-network": N_("Stores that write to disk wait for another machine."),
    "disk-memory": N_(
        "Files are kept in memory: stores that write to disk look faster than they are."
    ),
    **dict.fromkeys(
        ("disk-virtual", "disk-hidden"),
        N_(
            "The physical disk is not visible, and others may use it too: expect stores that "
            "write to disk to vary more between runs."
        ),
    ),
    "disk-rotating": N_(
        "A rotating disk needs milliseconds per seek: stores that write to disk at once wait "
        "for it."
    ),
}


@_look(N_("Disk"), "", N_("The kind of disk could not be determined."))
def _disk(tree: Tree, path: Path) -> Finding | None:
    mount = kernel.mount_of(tree, path)
    if mount is None:
        return None
    code = "disk-network" if mount.system in NETWORK else kernel.disk_code(tree, mount)
    code = "disk-memory" if mount.system in ("tmpfs", "ramfs") else code
    good = {"disk-solid": True, "disk-virtual": None, "disk-hidden": None}.get(code, False)
    value = reason(code, system=mount.system)
    return Finding(value, good, consequence=OF_DISKS.get(code, ""))


@_look(
    N_("Free disk space"),
    N_(
        "A full disk ends a measurement, and some file systems slow down when they are nearly full."
    ),
    N_("A full disk ends a measurement."),
)
def _disk_space(tree: Tree, path: Path) -> Finding | None:
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    return Finding(_gib(free), free >= LITTLE_SPACE, round(free / GIB, 1))


@_look(
    N_("Limit of open files"),
    N_("A store that needs more files or connections fails or is limited."),
    N_("The limit of open files could not be checked."),
)
def _open_files(tree: Tree, path: Path) -> Finding | None:
    limits = re.findall(r"^Max open files\s+(\S+)\s+(\S+)", tree.read("proc/self/limits"), re.M)
    soft, hard = limits[0]
    value = soft if soft == hard else reason("open-files", soft=soft, hard=hard)
    # Servers raise it to the hard limit by themselves.
    return Finding(value, hard == "unlimited" or int(hard) >= FEW_FILES)


@_look(N_("Kernel"), "", N_("Values from different kernels cannot be distinguished."))
def _kernel(tree: Tree, path: Path) -> Finding | None:
    return Finding(tree.read("proc/sys/kernel/osrelease"), True)


def _gib(size: int) -> str:
    return reason("gib", size=f"{size / GIB:.1f}")
