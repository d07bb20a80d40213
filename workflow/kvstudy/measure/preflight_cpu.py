"""Findings about the processors: whose they are, how fast, and how many."""

from __future__ import annotations

import re

from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.measure.finding import Finding, Tree, hidden, judged
from kvstudy.measure.limits import cpu_quota, usable_cores

CPU = "sys/devices/system/cpu"
# A share of the CPU time, in per cent, that others may have taken unnoticed.
LITTLE_STEAL = 0.5
# Below it, client and server wait for each other's cores.
ENOUGH_CORES = 4

# What a virtual machine says of itself to the firmware's tables.
VENDORS = re.compile(
    r"QEMU|KVM|VMware|innotek|VirtualBox|Xen|Parallels|Bochs|OpenStack|Google Compute|Amazon EC2"
    r"|Virtual Machine|DigitalOcean|Hetzner|OpenNebula|bhyve",
    re.I,
)
# A clock that only a hypervisor offers, and whose it is.
CLOCKS = {"kvm-clock": "KVM", "hyperv": "Hyper-V", "xen": "Xen", "vmware": "VMware"}


def virtual_machine(tree: Tree) -> Finding:
    key, title = "virtual_machine", N_("Virtual machine")
    consequence = N_(
        "A virtual machine shares its processors with others that cannot be seen from here: "
        "expect slow and fast spells, and compare only values measured close together."
    )
    kind = hypervisor(tree)
    if kind:
        return judged(key, title, kind, consequence, good=False)
    flags = tree.fields("proc/cpuinfo").get("flags")
    if flags is None and not _firmware(tree):
        return hidden(
            key,
            title,
            N_("If this is a virtual machine, others that cannot be seen share its processors."),
        )
    return judged(key, title, N_("no"), "", good=True)


