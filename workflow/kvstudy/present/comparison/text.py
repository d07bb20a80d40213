"""A comparison as plain text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from kvstudy.present.comparison.compare import Comparison
from kvstudy.present.comparison.explained import (
    MARKS,
    about_absolute,
    about_orders,
    about_relative,
    order_line,
    place_of,
    span,
)
from kvstudy.present.comparison.words import interval, marks, number, speed

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
    head = ["workload", "store", f"run A, by {base}", f"run B, by {base}", "n"]
    rows = [
        [
            *_place(found, row),
            number(row.ratio_a),
            number(row.ratio_b),
            f"{row.n_a}, {row.n_b}",
            *_change(row),
        ]
        for row in found.changes.itertuples()
    ]
    title = f"Throughput by that of {base}, and its change from A to B"
    return _part(title, [*head, *CHANGE], rows, [about_relative(found), MARKS])


def _absolute(found: Comparison) -> str:
    title = "Throughput itself, and its change from A to B"
    if found.two_machines:
        reason = f"Left out: {found.two_machines}. Absolute rates compare on one machine only."
        return "\n".join([title, *_wrapped("  ", reason)])
    head = ["workload", "store", "run A (ops/s)", "run B (ops/s)", "n"]
    rows = [
        [
            *_place(found, row),
            speed(row.throughput_a),
            speed(row.throughput_b),
            f"{row.n_a}, {row.n_b}",
            *_change(row),
        ]
        for row in found.throughputs.itertuples()
    ]
    notes = [about_absolute()] + ([] if found.base else [MARKS])
    return _part(f"{title} (one machine)", [*head, *CHANGE], rows, notes)


def _orders(found: Comparison) -> str:
    lines = ["Order of the stores by throughput"]
    for row in found.orders.itertuples():
        label = found.workloads[row.workload, row.parameters]
        lines += _wrapped(f"  {label}: ", order_line(found, row))
    return "\n".join([*lines, *_wrapped("  ", about_orders())])


CHANGE = ["change", "95 % interval", ""]


def _change(row) -> list[str]:
    return [number(row.change), interval(row.low, row.high), marks(row)]


def _place(found: Comparison, row) -> list[str]:
    return [found.workloads[row.workload, row.parameters], found.title(row.store)]


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
    return textwrap.wrap(
        head + text,
        WIDTH,
        subsequent_indent=further,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _both(found: Comparison) -> list[tuple[str, object]]:
    return [("A", found.a), ("B", found.b)]
