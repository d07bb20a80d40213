"""The machine that a cell is measured on, as far as it lets itself be seen."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import psutil

UNKNOWN = "not visible"


def components() -> list[dict[str, str]]:
    """Rows ``component``, ``name``, ``details``: OS, CPU, memory, disk, kernel, Java."""
    rows = [
        ("OS", *_system()),
        ("Kernel", f"{platform.system()} {platform.release()}", platform.machine()),
        ("CPU", *_processor()),
        ("Memory", f"{psutil.virtual_memory().total / 2**30:.1f} GiB", _swap()),
        ("Disk", *_disk(Path.cwd())),
        ("Java", *_java()),
    ]
    return [
        {"component": component, "name": name, "details": details}
        for component, name, details in rows
    ]


def load_average() -> list[float]:
    """The load of the last 1, 5 and 15 minutes before the cell."""
    return [round(value, 2) for value in os.getloadavg()]


def _system() -> tuple[str, str]:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return platform.system(), ""
    return release["PRETTY_NAME"], _virtual()


def _virtual() -> str:
    """What the machine is inside of, as systemd and the processor tell."""
    found = _run(["systemd-detect-virt"])
    if found in ("", "none"):
        flags = _match(r"^flags\s*:\s*(.*)$", Path("/proc/cpuinfo")) or ""
        found = "a virtual machine" if "hypervisor" in flags.split() else ""
    return f"inside {found}" if found else ""


def _processor() -> tuple[str, str]:
    name = _match(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo")) or platform.processor()
    allowed = len(os.sched_getaffinity(0))
    cores = psutil.cpu_count(logical=False) or allowed
    details = f"{cores} cores, {allowed} hardware threads usable"
    frequency = psutil.cpu_freq()
    if frequency:
        details += f", {frequency.max or frequency.current:.0f} MHz"
    return name or UNKNOWN, details


def _swap() -> str:
    swap = psutil.swap_memory().total
    return f"{swap / 2**30:.1f} GiB swap" if swap else "no swap"


def _disk(path: Path) -> tuple[str, str]:
    """Device and file system that hold ``path``, and whether the disk rotates."""
    mounts = [
        part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint)
    ]
    if not mounts:
        return UNKNOWN, ""
    mount = max(mounts, key=lambda part: len(part.mountpoint))
    size = psutil.disk_usage(str(path)).total / 2**30
    device = Path(mount.device).name
    block = re.sub(r"(?<=\D)p?\d+$", "", device)
    return f"{size:.0f} GiB, {mount.fstype}", f"{mount.device}, {_disk_kind(block)}"


def _disk_kind(block: str) -> str:
    # A virtual disk says "rotating" whatever is below it.
    if block.startswith(("vd", "xvd")):
        return "virtual disk"
    rotational = Path("/sys/block") / block / "queue/rotational"
    try:
        return {"0": "solid state", "1": "rotating"}[rotational.read_text().strip()]
    except (OSError, KeyError):
        return f"kind {UNKNOWN}"


def _java() -> tuple[str, str]:
    lines = _run(["java", "-version"]).splitlines()
    if not lines:
        return UNKNOWN, ""
    return lines[0].replace('"', ""), lines[-1].split(" (")[0]


def _match(pattern: str, path: Path) -> str | None:
    try:
        found = re.search(pattern, path.read_text(), re.M)
    except OSError:
        return None
    return found.group(1) if found else None


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).strip()
