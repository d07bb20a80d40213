"""A comparison as plain text for the terminal, and as a PDF."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

import pandas as pd

from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.present.comparison.compare import Comparison
from kvstudy.present.comparison.runs import RecordedRun, marks, sizes
from kvstudy.present.report.build import build_pdf
from kvstudy.present.report.transcript import COLUMNS
from kvstudy.present.typeset.latex import Latex, breakable, fill
from kvstudy.present.typeset.table import interval
from kvstudy.stats.ratios import MARGIN

# Between a number and its sign, so that no line breaks there.
NB = "\N{NARROW NO-BREAK SPACE}"
MARKS = (
    "~: undecided, the runs tell neither a change nor that there is none; about as many "
    "repetitions of each run as stand behind it would decide. Of many rows some differ by chance, "
    "so Holm's correction for the number of rows makes this stricter than the interval by itself "
    f"(level 5{NB}%). =: equal, the whole interval is within ±{MARGIN * 100:.0f}{NB}% "
    f"({1 / (1 + MARGIN):.3f} to {1 + MARGIN:g}; two one-sided tests at 2.5{NB}% each), "
    "even if the change itself is told. No mark: different. ?: a run has one repetition, so "
    "nothing is known of its spread."
)


def about_relative(found: Comparison) -> str:
    base = found.title(found.base)
    return (
        f"Within each run, a store's throughput is divided by that of {base}, repetition by "
        "repetition, so what makes a machine faster for all stores alike cancels out. The columns "
        f"of run A and run B are geometric means of these ratios. {_imported(found)}"
        f"The change is B by A: 1.5 means that the store gained half against {base}. A slower "
        f"{base} looks the same as faster others. The 95{NB}% interval (of 100 such intervals, "
        "about 95 hold the true change) is Welch's: a t interval for independent means on "
        "logarithms, whose runs may spread differently. n is the number of repetitions in A and "
        "in B."
    )


def _imported(found: Comparison) -> str:
    """What is not paired, if anything; with a space behind it."""
    sides = [side for side, run in _both(found) if run.study.imported]
    if not sides:
        return ""
    runs = "Runs A and B have" if len(sides) > 1 else f"Run {sides[0]} has"
    return (
        f"{runs} imported logs, whose repetitions only share a number: there the geometric means "
        "of all runs of each store are divided. "
    )


ABOUT_ABSOLUTE = (
    "Both runs say that they are of one machine: the same CPU, cores and memory. (Two machines "
    "of one type look the same.) Geometric means in operations per second; the change is B by "
    f"A with Welch's 95{NB}% interval on logarithms. The interval knows the spread of the "
    "repetitions of each run only. What differed between the two times of measurement, such as "
    "another load of the machine, is part of the change."
)
ABOUT_ORDERS = (
    "Stores by their mean throughput; = between neighbours that are equal within ±10 %, ~ "
    "where the repetitions leave them undecided (ratio paired by repetition, but for imported "
    "logs; Holm's correction for the pairs of a workload). A pair of stores has neither order "
    "when one of the runs shows the two equal or leaves them undecided."
)


def order_lines(found: Comparison) -> list[tuple[str, str]]:
    """Of each workload ``run A: Redis > Memcached; run B: ...; of 1 pair, 1 in the same ...``."""
    lines = []
    for row in found.orders.itertuples():
        orders = (
            " ".join(found.title(word) if word in found.stores else word for word in of.split(" "))
            for of in (row.order_a, row.order_b)
        )
        text = (
            "run A: {}; run B: {}; of {}, {} in the same order, {} in the opposite, {} in neither"
        )
        pairs = "1 pair" if row.pairs == 1 else f"{row.pairs} pairs"
        text = text.format(*orders, pairs, row.same, row.opposite, row.neither)
        lines.append((found.workloads[row.workload, row.parameters], text))
    return lines


def different(found: Comparison) -> list[tuple[str, str, str]]:
    """What differs between the runs: what, in A, in B."""
    rows = found.facts.query("same == 'no'")
    return list(rows[["what", "a", "b"]].itertuples(index=False, name=None))


def same(found: Comparison) -> str:
    return ", ".join(found.facts.query("same == 'yes'")["what"])


def place_of(row) -> str:
    """Which run, workload, store and repetitions a row of what is left out is about."""
    side = "both runs" if row.run == "both" else f"run {row.run}"
    workload = f"workload {row.workload}" if row.workload else ""
    repetitions = f"repetition {row.repetitions}" if row.repetitions else ""
    parts = [side, row.store, workload, row.parameters and sizes(row.parameters), repetitions]
    return ", ".join(part for part in parts if part)


def span(run: RecordedRun) -> str:
    """``measured 2 November 2026, 16:05 to 16:09 (UTC), 12 of 12 cells count``."""
    counts = f"{run.counted} of {len(run.cells)} cells count"
    try:
        started = sorted(datetime.fromisoformat(text) for text in run.cells["started"] if text)
    except (ValueError, TypeError):
        started = []
    if not started:
        return f"time not recorded, {counts}"
    first, last = started[0], started[-1]
    until = "" if f"{first:%H:%M}" == f"{last:%H:%M}" else f" to {last:%H:%M}"
    if first.date() != last.date():
        until = f" to {_day(last)}, {last:%H:%M}"
    zone = f" ({first.tzname()})" if first.tzinfo else ""
    return f"measured {_day(first)}, {first:%H:%M}{until}{zone}, {counts}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


WIDTH = 100


def as_text(found: Comparison) -> str:
    """All parts, what differs first."""
    runs = [f"Run {side}  {run.folder}: {span(run)}" for side, run in _both(found)]
    differences = [(f"{what}: ", f"{a}  ->  {b}") for what, a, b in different(found)]
    differences = _wrapped(differences) or ["  nothing that the runs record"]
    gaps = _wrapped((f"{place_of(row)}: ", row.reason) for row in found.left_out.itertuples())
    blocks = [
        runs,
        ["What differs", *differences, *_wrapped([("The same: ", same(found) or "nothing")])],
        ["What is not compared", *(gaps or ["  nothing is left out"])],
    ]
    if found.base is not None:
        base = found.title(found.base)
        blocks.append(
            [
                f"Throughput by that of {base}, and its change from A to B",
                *_grid([f"run A, by {base}", f"run B, by {base}"], relative_rows(found)),
                *_wrapped([("", about_relative(found)), ("", MARKS)]),
            ]
        )
    if len(found.orders):
        lines = [(f"{workload}: ", text) for workload, text in order_lines(found)]
        orders = _wrapped([*lines, ("", ABOUT_ORDERS)])
        blocks.append(["Order of the stores by throughput", *orders])
    title = "Throughput itself, and its change from A to B"
    if found.two_machines:
        reason = f"Left out: {found.two_machines}. Absolute rates compare on one machine only."
        blocks.append([title, *_wrapped([("", reason)])])
    else:
        notes = [("", ABOUT_ABSOLUTE), *([] if found.base else [("", MARKS)])]
        table = _grid(["run A (ops/s)", "run B (ops/s)"], absolute_rows(found))
        blocks.append([f"{title} (one machine)", *table, *_wrapped(notes)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def relative_rows(found: Comparison) -> list[list[str]]:
    return _rows(found, found.changes, "ratio", significant)


def absolute_rows(found: Comparison) -> list[list[str]]:
    return _rows(found, found.throughputs, "throughput", lambda rate: grouped(significant(rate)))


def _rows(
    found: Comparison, table: pd.DataFrame, value: str, form: Callable[[float], str]
) -> list[list[str]]:
    """Workload, store, the ``value`` of both runs, repetitions, and the change with its marks."""
    return [
        [
            *(found.workloads[row.workload, row.parameters], found.title(row.store)),
            *(form(getattr(row, f"{value}_{side}")) for side in "ab"),
            f"{row.n_a}, {row.n_b}",
            significant(row.change),
            interval(row.change, row.low, row.high),
            marks(row),
        ]
        for row in table.itertuples()
    ]


def _grid(values: list[str], rows: list[list[str]]) -> list[str]:
    """Columns as wide as their longest cell: the first two to the left, the others right."""
    if not rows:
        return ["  nothing to compare"]
    rows = [["workload", "store", *values, "n", "change", "95 % interval", ""], *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(["", *left, *right]).rstrip())
    return lines


def _wrapped(parts: Iterable[tuple[str, str]]) -> list[str]:
    """Each text behind its head; its further lines are indented."""
    return [
        line
        for head, text in parts
        for line in textwrap.wrap(
            f"  {head}{text}",
            WIDTH,
            subsequent_indent="      " if head else "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _both(found: Comparison) -> list[tuple[str, RecordedRun]]:
    return [("A", found.a), ("B", found.b)]


TEMPLATE = Path("report/templates/compared-runs.tex.j2")
# A table does not break over pages: longer ones are set in parts.
MOST_ROWS = 20
# Longest word of a narrow column, and of the pieces that a longer one breaks into.
NARROW = (10, 6)


def build_document(found: Comparison, forests: list[Path], output: Path) -> Path:
    """Write the LaTeX source into ``output``/latex and build ``output``/comparison.pdf.

    ``forests`` are the figures in ``output``. KvstudyError when TeX finds a fault.
    """
    content = {
        "title": "Two runs compared",
        "subject": f"{found.a.name} and {found.b.name}",
        "run": "",
        "columns": COLUMNS,
        "runs": [(side, _split(run.folder.as_posix()), span(run)) for side, run in _both(found)],
        "differences": _pages(different(found)),
        "same": _split(same(found)),
        "left_out": _pages([[place_of(row), row.reason] for row in found.left_out.itertuples()]),
        "base": found.title(found.base) if found.base else "",
        "relative": _on_paper(relative_rows(found)),
        "about_relative": about_relative(found) if found.base else "",
        "marks": MARKS,
        # Beside the source, so without anything of the user's in their path.
        "figures": [Latex(f"../{path.name}") for path in forests],
        "orders": order_lines(found),
        "about_orders": ABOUT_ORDERS,
        "two_machines": found.two_machines,
        "absolute": _on_paper(absolute_rows(found)),
        "about_absolute": ABOUT_ABSOLUTE,
    }
    source = output / "latex"
    source.mkdir(parents=True, exist_ok=True)
    main = source / "comparison.tex"
    main.write_text(fill(TEMPLATE, **content), encoding="utf-8")
    pdf = output / "comparison.pdf"
    build_pdf(main, source / "build", pdf)
    return pdf


def _on_paper(rows: list[list[str]]) -> list[list[list[str]]]:
    """Rows for narrow columns; repetitions are said once where both runs have as many."""
    shown = []
    for workload, store, a, b, n, *change in rows:
        one, other = n.split(", ")
        title = " ".join(breakable(word, *NARROW) for word in store.split())
        shown.append([workload, title, a, b, one if one == other else n, *change])
    return _pages(shown)


def _pages(rows: list) -> list[list[list[str]]]:
    """``rows`` with places to break in long words, in parts that fit on a page."""
    rows = [[_split(cell) for cell in row] for row in rows]
    return [rows[start : start + MOST_ROWS] for start in range(0, len(rows), MOST_ROWS)]


def _split(text: str) -> str:
    return " ".join(breakable(word) for word in text.split())
