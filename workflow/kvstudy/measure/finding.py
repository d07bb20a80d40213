"""What was looked at on the machine, and what it does to measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kvstudy.language.current import N_
from kvstudy.measure.kernel import NOT_VISIBLE


class Words(NamedTuple):
    """What a finding is called, and what follows when it is not good and when it is hidden."""

    title: str
    bad: str
    hidden: str


# Where "bad" is empty, nothing is bad or it depends on what was seen.
WORDS = {
    "virtual_machine": Words(
        N_("Virtual machine"),
        N_(
            "A virtual machine shares its processors with others that cannot be seen from here: "
            "expect slow and fast spells, and compare only values measured close together."
        ),
        N_("If this is a virtual machine, others that cannot be seen share its processors."),
    ),
    "container": Words(
        N_("Container"),
        N_("Other containers use the same machine, and this one cannot see all of them."),
        "",
    ),
    "steal": Words(
        N_("Stolen CPU time"),
        N_(
            "Other virtual machines took CPU time of this one: expect single runs to be slow "
            "without a cause that could be seen here."
        ),
        N_("Whether other machines take time of these processors is open."),
    ),
    "load": Words(
        N_("Other work at the moment"),
        N_(
            "Other programs use the processors: expect lower throughput and longer latencies than"
            " on an idle machine, in some runs more than in others."
        ),
        N_("What else runs on this machine is open."),
    ),
    "load_average": Words(
        N_("Load of the last minute"),
        N_(
            "Other programs have used the processors in the last minute: end them before measuring."
        ),
        N_("What else ran on this machine is open."),
    ),
    "cores": Words(
        N_("Usable cores"),
        N_(
            "Client and server compete for so few cores: a store whose client or server works "
            "more looks slower than it would on a larger machine."
        ),
        N_("How many cores client and server share is open."),
    ),
    "governor": Words(
        N_("Frequency governor"),
        N_(
            "The clock falls while a core is idle and rises late: expect slow beginnings and "
            "lower values at low load. The governor 'performance' keeps it high."
        ),
        N_(
            "No frequency governor (the kernel's rule for the clock of the processor) is visible:"
            " expect differences between runs, since the clock may change while it measures."
        ),
    ),
    "turbo": Words(
        N_("Turbo clock"),
        N_(
            "The clock rises while the processor is cool and few cores work: expect the first "
            "runs and those with idle cores to be faster."
        ),
        N_(
            "Whether the clock rises for a short time (turbo) is open: expect first runs on a "
            "cool processor to be faster, if it does."
        ),
    ),
    "smt": Words(
        N_("Threads per core (SMT)"),
        N_(
            "Two hardware threads share the parts of one core: client and server slow each other "
            "down when the kernel puts them on the same core."
        ),
        N_("Whether two of the usable cores are one core is open."),
    ),
    "throttling": Words(
        N_("Slowed down by heat"),
        N_(
            "The processor got too hot and slowed itself down: expect long runs and late runs to "
            "be slower."
        ),
        N_("Whether the processor gets too hot and slows itself down is open."),
    ),
    "power": Words(
        N_("Power supply"),
        N_(
            "On battery the processor is kept slow to save energy, and slower as it empties: plug"
            " the power in and measure again."
        ),
        N_("If this is a laptop on battery, its clock is held low."),
    ),
    "numa": Words(
        N_("Memory nodes (NUMA)"),
        N_(
            "Memory of another node is slower, and the kernel may place server and client anew in"
            " each run: expect some runs to be slower than others."
        ),
        N_("Whether some memory is farther from some cores is open."),
    ),
    "mitigations": Words(
        N_("Mitigations"),
        N_(
            "Protections against faults of the processor make system calls slower: do not compare"
            " values with those of a machine that has others."
        ),
        N_("Which protections against faults of the processor slow down its system calls is open."),
    ),
    "clock_source": Words(
        N_("Clock source"),
        N_(
            "Reading the time is slow with this clock, and the client reads it twice for each "
            "operation: expect all latencies to be too long by that."
        ),
        N_("What reading the time costs in each operation is open."),
    ),
    "memory_limit": Words(
        N_("Memory limit"),
        N_(
            "Client, server and the files that they read share this limit: a store with more data"
            " is slowed down or ended."
        ),
        N_("Whether a limit ends a server that grows is open."),
    ),
    "swap": Words(
        N_("Swap"),
        N_(
            "The kernel has moved memory to the disk: expect single operations that take "
            "milliseconds when a part of it is needed again."
        ),
        N_("Whether the kernel moves memory to the disk is open."),
    ),
    "huge_pages": Words(
        N_("Transparent huge pages"),
        N_(
            "The kernel puts small pages of memory together to large ones while a server runs: "
            "expect peaks in its highest latencies and more memory in use."
        ),
        N_("Whether the kernel puts small pages of memory together to large is open."),
    ),
    "pressure": Words(
        N_("Pressure information"),
        "",
        N_(
            "The kernel does not count how long programs wait for CPU, memory and disk: the "
            "report cannot tell it either."
        ),
    ),
    "disk": Words(
        N_("Disk"),
        "",
        N_("What a store waits for when it writes is open."),
    ),
    "disk_space": Words(
        N_("Free disk space"),
        N_("A full disk ends a measurement, and some file systems are slow when little is free."),
        N_("A full disk ends a measurement."),
    ),
    "open_files": Words(
        N_("Limit of open files"),
        N_("A store that needs more files or connections fails or works with fewer."),
        N_("Whether a store may open enough files is open."),
    ),
    "kernel": Words(
        N_("Kernel"),
        "",
        N_("Values of another kernel cannot be told from these."),
    ),
}


@dataclass(frozen=True)
class Finding:
    """What was looked at (``key``, ``title``), its ``value``, and what follows from it.

    ``value`` is a text of ``language.reasons``; ``good`` is None when nothing could be read.
    ``consequence`` is a sentence, empty when the finding is good. ``number`` puts values that
    change in order.
    """

    key: str
    title: str
    value: str
    good: bool | None
    consequence: str = ""
    number: float | None = None

    @classmethod
    def of(cls, key: str, seen: Seen | None) -> Finding:
        """What cannot be read is said so, never guessed."""
        title, bad, hidden = WORDS[key]
        if seen is None:
            return cls(key, title, NOT_VISIBLE, None, hidden)
        consequence = "" if seen.good else seen.consequence or bad
        return cls(key, title, seen.value, seen.good, consequence, seen.number)


class Seen(NamedTuple):
    """What a look saw; ``consequence`` where it is not that of ``WORDS``."""

    value: str
    good: bool | None
    number: float | None = None
    consequence: str = ""
