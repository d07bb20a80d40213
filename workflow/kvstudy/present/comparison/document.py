"""A comparison as a PDF: the LaTeX source, filled in and built."""

from __future__ import annotations

from pathlib import Path

from kvstudy.present.comparison.compare import Comparison
from kvstudy.present.comparison.runs import interval, marks, number, speed
from kvstudy.present.comparison.text import (
    MARKS,
    about_absolute,
    about_orders,
    about_relative,
    order_line,
    place_of,
    span,
)
from kvstudy.present.report.build import build_pdf
from kvstudy.present.report.transcript import COLUMNS
from kvstudy.present.typeset.latex import Latex, breakable, fill

TEMPLATE = Path("report/templates/compared-runs.tex.j2")
NAME = "comparison"
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
    main = source / f"{NAME}.tex"
    # Beside the source, so without anything of the user's in their path.
    figures = [Latex(f"../{path.name}") for path in forests]
    main.write_text(fill(TEMPLATE, **_content(found, figures)), encoding="utf-8")
    pdf = output / f"{NAME}.pdf"
    build_pdf(main, source / "build", pdf)
    return pdf


def _content(found: Comparison, figures: list[Latex]) -> dict[str, object]:
    names = [found.a.name, found.b.name]
    facts = found.facts
    differ = facts[facts["same"] == "no"]
    base = found.title(found.base) if found.base else ""
    return {
        "title": "Two runs compared",
        "author": "",
        "subject": f"{names[0]} and {names[1]}",
        "run": "",
        "columns": COLUMNS,
        "runs": [
            (side, _split(run.folder.as_posix()), span(run))
            for side, run in (("A", found.a), ("B", found.b))
        ],
        "differences": _parts([[row.what, row.a, row.b] for row in differ.itertuples()]),
        "same": _split(", ".join(facts.loc[facts["same"] == "yes", "what"])),
        "left_out": _parts([[place_of(row), row.reason] for row in found.left_out.itertuples()]),
        "base": base,
        "relative": _parts([_relative(found, row) for row in found.changes.itertuples()]),
        "about_relative": about_relative(found) if base else "",
        "marks": MARKS,
        "figures": figures,
        "orders": [
            (found.workloads[row.workload, row.parameters], order_line(found, row))
            for row in found.orders.itertuples()
        ],
        "about_orders": about_orders(),
        "two_machines": found.two_machines,
        "absolute": _parts([_absolute(found, row) for row in found.throughputs.itertuples()]),
        "about_absolute": about_absolute(),
    }


def _relative(found: Comparison, row) -> list[str]:
    return [*_place(found, row), number(row.ratio_a), number(row.ratio_b), *_change(row)]


def _absolute(found: Comparison, row) -> list[str]:
    return [*_place(found, row), speed(row.throughput_a), speed(row.throughput_b), *_change(row)]


def _change(row) -> list[str]:
    n = str(row.n_a) if row.n_a == row.n_b else f"{row.n_a}, {row.n_b}"
    return [n, number(row.change), interval(row.low, row.high), marks(row)]


def _place(found: Comparison, row) -> list[str]:
    title = " ".join(breakable(word, *NARROW) for word in found.title(row.store).split())
    return [found.workloads[row.workload, row.parameters], title]


def _parts(rows: list[list[str]]) -> list[list[list[str]]]:
    """``rows`` with places to break in long words, in parts that fit on a page."""
    rows = [[_split(cell) for cell in row] for row in rows]
    return [rows[start : start + MOST_ROWS] for start in range(0, len(rows), MOST_ROWS)]


def _split(text: str) -> str:
    return " ".join(breakable(word) for word in text.split())
