"""A comparison as plain text for the terminal, and as a PDF."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.present.comparison.compare import Comparison
from kvstudy.present.comparison.runs import RecordedRun, marks, sizes, speed
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
    sides = [side for side, run in (("A", found.a), ("B", found.b)) if run.study.imported]
    if not sides:
        return ""
    runs = "Runs A and B have" if len(sides) > 1 else f"Run {sides[0]} has"
    return (
        f"{runs} imported logs, whose repetitions only share a number: there the geometric means "
        "of all runs of each store are divided. "
    )


def about_absolute() -> str:
    return (
        "Both runs say that they are of one machine: the same CPU, cores and memory. (Two machines "
        "of one type look the same.) Geometric means in operations per second; the change is B by "
        f"A with Welch's 95{NB}% interval on logarithms. The interval knows the spread of the "
        "repetitions of each run only. What differed between the two times of measurement, such as "
        "another load of the machine, is part of the change."
    )


def about_orders() -> str:
    return (
        "Stores by their mean throughput; = between neighbours that are equal within ±10 %, ~ "
        "where the repetitions leave them undecided (ratio paired by repetition, but for imported "
        "logs; Holm's correction for the pairs of a workload). A pair of stores has neither order "
        "when one of the runs shows the two equal or leaves them undecided."
    )


def order_line(found: Comparison, row) -> str:
    """``run A: Redis > Memcached; run B: ...; of 1 pair, 1 in the same order, ...``."""
    of = "1 pair" if row.pairs == 1 else f"{row.pairs} pairs"
    return (
        f"run A: {_titled(found, row.order_a)}; run B: {_titled(found, row.order_b)}; of {of}, "
        f"{row.same} in the same order, {row.opposite} in the opposite, "
        f"{row.neither} in neither"
    )


def _titled(found: Comparison, order: str) -> str:
    """``order`` with the stores' titles."""
    words = order.split(" ")
    return " ".join(found.title(word) if word in found.stores else word for word in words)


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
    blocks = [_runs(found), _differences(found), _left_out(found)]
    if found.base is not None:
        blocks.append(_relative(found))
    if len(found.orders):
        blocks.append(_orders(found))
    blocks.append(_absolute(found))
    return "\n\n".join(blocks) + "\n"


def _runs(found: Comparison) -> str:
    return "\n".join(f"Run {side}  {run.folder}: {span(run)}" for side, run in _both(found))


def _differences(found: Comparison) -> str:
    rows = found.facts[found.facts["same"] == "no"]
    same = ", ".join(found.facts.loc[found.facts["same"] == "yes", "what"])
    lines = ["What differs"]
    for row in rows.itertuples():
        lines += _wrapped(f"  {row.what}: ", f"{row.a}  ->  {row.b}")
    if rows.empty:
        lines.append("  nothing that the runs record")
    return "\n".join([*lines, *_wrapped("  The same: ", same or "nothing")])


def _left_out(found: Comparison) -> str:
    lines = ["What is not compared"]
    for row in found.left_out.itertuples():
        lines += _wrapped(f"  {place_of(row)}: ", row.reason)
    return "\n".join(lines if len(found.left_out) else [*lines, "  nothing is left out"])


def _relative(found: Comparison) -> str:
    base = found.title(found.base)
    head = ["workload", "store", f"run A, by {base}", f"run B, by {base}", "n", *CHANGE]
    title = f"Throughput by that of {base}, and its change from A to B"
    return _part(title, head, _relative_rows(found), [about_relative(found), MARKS])


def _absolute(found: Comparison) -> str:
    title = "Throughput itself, and its change from A to B"
    if found.two_machines:
        reason = f"Left out: {found.two_machines}. Absolute rates compare on one machine only."
        return "\n".join([title, *_wrapped("  ", reason)])
    head = ["workload", "store", "run A (ops/s)", "run B (ops/s)", "n", *CHANGE]
    notes = [about_absolute()] + ([] if found.base else [MARKS])
    return _part(f"{title} (one machine)", head, _absolute_rows(found), notes)


def _relative_rows(found: Comparison) -> list[list[str]]:
    return _rows(found, found.changes, "ratio", significant)


def _absolute_rows(found: Comparison) -> list[list[str]]:
    return _rows(found, found.throughputs, "throughput", speed)


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


