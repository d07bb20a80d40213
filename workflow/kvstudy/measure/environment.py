"""The machine and the Java that a cell is measured on, as far as they let themselves be seen."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psutil

from kvstudy.errors import RunError
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure.kernel import NOT_VISIBLE as UNKNOWN
from kvstudy.measure.kernel import Tree, disk_code, hypervisor, mount_of

# Variables by which flags reach a Java that nobody gave them to.
JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
# Asks for the flags, so it is none of them.
PRINT_FLAGS = "-XX:+PrintCommandLineFlags"


def components(java: dict, data: Path | None = None) -> list[dict[str, str]]:
    """Rows ``component``, ``name``, ``details``: OS, CPU, memory, disk, kernel, Java.

    ``java`` is what the function of that name returns. The disk holds ``data``, or this folder.
    """
    tree = Tree()
    swap = psutil.swap_memory().total
    rows = [
        (N_("OS"), *_system(tree)),
        ("Kernel", f"{platform.system()} {platform.release()}", platform.machine()),
        (N_("CPU"), *_processor(tree)),
        (
            N_("Memory"),
            reason("gib", size=f"{psutil.virtual_memory().total / 2**30:.1f}"),
            reason("swap", size=f"{swap / 2**30:.1f}") if swap else N_("no swap"),
        ),
        ("Disk", *_disk(tree, data or Path.cwd())),
        ("Java", java["version"], java["runtime"]),
        (N_("Java flags"), _short(java["flags"]), "; ".join(java["variables"])),
    ]
    return [dict(zip(("component", "name", "details"), row, strict=True)) for row in rows]


def node() -> str:
    """The name of this machine in a job of a cluster; "" elsewhere, where it is nobody's business.

    The name of a pod is another in each job; profiles/kubernetes hands its node's over.
    """
    return platform.node() if "SLURM_JOB_ID" in os.environ else os.environ.get("KVSTUDY_NODE", "")


def _system(tree: Tree) -> tuple[str, str]:
    """The operating system, and what it is inside of, as systemd and the processor tell."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return platform.system(), ""
    _status, system = _run(["systemd-detect-virt"])
    if system in ("", "none"):
        system = N_("a virtual machine") if hypervisor(tree) else ""
    return release["PRETTY_NAME"], reason("inside", system=system) if system else ""


def _processor(tree: Tree) -> tuple[str, str]:
    name = tree.fields("proc/cpuinfo").get("model name") or platform.processor()
    allowed = len(os.sched_getaffinity(0))
    details = {"cores": psutil.cpu_count(logical=False) or allowed, "threads": allowed}
    # The clock of the moment is another in each cell.
    frequency = psutil.cpu_freq()
    clock = {"clock": f"{frequency.max:.0f}"} if frequency and frequency.max else {}
    return name or UNKNOWN, reason("cores-clock" if clock else "cores", **details, **clock)


def _disk(tree: Tree, path: Path) -> tuple[str, str]:
    """Device and file system that hold ``path``, and whether the disk rotates."""
    mount = mount_of(tree, path)
    if mount is None:
        return UNKNOWN, ""
    size = f"{psutil.disk_usage(str(path)).total / 2**30:.0f}"
    disk = reason(disk_code(tree, mount), system=mount.source)
    return reason("file-system", size=size, system=mount.system), disk


def java(prefix: Sequence[str] = ()) -> dict:
    """Version, runtime, the flags in use, and what variables add to them.

    The flags are those that Java chose: collector and heap depend on cores and memory. ``prefix``
    is before the client's command. RunError when there is no Java that starts.
    """
    variables = java_variables()
    if not shutil.which("java"):
        raise RunError("no program java on the path, which YCSB needs; run 'make setup'")
    status, output = _run([*prefix, "java", PRINT_FLAGS, "-version"])
    if status and re.search("error", output, re.I):
        remedy = f"change or unset {', '.join(variables)}" if variables else "run 'make setup'"
        # What it prints of its flags is no answer.
        lines = (line.strip("# ") for line in output.splitlines())
        said = [line for line in lines if line and not line.startswith(("-XX:", "Picked up"))]
        raise RunError(f"java does not start: {' | '.join(said[:3])}; {remedy}")
    # What else Java has to say is before it.
    version = re.search(r"^\S+ version .*", output, re.M | re.S)
    lines = version.group().splitlines() if version else [output.strip() or UNKNOWN]
    runtime = next((line for line in lines[1:] if " VM" in line), lines[-1] if lines[1:] else "")
    return {
        "version": lines[0].replace('"', ""),
        "runtime": runtime.split(" (")[0],
        "flags": [flag for flag in re.findall(r"(?<!\S)-XX:\S+", output) if flag != PRINT_FLAGS],
        "variables": variables,
    }


def java_variables() -> list[str]:
    """The variables that add flags to every Java, as NAME=value."""
    return [f"{name}={os.environ[name]}" for name in JAVA_VARIABLES if os.environ.get(name)]


def _short(flags: list[str]) -> str:
    """The collector and the largest heap, which are what matters to a client."""
    text, values = " ".join(flags), {}
    if collector := re.search(r"Use(\w+)GC", text):
        values["collector"] = collector[1]
    if heap := re.search(r"MaxHeapSize=(\d+)", text):
        values["heap"] = f"{int(heap[1]) / 2**30:.1f}"
    code = "java-flags" if len(values) == 2 else next(iter(values), "")
    return reason(code, **values) if code else UNKNOWN


def _run(command: list[str]) -> tuple[int, str]:
    """Exit status and output of the command; nothing where it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return 0, ""
    return done.returncode, (done.stdout + done.stderr).strip()
