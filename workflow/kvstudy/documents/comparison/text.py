"""A comparison as text for the terminal, as CSV files, and as a PDF: the same parts in each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kvstudy.documents.comparison.compare import TABLES, Comparison
from kvstudy.documents.comparison.forest import forest_plot, marks, pages
from kvstudy.documents.comparison.runs import RecordedRun, sizes
from kvstudy.documents.report.build import build_pdf
from kvstudy.documents.report.transcript import COLUMNS
from kvstudy.exhibits.table import interval
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection
from kvstudy.layout.numbers import rate, significant
from kvstudy.render.latex import ZERO_WIDTH_SPACE, Latex, breakable, fill
from kvstudy.render.paper import paint, save, use_style
from kvstudy.stats.latency_models import Difference, LatencyModel
from kvstudy.stats.ratios import MARGIN
from kvstudy.study.naming import count

# Between a number and its sign, so that no line breaks there.
NB = "\N{NARROW NO-BREAK SPACE}"
MARKS = (
    "~: undecided, the runs tell neither a change nor that there is none; about as many "
    "repetitions of each run as are behind it would decide. Of many rows some differ by chance, "
    "so Holm's correction for the number of rows makes this stricter than the interval by itself "
    f"(level 5{NB}%). =: equal, the whole interval is within ±{MARGIN * 100:.0f}{NB}% "
    f"({1 / (1 + MARGIN):.3f} to {1 + MARGIN:g}; two one-sided tests at 2.5{NB}% each), "
    "even if the change itself is told. No mark: different. ?: a run has one repetition, so "
    "nothing is known of its spread."
)
ABOUT_RELATIVE = (
    "Within each run, a store's throughput is divided by that of {base}, repetition by "
    "repetition, so what makes a machine faster for all stores alike cancels out. The columns "
    "of run A and run B are geometric means of these ratios. {imported}"
    "The change is B by A: 1.5 means that the store gained half against {base}. A slower "
    f"{{base}} looks the same as faster others. The 95{NB}% interval (of 100 such intervals, "
    "about 95 hold the true change) is Welch's: a t interval for independent means on "
    "logarithms, whose runs may spread differently. n is the number of repetitions in A and "
    "in B."
)
IMPORTED = (
    "{} imported logs, whose repetitions only share a number: there the geometric means "
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
    "logs; a correction for the pairs of a workload). A pair of stores has neither order "
    "when one of the runs shows the two equal or leaves them undecided."
)
ABOUT_LATENCIES = (
    "What run B's mean latencies are, as one number for all of them: fitted to {} means, each of "
    "an operation of a store under a workload. Errors are relative to run B's means. If the time "
    "fits and the factor does not, look at the path between clients and servers before the servers "
    "(docs/path.md)."
)
# Longest word of a narrow column, and of the pieces that a longer one breaks into.
NARROW = (10, 6)
WIDTH = 100
TEMPLATE = Path("report/templates/compared-runs.tex.j2")


@dataclass(frozen=True)
class ComparisonSection:
    """A part of what is said: a table, or a sentence in place of an empty one."""

    title: str
    grid: Grid
    nothing: str = ""


def parts_of(comparison: Comparison) -> list[ComparisonSection]:
    """All parts, what differs first."""
    base, facts = comparison.base, comparison.facts
    same = ", ".join(facts.loc[facts["same"] == "yes", "what"]) or "nothing"
    different = facts.loc[facts["same"] == "no", ["what", "a", "b"]].to_numpy().tolist()
    gaps = [[_place(row), row.reason] for row in comparison.left_out.itertuples()]
    shares = Paper(label=0.22, widths=(0.36, 0.36))
    parts = [
        ComparisonSection(
            "What differs",
            _grid(["", "Run A", "Run B"], different, shares, f"The same: {same}."),
            "Nothing that the runs record.",
        ),
        ComparisonSection(
            "What is not compared",
            _grid(["Where", "Why"], gaps, Paper(label=0.38, widths=(0.58,))),
            "Nothing is left out.",
        ),
    ]
    if base is not None:
        title = f"Throughput relative to {comparison.title(base)}, and its change from A to B"
        heads = [f"Run {side}, by {comparison.title(base)}" for side in "AB"]
        imported = [
            side for side, run in zip("AB", comparison.runs, strict=True) if run.study.imported
        ]
        runs = "Runs A and B have" if len(imported) > 1 else f"Run {''.join(imported)} has"
        words = IMPORTED.format(runs) if imported else ""
        about = ABOUT_RELATIVE.format(base=comparison.title(base), imported=words)
        grid = _changes(comparison, "ratio", heads, about, MARKS)
        parts.append(ComparisonSection(title, grid, "No store has values next to it in both runs."))
    if len(comparison.orders):
        paper = Paper(label=0.22, widths=(0.74,))
        grid = _grid(["Workload", "Order"], _orders(comparison), paper, ABOUT_ORDERS)
        parts.append(ComparisonSection("Order of the stores by throughput", grid))
    if models := comparison.latency_models:
        rows = [
            [_model(model), f"{model.median_error:.0%}", f"{model.worst_error:.0%}"]
            for model in models
        ]
        heads = ["Run B's mean latencies", "Median error", "Worst error"]
        grid = _grid(heads, rows, Paper(label=0.5), ABOUT_LATENCIES.format(models[0].n))
        parts.append(ComparisonSection("Mean latencies, by one number", grid))
    title = "Throughput itself, and its change from A to B"
    title += "" if comparison.two_machines else " (one machine)"
    reason = f"Left out: {comparison.two_machines}. Absolute rates compare on one machine only."
    notes = [ABOUT_ABSOLUTE, *([] if base else [MARKS])]
    heads = [f"Run {side} (ops/s)" for side in "AB"]
    return [
        *parts,
        ComparisonSection(title, _changes(comparison, "throughput", heads, *notes), reason),
    ]


def _model(model: LatencyModel) -> str:
    if model.difference == Difference.FACTOR:
        return f"{significant(model.constant)} times those of run A"
    sign = "plus" if model.constant >= 0 else "minus"
    return f"those of run A {sign} {significant(abs(model.constant))} µs"


def _grid(heads: list[str], rows: list[list[str]], paper: Paper, *notes: str) -> Grid:
    lines = [TableRow(label, cells) for label, *cells in rows]
    return Grid(heads[1:], [TableSection("", lines)], list(notes), corner=heads[0], paper=paper)


def _changes(comparison: Comparison, value: str, heads: list[str], *notes: str) -> Grid:
    """Workload, store, the ``value`` of both runs, repetitions, and the change with its marks."""
    rows = []
    table = comparison.changes if value == "ratio" else comparison.throughputs
    for row in table.itertuples():
        words = comparison.title(row.store).split()
        rows.append(
            [
                comparison.workloads[row.workload, row.parameters],
                " ".join(breakable(word, *NARROW) for word in words),
                *(rate(getattr(row, f"{value}_{side}")) for side in "ab"),
                f"{row.n_a}" if row.n_a == row.n_b else f"{row.n_a}, {row.n_b}",
                significant(row.change),
                interval(row.change, row.low, row.high),
                marks(row),
            ]
        )
    columns = ["Workload", "Store", *heads, "n", "Change", "95 % interval", ""]
    paper = Paper(label=0.22, widths=(0.22, *[0] * 6))
    return _grid(columns, rows, paper, *(notes if rows else ()))


def _orders(comparison: Comparison) -> list[list[str]]:
    """Return a line per workload: ``run A: Redis > Memcached; run B: ...; 1 of 1 pair agrees``."""
    titles = {store: look.title for store, look in comparison.stores.items()}
    lines = []
    for row in comparison.orders.itertuples():
        a, b = (
            " ".join(titles.get(word, word) for word in order.split(" "))
            for order in (row.order_a, row.order_b)
        )
        text = (
            f"run A: {a}; run B: {b}; of {count(row.pairs, 'pair')}, {row.same} in the same order, "
            f"{row.opposite} in the opposite, {row.neither} in neither"
        )
        lines.append([comparison.workloads[row.workload, row.parameters], text])
    return lines


def _place(row) -> str:
    """Return the run, workload, store and repetitions of a row that is left out."""
    side = "both runs" if row.run == "both" else f"run {row.run}"
    workload = f"workload {row.workload}" if row.workload else ""
    repetitions = f"repetition {row.repetitions}" if row.repetitions else ""
    parts = [side, row.store, workload, row.parameters and sizes(row.parameters), repetitions]
    return ", ".join(part for part in parts if part)


def _span(run: RecordedRun) -> str:
    """``measured 2 November 2026, 16:05 to 16:09 (UTC), 12 of 12 cells count``."""
    counts = f"{len(run.speeds)} of {len(run.cells)} cells count"
    started = sorted(datetime.fromisoformat(text) for text in run.cells["started"] if text)
    if not started:
        return f"time not recorded, {counts}"
    first, last = started[0], started[-1]
    until = "" if f"{first:%H:%M}" == f"{last:%H:%M}" else f" to {last:%H:%M}"
    if first.date() != last.date():
        until = f" to {last:%-d %B %Y, %H:%M}"
    zone = f" ({first.tzname()})" if first.tzinfo else ""
    return f"measured {first:%-d %B %Y, %H:%M}{until}{zone}, {counts}"


def as_text(comparison: Comparison) -> str:
    """All parts for the terminal."""
    runs = zip("AB", comparison.runs, strict=True)
    blocks = [[f"Run {side}  {run.folder}: {_span(run)}" for side, run in runs]]
    for part in parts_of(comparison):
        grid = part.grid
        # Places to break are for narrow columns on paper.
        rows = [
            [text.replace(ZERO_WIDTH_SPACE, "") for text in (str(line.label), *line.texts)]
            for line in grid.lines
        ]
        if not rows:
            lines = _wrapped(part.nothing)
        elif all(grid.widths):
            lines = [
                line
                for label, *cells in rows
                for line in _wrapped(f"{label}: {'  ->  '.join(cells)}", indent=6)
            ]
        else:
            lines = _aligned([[grid.corner, *map(str, grid.columns)], *rows])
        notes = [line for note in grid.notes for line in _wrapped(note)]
        blocks.append([part.title, *lines, *notes])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _aligned(rows: list[list[str]]) -> Iterable[str]:
    """Columns as wide as their longest cell: the first two to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            f"{cell:{'<' if column < 2 else '>'}{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(["", *cells]).rstrip()