def _orders(found: Comparison) -> str:
    lines = ["Order of the stores by throughput"]
    for row in found.orders.itertuples():
        label = found.workloads[row.workload, row.parameters]
        lines += _wrapped(f"  {label}: ", order_line(found, row))
    return "\n".join([*lines, *_wrapped("  ", about_orders())])


CHANGE = ["change", "95 % interval", ""]


def _part(title: str, head: list[str], rows: list[list[str]], notes: list[str]) -> str:
    table = _grid(head, rows) if rows else ["  nothing to compare"]
    return "\n".join([title, *table, *(line for note in notes for line in _wrapped("  ", note))])


def _grid(head: Sequence[str], rows: list[list[str]]) -> list[str]:
    """Columns as wide as their longest cell: the first two to the left, the others right."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    return [
        (
            "  "
            + "  ".join(
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        ).rstrip()
        for row in [head, *rows]
    ]


def _wrapped(head: str, text: str) -> list[str]:
    """``text`` behind ``head``; its further lines are indented."""
    further = "  " if not head.strip() else "      "
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(head + text, WIDTH, subsequent_indent=further, **whole)


def _both(found: Comparison) -> list[tuple[str, object]]:
    return [("A", found.a), ("B", found.b)]


TEMPLATE = Path("report/templates/compared-runs.tex.j2")
DOCUMENT = "comparison"
# A table does not break over pages: longer ones are set in parts.
MOST_ROWS = 20
# Longest word of a narrow column, and of the pieces that a longer one breaks into.
NARROW = (10, 6)


def build_document(found: Comparison, forests: list[Path], output: Path) -> Path:
    """Write the LaTeX source into ``output``/latex and build ``output``/comparison.pdf.

    ``forests`` are the figures in ``output``. KvstudyError when TeX finds a fault.
    """
    source = output / "latex"
    source.mkdir(parents=True, exist_ok=True)
    main = source / f"{DOCUMENT}.tex"
    # Beside the source, so without anything of the user's in their path.
    figures = [Latex(f"../{path.name}") for path in forests]
    main.write_text(fill(TEMPLATE, **_content(found, figures)), encoding="utf-8")
    pdf = output / f"{DOCUMENT}.pdf"
    build_pdf(main, source / "build", pdf)
    return pdf


def _content(found: Comparison, figures: list[Latex]) -> dict[str, object]:
    names = [found.a.name, found.b.name]
    facts = found.facts
    differ = facts[facts["same"] == "no"]
    base = found.title(found.base) if found.base else ""
    return {
        "title": "Two runs compared",
        "subject": f"{names[0]} and {names[1]}",
        "run": "",
        "columns": COLUMNS,
        "runs": [(side, _split(run.folder.as_posix()), span(run)) for side, run in _both(found)],
        "differences": _pages([[row.what, row.a, row.b] for row in differ.itertuples()]),
        "same": _split(", ".join(facts.loc[facts["same"] == "yes", "what"])),
        "left_out": _pages([[place_of(row), row.reason] for row in found.left_out.itertuples()]),
        "base": base,
        "relative": _on_paper(_relative_rows(found)),
        "about_relative": about_relative(found) if base else "",
        "marks": MARKS,
        "figures": figures,
        "orders": [
            (found.workloads[row.workload, row.parameters], order_line(found, row))
            for row in found.orders.itertuples()
        ],
        "about_orders": about_orders(),
        "two_machines": found.two_machines,
        "absolute": _on_paper(_absolute_rows(found)),
        "about_absolute": about_absolute(),
    }


def _on_paper(rows: list[list[str]]) -> list[list[list[str]]]:
    """Rows for narrow columns; repetitions are said once where both runs have as many."""
    shown = []
    for workload, store, a, b, n, *change in rows:
        one, other = n.split(", ")
        title = " ".join(breakable(word, *NARROW) for word in store.split())
        shown.append([workload, title, a, b, one if one == other else n, *change])
    return _pages(shown)


def _pages(rows: list[list[str]]) -> list[list[list[str]]]:
    """``rows`` with places to break in long words, in parts that fit on a page."""
    rows = [[_split(cell) for cell in row] for row in rows]
    return [rows[start : start + MOST_ROWS] for start in range(0, len(rows), MOST_ROWS)]


def _split(text: str) -> str:
    return " ".join(breakable(word) for word in text.split())
