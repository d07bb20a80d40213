"""Sentences that measuring wrote into the files of a run, in the current language.

Files of a run have no language: what stands in them is English. ``PATTERNS`` are the
sentences in which something varies, with ``{}`` for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kvstudy.language.current import N_, NN_, ORIGINAL, _, catalogues, current, ngettext
from kvstudy.language.locale import decimal

PATTERNS = [
    # Where something stands in a source.
    N_("Table {}"),
    N_("Tables {} and {}"),
    N_("Tables {} to {}"),
    N_("Figure {}"),
    N_("Figures {} and {}"),
    N_("Figures {} to {}"),
    N_("Section {}"),
    N_("Page {}"),
    N_("{}, paragraph {}"),
    # Why a cell has no value (measure, tidy).
    N_("no program {} on this machine: {}"),
    N_("kvstudy has no YCSB binding for {} yet"),
    N_("there are no raw logs of it yet"),
    N_("{}: differs from its checksum in SHA256SUMS: it was edited or cut off"),
    N_("SHA256SUMS: lacks {}: either was changed after the cell was measured"),
    N_("{}: cannot be read: {}"),
    N_("failed"),
    N_("void"),
    N_("{} of {} operations failed ({}), more than the {} that the study allows"),
    N_(
        "the server counted {} misses among the {} reads that YCSB calls OK, "
        "more than the {} that the study allows"
    ),
    N_("the server holds {} records after the run, {} were stored and not deleted: {} are lost"),
    N_("the server's counter {} rose by {}: it dropped records while the cell was measured"),
    N_("no probe: {}"),
    N_("probed through another client ({})"),
    N_("the probe found no command that comes with every operation"),
    N_("{} runs of repeated cells; a drift needs at least three"),
    N_("void: {}"),
    # What limits a store (stats.littles_law, analysis.bottleneck).
    N_("start-up or client time dominates: its threads are inside calls only {}% of the time"),
    N_("{}% of what the client reaches without a store"),
    N_("a second client raises the total by {}%"),
    N_("the client uses {} of the {} cores that it may use"),
    N_("client and server use {} of {} cores, and the client {} of them"),
    # What a machine does to measurements (measure.preflight).
    N_("yes"),
    N_("no"),
    N_("none"),
    N_("one"),
    N_("not visible"),
    N_("yes ({})"),
    NN_("{} hardware thread", "{} hardware threads"),
    NN_("{} other thread running", "{} other threads running"),
    N_("{} active ({})"),
    N_("{} % since the machine started"),
    N_("{}, a virtual disk"),
    N_("{}, its kind not visible"),
    N_("{}, rotating"),
    N_("{}, solid state"),
    # What becomes of some repetitions of a setting (tidy.results), and how well a law fits them
    # (stats.scalability).
    N_("{} (repetition {})"),
    N_("not planned"),
    N_("the points are far off the law"),
    N_("contention is at its bound of 1: throughput never rises"),
    N_("the knee at {} threads is beyond the {} that were measured"),
    N_("the knee at {} threads is below the least count of {}"),
    N_("its rate comes from cells that are no longer there: {}"),
    # What a machine consists of (measure.environment).
    N_("OS"),
    N_("CPU"),
    N_("Memory"),
    N_("Java flags"),
    N_("Machine"),
    N_("inside {}"),
    N_("a virtual machine"),
    N_("no swap"),
    N_("{} swap"),
    N_("{}, virtual disk"),
    N_("{}, kind not visible"),
    N_("{} cores, {} hardware threads usable"),
    N_("{} cores, {} hardware threads usable, {} MHz"),
    N_("{} collector, heap of at most {}"),
    N_("native"),
    # What a source's audit checks (audit): names of values, and remarks on them.
    N_("weighted by operations"),
    N_("plain mean"),
    N_("sum"),
    N_("least"),
    N_("most"),
    N_("mean"),
    N_("minimum"),
    N_("maximum"),
    N_("95th percentile"),
    N_("99th percentile"),
    N_("operations, by throughput and run time"),
    N_("operations, by throughput and run time of {}"),
    N_("share of the time in calls, by throughput, mean latency and threads"),
    N_("throughput of N threads, by N times that of one"),
    N_("{}: {} as a mean of {} whole numbers"),
    N_("{}: {} not above {}"),
    N_("{}: mean of {} workloads"),
    N_("{} of {}: {}"),
    N_("sum of the operation counts"),
    N_("operations of {}: sum"),
    N_("scatter of {} counts about the workloads' shares, as means of {} runs (chi-squared)"),
    N_("As if the {} run times had a coefficient of variation of {} %"),
    N_("At this throughput the mean latency is at most {} µs, not {}"),
    N_("Less cannot be, whatever the spread of the runs: the run time makes {} ops/s"),
    N_("{} to {}"),
    N_("Its p-value is {}; as counts of one run each, it is {}"),
    N_("Its p-value is {}; as counts of one run each, it is {}, and all of them are whole numbers"),
    N_("below 0.001"),
    N_(
        "Worst at {} threads, above it at {}: perhaps something else slowed the run with one thread"
    ),
    N_("operations that did not fail, when {} of the {} failed ({})"),
    N_("YCSB counts failed operations apart; both may have been added"),
    # What sources say of stores (properties.yaml of a study).
    N_("atomic"),
    N_("atomic, isolated"),
    N_("high"),
    N_("horizontal"),
    N_("linear"),
    N_("milliseconds"),
    N_("open source"),
    N_("pub/sub"),
    N_("restricted"),
    N_("selectable replication factor"),
    N_("sharding"),
    N_("source-replica, multi-source"),
    # Why a figure lacks a mark (figures).
    N_("without {} of {} sizes, which not every store has"),
    N_("no {} was timed"),
    # What of several parts of a claim is shown, and how many have which verdict.
    N_("some parts {}"),
    N_("mean of {}"),
    N_("smallest of {}"),
    N_("largest of {}"),
    N_("{} reproduced"),
    N_("{} direction only"),
    N_("{} undecided"),
    N_("{} contradicted"),
    N_("{} not measured"),
]


def recorded(text: str) -> str:
    """``text`` from a file, in the current language; itself where nobody translated it."""
    if current() == ORIGINAL or not text:
        return text
    for catalogue in catalogues():
        if (found := catalogue.gettext(text)) != text:
            return found
    for expression, pattern in _expressions():
        if match := expression.fullmatch(text):
            if isinstance(pattern, tuple):
                number = match[1].replace("\N{NARROW NO-BREAK SPACE}", "")
                form = ngettext(*pattern, int(number) if number.isdecimal() else 0)
            else:
                form = _(pattern)
            return form.format(*(recorded(part) for part in match.groups()))
    return text


def recorded_parts(text: str) -> str:
    """As ``recorded``, for several sentences with semicolons between."""
    found = recorded(text)
    return found if found != text else "; ".join(recorded(part) for part in text.split("; "))


def recorded_amounts(text: str) -> str:
    """As ``recorded_parts``; amounts get the decimal mark (5.9 GiB), versions do not."""
    return re.sub(r"\d+\.\d+(?= [GM]iB)", lambda found: decimal(found[0]), recorded_parts(text))


def is_known(text: str) -> bool:
    """Whether the package's catalogue has all of ``text``: a pattern, filled in without words."""
    matches = (expression.fullmatch(text) for expression, _pattern in _expressions())
    return any(
        match and not re.search(r"[^\W\d]{2}", " ".join(match.groups())) for match in matches
    )


@lru_cache
def _expressions() -> list[tuple[re.Pattern[str], str | tuple[str, str]]]:
    """The patterns, those with the most words first: the others fit too much."""
    forms = [
        (form, pattern)
        for pattern in PATTERNS
        for form in (pattern if isinstance(pattern, tuple) else [pattern])
    ]
    forms.sort(key=lambda each: -len(each[0].replace("{}", "")))
    return [
        (re.compile("(.+?)".join(re.escape(part) for part in form.split("{}"))), pattern)
        for form, pattern in forms
    ]