def _wrapped(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def write_comparison(comparison: Comparison, output: Path) -> list[Path]:
    """Write the tables as CSV and the forest plot as PDF and SVG; returns the plot's PDFs.

    ``changes.csv`` is the table of the plot. What an earlier comparison left in
    ``output`` under these names is replaced.
    """
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("forest-*.*"):
        old.unlink()
    for name in TABLES:
        table = getattr(comparison, name.replace("-", "_"))
        table.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    use_style()
    drawn = []
    for number, part in enumerate(pages(comparison.changes), start=1):
        path = output / f"forest-{number}"
        plot = forest_plot(part, comparison.changes, comparison.workloads, comparison.stores)
        save(paint(plot), path)
        drawn.append(path.with_suffix(".pdf"))
    return drawn


def build_document(comparison: Comparison, forests: list[Path], output: Path) -> Path:
    """Write the LaTeX source into ``output``/latex and build ``output``/comparison.pdf.

    ``forests`` are the figures in ``output``. KvstudyError when TeX finds a fault.
    """
    runs = zip("AB", comparison.runs, strict=True)
    content = {
        "title": "Two runs compared",
        "subject": f"{comparison.a.name} and {comparison.b.name}",
        "run": "",
        "columns": COLUMNS,
        "runs": [(side, run.folder.as_posix(), _span(run)) for side, run in runs],
        "contents": parts_of(comparison),
        "base": comparison.title(comparison.base) if comparison.base else "",
        # Beside the source, so without anything of the user's in their path.
        "figures": [Latex(f"../{path.name}") for path in forests],
    }
    source = output / "latex"
    source.mkdir(parents=True, exist_ok=True)
    main = source / "comparison.tex"
    main.write_text(fill(TEMPLATE, **content), encoding="utf-8")
    pdf = output / "comparison.pdf"
    build_pdf(main, source / "build", pdf)
    return pdf
