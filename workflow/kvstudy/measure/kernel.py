"""The kernel's information on the machine: files below /, and resource limits."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kvstudy.language.current import N_

NOT_VISIBLE = N_("not visible")
# Version 1 of the control groups writes about 2^63 bytes for "no limit".
NO_LIMIT = 2**60
# In /proc/self/status.
ALLOWED = "Cpus_allowed_list"
# What a virtual machine says of itself to the firmware's tables.
VENDORS = re.compile(
    r"QEMU|KVM|VMware|innotek|VirtualBox|Xen|Parallels|Bochs|OpenStack|Google Compute|Amazon EC2"
    r"|Virtual Machine|DigitalOcean|Hetzner|OpenNebula|bhyve",
    re.I,
)
# Of /proc/self/mountinfo: the device's numbers, where it is, kind, source and options.
MOUNT = re.compile(r"^\d+ \d+ (\S+) \S+ (\S+) .*- (\S+) (\S+) (\S+)$", re.M)
# A clock that only a hypervisor offers, and whose it is.
CLOCKS = {"kvm-clock": "KVM", "hyperv": "Hyper-V", "xen": "Xen", "vmware": "VMware"}


@dataclass(frozen=True)
class Mount:
    """A mount point and its device; ``numbers`` are those of the device (8:1)."""

    place: str
    source: str
    numbers: str
    system: str
    options: list[str]


class Tree:
    """The files below ``root`` by which the kernel reports the machine; tests have their own."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def text(self, name: str) -> str | None:
        """The file's text without spaces around it; None when it cannot be read."""
        try:
            return (self.root / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def read(self, name: str) -> str:
        """The same; OSError for a file that cannot be read or is empty."""
        if text := self.text(name):
            return text
        raise FileNotFoundError(name)

    def names(self, pattern: str) -> list[str]:
        """Names of the files that fit the pattern, as ``text`` takes them."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))

    def values(self, pattern: str) -> list[str]:
        """The different texts of all files that fit the pattern, sorted."""
        return sorted({text for name in self.names(pattern) if (text := self.text(name))})

    def mounts(self) -> list[Mount]:
        """All mounts in the order in which they were made."""
        return [
            Mount(place.replace("\\040", " "), source, numbers, system, options.split(","))
            for numbers, place, system, source, options in MOUNT.findall(
                self.text("proc/self/mountinfo") or ""
            )
        ]

    def fields(self, name: str) -> dict[str, str]:
        """``key: value`` lines, the first of each key."""
        # The first is the last to be put in.
        lines = (line.partition(":") for line in reversed((self.text(name) or "").splitlines()))
        return {key.strip(): value.strip() for key, colon, value in lines if colon}


def core_numbers(text: str) -> list[int]:
    """``0-2,5`` as numbers, sorted; ValueError when it is no such list."""
    cores: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = range(int(first), int(last if dash else first) + 1)
        if not numbers:
            raise ValueError(f"{part} goes backwards")
        cores.update(numbers)
    return sorted(cores)


def cpu_quota(tree: Tree) -> float | None:
    """Cores' worth of CPU time that the control groups allow; None without a limit."""
    quotas = []
    for folder, version in _folders(tree, "cpu"):
        names = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        texts = [tree.text(f"{folder}/{name}") or "" for name in names]
        if numbers := re.fullmatch(r"(\d+) ([1-9]\d*)", " ".join(texts)):
            quotas.append(int(numbers[1]) / int(numbers[2]))
    return min(quotas, default=None)


def memory_limit(tree: Tree) -> int | None:
    """Bytes that the control groups allow; None without a limit."""
    limits = []
    for folder, version in _folders(tree, "memory"):
        name = "memory.max" if version == 2 else "memory.limit_in_bytes"
        limit = tree.text(f"{folder}/{name}") or ""
        if limit.isdecimal() and int(limit) < NO_LIMIT:
            limits.append(int(limit))
    return min(limits, default=None)


def has_groups(tree: Tree) -> bool:
    """Return whether any control groups are visible."""
    return any(next(_folders(tree, controller), None) for controller in ("cpu", "memory"))


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
        # In a container the path may be outside of what is mounted; its root still shows.
        parts = [part for part in places[name].split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield "/".join([mount.place.strip("/"), *parts[:depth]]), version


def interrupts_apart(tree: Tree) -> bool | None:
    """Return whether interrupts (also of the loopback network) are outside processes' CPU time.

    Other kernels count them for the process that they interrupt too. None when the kernel's
    settings cannot be read.
    """
    try:
        packed = (tree.root / "proc/config.gz").read_bytes()
        text = gzip.decompress(packed).decode("ascii", "replace")
    except (OSError, EOFError):
        text = tree.text(f"boot/config-{tree.text('proc/sys/kernel/osrelease')}")
    if text is None:
        return None
    return bool(re.search(r"^CONFIG_IRQ_TIME_ACCOUNTING=y$", text, re.M))


def hypervisor(tree: Tree) -> str:
    """Return the hypervisor of the machine; empty if unknown."""
    flags = tree.fields("proc/cpuinfo").get("flags", "").split()
    maker = firmware(tree)
    kind = tree.text("sys/hypervisor/type") or tree.text("proc/device-tree/hypervisor/compatible")
    if not ("hypervisor" in flags or kind or VENDORS.search(maker)):
        return ""
    clocks = tree.text("sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    by_clock = next((name for clock, name in CLOCKS.items() if clock in clocks), "")
    named = maker if VENDORS.search(maker) else ""
    return (kind or named or by_clock or N_("of unknown kind")).strip("\0")


def firmware(tree: Tree) -> str:
    """Return the firmware's names of maker and product."""
    names = ("sys_vendor", "product_name")
    return " ".join(text for name in names if (text := tree.text(f"sys/class/dmi/id/{name}")))


def mount_of(tree: Tree, path: Path) -> Mount | None:
    """The mount that holds ``path``."""
    holding = [mount for mount in tree.mounts() if path.is_relative_to(mount.place)]
    # A later mount on the same place hides the earlier one.
    return max(reversed(holding), key=lambda mount: len(mount.place), default=None)


def disk_code(tree: Tree, mount: Mount) -> str:
    """The code (``language.reasons``) of the disk below the mount."""
    if hypervisor(tree):
        # It says what the hypervisor likes.
        return "disk-virtual"
    device = f"sys/dev/block/{mount.numbers}"
    # A partition has no queue of its own; its disk has.
    queues = (tree.text(f"{device}{above}/queue/rotational") for above in ("", "/.."))
    rotational = next((text for text in queues if text is not None), "")
    return {"0": "disk-solid", "1": "disk-rotating"}.get(rotational, "disk-hidden")
