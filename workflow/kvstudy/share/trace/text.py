"""A chain as text of 80 columns."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections import defaultdict
from typing import Any

from kvstudy.language.reasons import sentence
from kvstudy.share.trace.chain import WHOLE, Chain, RatioChain, Repetition
from kvstudy.study.raw import SUMS

WIDTH = 80


def chain_lines(chain: Chain) -> list[str]:
    """The value, then each repetition down to its lines."""
    address = chain.address
    of = "the whole phase" if address.operation == WHOLE else address.operation
    lines = wrapped(
        f"{address.store}, workload {address.workload}, {address.parameters}: "
        f"{address.metric} of {of}"
    )
    counted = sum(each.counts for each in chain.repetitions)
    what = f"n {counted} of {len(chain.repetitions)} planned"
    if math.isnan(chain.mean):
        lines.append(f"  no value, {what}")
    else:
        spread = "no spread of one run" if math.isnan(chain.sd) else f"sd {number(chain.sd)}"
        if not math.isnan(chain.geometric):
            lines.append(f"  geometric mean {number(chain.geometric)} {chain.unit}")
        lines += [f"  mean {number(chain.mean)} {chain.unit}", f"  {spread}, {what}"]
    if chain.place:
        lines.append(f"  {chain.place}")
    elif not math.isnan(chain.mean):
        lines += wrapped("not in summary.csv, which has no controls and no fixed rates", "  ")
    for why, group in itertools.groupby(chain.repetitions, key=lambda each: each.why):
        several = list(group)
        if why and not any(each.made_of for each in several):
            # All for one reason, such as a server that is not here.
            names = ", ".join(f"rep{each.repetition}" for each in several)
            lines += ["", *wrapped(f"{names}  not counted"), *wrapped(why, "  ")]
        else:
            lines += [line for each in several for line in ["", *_repetition(each, chain)]]
    return lines


def ratio_lines(ratio: RatioChain) -> list[str]:
    """The ratio, its pairs, then both sides."""
    lines = wrapped(
        f"{ratio.faster} by {ratio.slower}, workload {ratio.workload}, {ratio.parameters}: "
        "ratio of throughput"
    )
    interval = ""
    if not math.isnan(ratio.low):
        interval = f", 95 % interval {number(ratio.low)} to {number(ratio.high)}"
    lines += wrapped(f"{number(ratio.ratio)}{interval}", "  ")
    lines.append(f"  {ratio.place}")
    if ratio.paired:
        lines.append(f"  the geometric mean of {len(ratio.pairs)} pairs:")
        lines += [f"    rep{repetition}  {number(value)}" for repetition, value in ratio.pairs]
    else:
        lines += wrapped(
            "the geometric means by each other; repetitions of imported logs are no pairs", "  "
        )
    return lines + [line for side in ratio.chains for line in ["", *chain_lines(side)]]


def part_lines(title: str, part: dict[str, Any]) -> list[str]:
    """A table or figure with its files, cells and probes, as ``provenance.part_of`` gives it."""
    lines = [title]
    for path, digest in part["files"].items():
        lines += [f"  {path}", f"    sha256 {digest}"]
    if not part["cells"] and not part["probes"]:
        return [*lines, *wrapped("No cell and no probe goes into it.", "  ")]
    lines += ["", *wrapped(f"Cells, each with the sha256 of its {SUMS}:")]
    before = ""
    reasons: dict[str, list[str]] = defaultdict(list)
    for cell in part["cells"]:
        setting, _, repetition = cell["cell"].rpartition("/")
        if not cell["sums"]:
            reasons[sentence(cell["why"]) or "the raw logs are not here"].append(cell["cell"])
            continue
        if setting != before:
            lines.append(f"  {setting}")
            before = setting
        why = wrapped(sentence(cell["why"]), "          ")
        lines += [f"    {repetition}  {cell['sums']}", *why]
    lines += [] if before else ["  none"]
    for why, paths in reasons.items():
        lines += ["", *wrapped(why[0].upper() + why[1:]), *(f"  {path}" for path in paths)]
    lines += ["", "Probes:"] if part["probes"] else []
    for store, sums in part["probes"].items():
        lines += [f"  {store}", f"    {sums or 'was not probed'}"]
    return lines


def problem_lines(problems: list[str]) -> list[str]:
    """Return the differences, for the end of the output."""
    if not problems:
        return []
    lines = [line for problem in problems for line in wrapped(problem, "  ", "    ")]
    return ["", "What does not fit:", *lines]


def number(value: float) -> str:
    """All digits that a file has; thousands stay together for copying."""
    return f"{value:.10g}" if abs(value) < 1e15 else repr(value)


def wrapped(text: str, first: str = "", further: str | None = None) -> list[str]:
    """Lines of at most 80 columns; a path is never broken."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _repetition(each: Repetition, chain: Chain) -> list[str]:
    head = f"rep{each.repetition}  {'counted' if each.counts else 'not counted'}"
    several = len(each.made_of) > 1
    if not math.isnan(each.value):
        head += f", {number(each.value)} {chain.unit}"
        if several:
            total = chain.address.metric in ("operations", "failed")
            head += f", the {'sum' if total else 'mean'} of {len(each.made_of)}"
    lines = [head, *wrapped(each.why, "  ")]
    for value in each.made_of:
        text = f"{value.cell}, {value.operation}: {number(value.value)} {value.unit}"
        lines += [*wrapped(text if several else "", "  "), f"  {value.place}"]
        for source in value.sources:
            lines.append(f"  {source.path}")
            lines += [f"    sha256 {source.sha256}"] if source.sha256 else []
            lines += wrapped(source.problem, "    ! ")
            for line in source.lines:
                lines += wrapped(f"line {line.number}: {line.text}", "    ", "      ")
    return lines
