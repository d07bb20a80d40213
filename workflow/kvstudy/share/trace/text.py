"""A chain as text of 80 columns."""

from __future__ import annotations

import itertools
import math
import textwrap

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import path_of, why_not
from kvstudy.share.trace.address import WHOLE
from kvstudy.share.trace.chain import Chain, Repetition, Value
from kvstudy.share.trace.provenance import files_of
from kvstudy.share.trace.ratios import RatioChain
from kvstudy.study.raw import SUMS, sums_digest

WIDTH = 80


def chain_lines(found: Chain) -> list[str]:
    """The value, then each repetition down to its lines."""
    address = found.address
    of = "the whole phase" if address.operation == WHOLE else address.operation
    lines = wrapped(
        f"{address.store}, workload {address.workload}, {address.parameters}: "
        f"{address.metric} of {of}"
    )
    counted = sum(each.counts for each in found.repetitions)
    what = f"n {counted} of {len(found.repetitions)} planned"
    if math.isnan(found.mean):
        lines.append(f"  no value, {what}")
    else:
        lines += [f"  mean {number(found.mean)} {found.unit}"]
        spread = "no spread of one run" if math.isnan(found.sd) else f"sd {number(found.sd)}"
        lines += [f"  {spread}, {what}"]
    if found.place:
        lines.append(f"  {found.place}")
    elif not math.isnan(found.mean):
        lines += wrapped("not in summary.csv, which has no controls and no fixed rates", "  ")
    for why, group in itertools.groupby(found.repetitions, key=lambda each: each.why):
        several = list(group)
        if why and not any(each.made_of for each in several):
            # All for one reason, such as a server that is not here.
            names = ", ".join(f"rep{each.repetition}" for each in several)
            lines += ["", *wrapped(f"{names}  not counted"), *wrapped(why, "  ")]
            continue
        for each in several:
            lines += ["", *_repetition(each, found)]
    return lines


def ratio_lines(found: RatioChain) -> list[str]:
    """The ratio, its pairs, then both sides."""
    lines = wrapped(
        f"{found.faster} by {found.slower}, workload {found.workload}, {found.parameters}: "
        "ratio of throughput"
    )
    interval = ""
    if not math.isnan(found.low):
        interval = f", 95 % interval {number(found.low)} to {number(found.high)}"
    lines += wrapped(f"{number(found.ratio)}{interval}", "  ")
    lines.append(f"  {found.place}")
    if found.paired:
        lines.append(f"  the geometric mean of {len(found.pairs)} pairs:")
        lines += [f"    rep{repetition}  {number(value)}" for repetition, value in found.pairs]
    else:
        lines += wrapped(
            "the geometric means by each other; repetitions of imported logs are no pairs", "  "
        )
    for side in found.chains:
        lines += ["", *chain_lines(side)]
    return lines


def part_lines(
    run: Run,
    kind: str,
    name: str,
    cells: list[tuple[str, str, str]],
    probes: list[tuple[str, str]],
) -> list[str]:
    """A table or figure with its ``cells`` (``cells_of``) and ``probes`` (``probes_of``)."""
    lines = [f"{kind} {name} of {run.name}"]
    for path, digest in files_of(run, kind, name).items():
        lines += [f"  {path}", f"    sha256 {digest}"]
    if not cells and not probes:
        return [*lines, *wrapped("No cell and no probe goes into it.", "  ")]
    lines += ["", *wrapped(f"Cells, each with the sha256 of its {SUMS}:")]
    before = ""
    reasons: dict[str, list[str]] = {}
    for path, digest, why in cells:
        setting, _, repetition = path.rpartition("/")
        if not digest:
            reasons.setdefault(why, []).append(path)
            continue
        if setting != before:
            lines.append(f"  {setting}")
            before = setting
        lines.append(f"    {repetition}  {digest}")
        lines += wrapped(why, "          ")
    if not before:
        lines.append("  none")
    for why, paths in reasons.items():
        lines += ["", *wrapped(why[0].upper() + why[1:]), *(f"  {path}" for path in paths)]
    if probes:
        lines += ["", "Probes:"]
        for store, digest in probes:
            lines += [f"  {store}", f"    {digest or 'was not probed'}"]
    return lines


def problem_lines(problems: list[str]) -> list[str]:
    """What does not fit, at the end where it is seen."""
    if not problems:
        return []
    return [
        "",
        "What does not fit:",
        *(line for problem in problems for line in wrapped(problem, "  ", "    ")),
    ]


def number(value: float) -> str:
    """All digits that a file has; thousands stay together for copying."""
    return f"{value:.10g}" if abs(value) < 1e15 else repr(value)


def wrapped(text: str, first: str = "", further: str | None = None) -> list[str]:
    """Lines of at most 80 columns; a path is never broken."""
    further = first if further is None else further
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _repetition(each: Repetition, found: Chain) -> list[str]:
    head = f"rep{each.repetition}  {'counted' if each.counts else 'not counted'}"
    if not math.isnan(each.value):
        head += f", {number(each.value)} {found.unit}"
        if len(each.made_of) > 1:
            total = found.address.metric in ("operations", "failed")
            head += f", the {'sum' if total else 'mean'} of {len(each.made_of)}"
    lines = [head, *wrapped(each.why, "  ")]
    for value in each.made_of:
        lines += _value(value, several=len(each.made_of) > 1)
    return lines


def _value(value: Value, several: bool) -> list[str]:
    lines = []
    if several:
        lines += wrapped(
            f"{value.cell}, {value.operation}: {number(value.value)} {value.unit}", "  "
        )
    lines.append(f"  {value.place}")
    for source in value.sources:
        lines.append(f"  {source.path}")
        lines += [f"    sha256 {source.sha256}"] if source.sha256 else []
        lines += wrapped(source.problem, "    ! ")
        for line in source.lines:
            lines += wrapped(f"line {line.number}: {line.text}", "    ", "      ")
    return lines


def cells_of(run: Run, paths: list[str]) -> list[tuple[str, str, str]]:
    """Path, sha256 of SHA256SUMS and, for one that is in no mean, the reason."""
    rows = {path_of(row): row for row in run.all_cells.itertuples()}
    return [
        (
            path,
            sums_digest(run.raw / path) if rows[path].status == "measured" else "",
            why_not(rows[path]),
        )
        for path in sorted(paths)
        if path in rows
    ]


def probes_of(run: Run, stores: list[str]) -> list[tuple[str, str]]:
    """Store and sha256 of the SHA256SUMS of its probe."""
    return [(store, sums_digest(run.raw.parent / "probes" / store)) for store in stores]