def hypervisor(tree: Tree) -> str:
    """What the machine runs inside of; empty when nothing tells of it."""
    flags = tree.fields("proc/cpuinfo").get("flags", "").split()
    firmware = _firmware(tree)
    told = tree.text("sys/hypervisor/type") or tree.text("proc/device-tree/hypervisor/compatible")
    if not ("hypervisor" in flags or told or VENDORS.search(firmware)):
        return ""
    clocks = tree.text("sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    by_clock = next((name for clock, name in CLOCKS.items() if clock in clocks), "")
    named = firmware if VENDORS.search(firmware) else ""
    kind = (told or named or by_clock or N_("of unknown kind")).strip("\0")
    return reason("yes", kind=kind)


def _firmware(tree: Tree) -> str:
    names = ("sys_vendor", "product_name")
    return " ".join(text for name in names if (text := tree.text(f"sys/class/dmi/id/{name}")))


def container(tree: Tree) -> Finding:
    kind = tree.text("run/systemd/container") or ""
    if not kind and tree.text(".dockerenv") is not None:
        kind = "Docker"
    if not kind and tree.text("run/.containerenv") is not None:
        kind = "Podman"
    if not kind:
        found = re.search(r"docker|kubepods|lxc|libpod", tree.text("proc/1/cgroup") or "")
        kind = found.group() if found else ""
    return judged(
        "container",
        N_("Container"),
        reason("yes", kind=kind) if kind else "no",
        N_("Other containers use the same machine, and this one cannot see all of them."),
        good=not kind,
    )


def steal(tree: Tree) -> Finding:
    key, title = "steal", N_("Stolen CPU time")
    try:
        ticks = [int(part) for part in (tree.text("proc/stat") or "").split("\n")[0].split()[1:9]]
        share = 100 * ticks[7] / sum(ticks)
    except (ValueError, IndexError, ZeroDivisionError):
        return hidden(
            key, title, N_("Whether other machines take time of these processors is open.")
        )
    return judged(
        key,
        title,
        reason("stolen", share=f"{share:.2g}"),
        N_(
            "Other virtual machines took CPU time of this one: expect single runs to be slow "
            "without a cause that could be seen here."
        ),
        good=share <= LITTLE_STEAL,
        number=round(share, 3),
    )


def cores(tree: Tree) -> Finding:
    key, title = "cores", N_("Usable cores")
    usable = usable_cores(tree)
    if usable is None:
        return hidden(key, title, N_("How many cores client and server share is open."))
    quota = cpu_quota(tree)
    value = reason("threads", n=len(usable))
    online = tree.text(f"{CPU}/online")
    allowed = tree.fields("proc/self/status")["Cpus_allowed_list"]
    if online and online != allowed:
        value = reason("threads-of", threads=value, numbers=allowed, online=online)
    if quota is not None and quota < len(usable):
        return judged(
            key,
            title,
            reason("threads-limited", threads=value, quota=f"{quota:g}"),
            N_(
                "When the allowed time is used up, the kernel stops client and server for the "
                "rest of a tenth of a second or so: expect peaks in the highest latencies."
            ),
            good=False,
        )
    return judged(
        key,
        title,
        value,
        N_(
            "Client and server compete for so few cores: a store whose client or server works more "
            "looks slower than it would on a larger machine."
        ),
        good=len(usable) >= ENOUGH_CORES,
    )


def governor(tree: Tree) -> Finding:
    key, title = "governor", N_("Frequency governor")
    found = tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor")
    if not found:
        return hidden(
            key,
            title,
            N_(
                "No frequency governor (the kernel's rule for the clock of the processor) is "
                "visible: expect differences between runs, since the clock may change while it "
                "measures."
            ),
        )
    value = ", ".join(found)
    if drivers := tree.values(f"{CPU}/cpu[0-9]*/cpufreq/scaling_driver"):
        value = reason("governor", governor=value, driver=", ".join(drivers))
    return judged(
        key,
        title,
        value,
        N_(
            "The clock falls while a core is idle and rises late: expect slow beginnings and lower "
            "values at low load. The governor 'performance' keeps it high."
        ),
        good=found == ["performance"],
    )


def turbo(tree: Tree) -> Finding:
    key, title = "turbo", N_("Turbo clock")
    no_turbo = tree.text(f"{CPU}/intel_pstate/no_turbo")
    boost = tree.text(f"{CPU}/cpufreq/boost")
    if no_turbo not in ("0", "1") and boost not in ("0", "1"):
        return hidden(
            key,
            title,
            N_(
                "Whether the clock rises for a short time (turbo) is open: expect first runs on a"
                " cool processor to be faster, if it does."
            ),
        )
    off = no_turbo == "1" if no_turbo in ("0", "1") else boost == "0"
    return judged(
        key,
        title,
        N_("off") if off else N_("on"),
        N_(
            "The clock rises while the processor is cool and few cores work: expect the first runs "
            "and those with idle cores to be faster."
        ),
        good=off,
    )


def threads_of_a_core(tree: Tree) -> Finding:
    key, title = "smt", N_("Threads per core (SMT)")
    active = tree.text(f"{CPU}/smt/active")
    if active not in ("0", "1"):
        return hidden(key, title, N_("Whether two of the usable cores are one core is open."))
    return judged(
        key,
        title,
        N_("two or more") if active == "1" else N_("one"),
        N_(
            "Two hardware threads share the parts of one core: client and server slow each other "
            "down when the kernel puts them on the same core."
        ),
        good=active == "0",
    )


def throttling(tree: Tree) -> Finding:
    key, title = "throttling", N_("Slowed down by heat")
    names = tree.names(f"{CPU}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    counts = [count for name in names if (count := tree.number(name)) is not None]
    if not counts:
        return hidden(
            key,
            title,
            N_("Whether the processor gets too hot and slows itself down is open."),
        )
    # A package tells its count on each of its cores, so the largest stands for all.
    most = max(counts)
    return judged(
        key,
        title,
        reason("throttled", n=most) if most else N_("never"),
        N_(
            "The processor got too hot and slowed itself down: expect long runs and late runs to "
            "be slower."
        ),
        good=not most,
        number=most,
    )


def nodes(tree: Tree) -> Finding:
    key, title = "numa", N_("Memory nodes (NUMA)")
    found = tree.names("sys/devices/system/node/node[0-9]*")
    if not found:
        return hidden(key, title, N_("Whether some memory is farther from some cores is open."))
    return judged(
        key,
        title,
        str(len(found)),
        N_(
            "Memory of another node is slower, and the kernel may place server and client anew in"
            " each run: expect some runs to be slower than others."
        ),
        good=len(found) == 1,
    )


def mitigations(tree: Tree) -> Finding:
    key, title = "mitigations", N_("Mitigations")
    names = tree.names(f"{CPU}/vulnerabilities/*")
    if not names:
        return hidden(
            key,
            title,
            N_(
                "Which protections against faults of the processor slow down its system calls is "
                "open."
            ),
        )
    active = [name.rsplit("/", 1)[1] for name in names if "itigation" in (tree.text(name) or "")]
    return judged(
        key,
        title,
        reason("active", n=len(active), names=", ".join(active)) if active else N_("none active"),
        N_(
            "Protections against faults of the processor make system calls slower: do not compare "
            "values with those of a machine that has others."
        ),
        good=not active,
    )


def clock_source(tree: Tree) -> Finding:
    key, title = "clock_source", N_("Clock source")
    name = tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not name:
        return hidden(key, title, N_("What reading the time costs in each operation is open."))
    cheap = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
    return judged(
        key,
        title,
        name,
        N_(
            "Reading the time is slow with this clock, and the client reads it twice for each "
            "operation: expect all latencies to be too long by that."
        ),
        good=name in cheap,
    )
