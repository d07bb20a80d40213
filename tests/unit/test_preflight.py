"""What of a machine makes measurements noisy: a laptop, a virtual machine, a quiet server."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from kvstudy.language.reasons import sentence
from kvstudy.measure.kernel import NOT_VISIBLE, Tree, core_numbers, cpu_quota, memory_limit
from kvstudy.measure.preflight import Finding, load_average, preflight

from .machines import machine, put

RESULTS = Path("/home/student/kvstudy/results")
CPU, GROUP = "sys/devices/system/cpu", "sys/fs/cgroup/user.slice"
MOUNTS = "proc/self/mountinfo"
GOVERNOR = f"{CPU}/cpu3/cpufreq/scaling_governor"
NFS = "1 1 259:2 / / rw - xfs /dev/x rw\n2 1 0:9 / /home rw - nfs4 host:/home rw"
OVERLAY = "1 1 0:33 / / rw - overlay overlay rw"
LIMITED = "16 hardware threads, limited to the time of 1.5"


@pytest.fixture(autouse=True)
def free_space(monkeypatch):
    """What the recorded machines have free cannot be recorded."""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=42 * 2**30))


def findings(root: Path) -> dict[str, Finding]:
    result = preflight(RESULTS, root)
    assert len({each.key for each in result}) == len(result)
    for each in result:
        # A consequence exactly where something is not good, as one or more sentences.
        assert bool(each.consequence) == (each.good is not True), each
        assert each.consequence == "" or each.consequence.endswith("."), each
        assert each.value
    return {each.key: each for each in result}


def values(root: Path) -> dict[str, tuple[str, bool | None]]:
    return {key: (sentence(each.value), each.good) for key, each in findings(root).items()}


def test_a_laptop_on_battery(tmp_path):
    assert values(machine("laptop", tmp_path)) == {
        "virtual_machine": ("no", True),
        "container": ("no", True),
        "steal": ("0 % since the machine started", True),
        "load": ("0 other threads running", True),
        "cores": ("4 hardware threads (numbers 0-3 of 0-7)", True),
        "governor": ("powersave (intel_pstate)", False),
        "turbo": ("on", False),
        "smt": ("two or more", False),
        "throttling": ("12 times since the machine started", False),
        "power": ("battery", False),
        "numa": ("1", True),
        "mitigations": ("1 active (meltdown)", False),
        "clock_source": ("hpet", False),
        "memory_limit": ("none", True),
        "swap": ("1.0 GiB, 200 MiB used", False),
        "huge_pages": ("always", False),
        "pressure": ("cpu, memory, io", True),
        "disk": ("ext4, rotating", False),
        "disk_space": ("42.0 GiB", True),
        "open_files": ("1024, may be raised to 1048576", True),
        "kernel": ("6.1.0-18-amd64", True),
    }


def test_a_virtual_machine(tmp_path):
    result = values(machine("virtual", tmp_path))
    assert result["virtual_machine"] == ("yes (KVM)", False)
    assert result["container"] == ("yes (Docker)", False)
    assert result["steal"] == ("0.057 % since the machine started", True)
    assert result["load"] == ("5 other threads running", False)
    assert result["cores"] == ("2 hardware threads", False)
    for key in ("governor", "turbo", "throttling"):
        assert result[key] == (NOT_VISIBLE, None)
    assert result["power"] == ("no battery found", True)
    # What is below it is not what it says of itself.
    assert result["disk"] == ("ext4, a virtual disk", None)
    assert result["mitigations"] == ("2 active (spectre_v1, spectre_v2)", False)


def test_a_quiet_server(tmp_path):
    result = values(machine("server", tmp_path))
    assert {key for key, (_, good) in result.items() if not good} == set()
    assert result["disk"] == ("xfs, solid state", True)
    assert result["governor"] == ("performance", True)


def test_nothing_is_guessed_where_nothing_can_be_read(tmp_path):
    result = values(tmp_path / "nowhere")
    # These two are the marks of something; without a mark there is none.
    assert result.pop("container") == ("no", True)
    assert result.pop("disk_space") == ("42.0 GiB", True)
    assert set(result.values()) == {(NOT_VISIBLE, None)}


@pytest.mark.parametrize(
    "place",
    [
        *["proc/stat", "proc/loadavg", "proc/meminfo", "proc/self/status", "proc/self/limits"],
        *["proc/self/mountinfo", "proc/cpuinfo", "sys/kernel/mm/transparent_hugepage/enabled"],
        *["sys/devices/system/cpu/smt/active", "sys/devices/system/cpu/cpufreq/boost"],
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
    ],
)
@pytest.mark.parametrize("content", ["", "\x00\xff garbage\nmore: of it\n"])
def test_files_of_an_unknown_form_are_not_visible(tmp_path, place, content):
    put(machine("server", tmp_path), place, content)
    findings(tmp_path)


@pytest.mark.parametrize(
    ("place", "content", "key", "value", "good"),
    [
        ("proc/stat", "cpu  50 0 0 40 0 0 0 10 0 0", "steal", "10 % since", False),
        ("proc/loadavg", "8.1 4 2 9/300 1", "load", "8 other threads running", False),
        ("proc/self/status", "Cpus_allowed_list:\t3", "cores", "1 hardware thread", False),
        (f"{GROUP}/cpu.max", "150000 100000", "cores", LIMITED, False),
        (f"{GROUP}/memory.max", str(2 * 2**30), "memory_limit", "2.0 GiB", False),
        (GOVERNOR, "powersave", "governor", "performance, powersave", False),
        ("sys/devices/system/node/node1/cpulist", "8-15", "numa", "2", False),
        (f"{CPU}/cpufreq/boost", "1", "turbo", "on", False),
        ("sys/hypervisor/type", "xen", "virtual_machine", "yes (xen)", False),
        ("sys/class/dmi/id/product_name", "VMware7,1", "virtual_machine", "VMware7,1", False),
        ("run/.containerenv", "", "container", "yes (Podman)", False),
        ("proc/1/cgroup", "0::/kubepods/x", "container", "yes (kubepods)", False),
        ("proc/meminfo", "SwapTotal: 1048576 kB\nSwapFree: 1048576 kB", "swap", "not used", True),
        ("proc/self/limits", "Max open files  256  1024  files", "open_files", "1024", False),
        (MOUNTS, "1 1 0:40 / / rw - tmpfs tmpfs rw", "disk", "tmpfs, in memory", False),
        (MOUNTS, NFS, "disk", "nfs4, over a network", False),
        (MOUNTS, OVERLAY, "disk", "overlay, its kind not visible", None),
        ("sys/class/power_supply/BAT1/type", "Battery", "power", "mains", True),
    ],
)
def test_one_thing_changes_one_finding(tmp_path, place, content, key, value, good):
    put(machine("server", tmp_path), place, content)
    result = findings(tmp_path)[key]
    assert value in sentence(result.value)
    assert result.good is good


@pytest.mark.parametrize(
    ("content", "value", "good"),
    [("0.31 0 0 1/1 1", "0.31", True), ("7 1 1 1/1 1", "7.00", False), ("", NOT_VISIBLE, None)],
)
def test_the_load_of_the_last_minute(tmp_path, content, value, good):
    put(tmp_path, "proc/loadavg", content)
    result = load_average(Tree(tmp_path), RESULTS)
    assert (sentence(result.value), result.good) == (value, good)
    assert bool(result.consequence) == (good is not True)


def test_little_free_space(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**30))
    assert values(machine("server", tmp_path))["disk_space"] == ("1.0 GiB", False)


def test_an_outer_group_limits_too(tmp_path):
    root = machine("laptop", tmp_path)
    put(root, "sys/fs/cgroup/user.slice/cpu.max", "50000 100000")
    put(root, "sys/fs/cgroup/user.slice/user-1000.slice/cpu.max", "max 100000")
    put(root, "sys/fs/cgroup/memory.max", "1000")
    assert cpu_quota(Tree(root)) == 0.5
    assert memory_limit(Tree(root)) == 1000


def test_groups_of_version_1(tmp_path):
    root = machine("virtual", tmp_path)
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")
    assert cpu_quota(Tree(root)) is None
    assert memory_limit(Tree(root)) is None
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000")
    put(root, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096")
    assert cpu_quota(Tree(root)) == 0.25
    assert memory_limit(Tree(root)) == 4096


@pytest.mark.parametrize(
    ("text", "numbers"), [("0", [0]), ("0-2,5", [0, 1, 2, 5]), ("4,1-2", [1, 2, 4])]
)
def test_lists_of_cores(text, numbers):
    assert core_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "3-1", "1,", "-2"])
def test_no_lists_of_cores(text):
    with pytest.raises(ValueError, match=r".+"):
        core_numbers(text)


def test_this_machine_is_looked_at_quickly(tmp_path, monkeypatch):
    monkeypatch.undo()
    used = time.process_time()
    result = preflight(tmp_path / "results" / "not-there-yet")
    assert time.process_time() - used < 0.3
    (kernel,) = (each for each in result if each.key == "kernel")
    assert kernel.value == Path("/proc/sys/kernel/osrelease").read_text().strip()
