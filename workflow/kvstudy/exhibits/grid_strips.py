"""The table of the first page with a section per workload and marks on one axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kvstudy.analyse.findings.pairs import floor_of
from kvstudy.exhibits.grid_cells import (
    THROUGHPUT,
    control_cell,
    published_cell,
    ratio_cell,
    tail_cell,
)
from kvstudy.exhibits.table import interval_head
from kvstudy.language.current import _
from kvstudy.layout.grid import (
    Grid,
    Head,
    Paper,
    TableRow,
    TableSection,
    head_of,
    number_cell,
    strip_cell,
)
from kvstudy.layout.numbers import operation_word, rate, significant
from kvstudy.layout.rich_text import bold, rich
from kvstudy.layout.strip import RatioAxis, Strip, axis_of
from kvstudy.libraries import pd
from kvstudy.stats.ratios import Decision
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import load_only, properties_of, proportions_of, rounds_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# Lines of a table with strips that fit on the first page.
MOST_STRIPS = 26


def has_strips(run: Run) -> bool:
    """Return whether its sections fit on the first page, and all ratios are to one store."""
    sections = len(run.study.workloads) + (len(run.study.workloads) > 1)
    return sections * len(run.study.stores) <= MOST_STRIPS and len(run.compared) == 1


def strip_grid(by_key: pd.DataFrame, names: list[str], run: Run, metric: str, corner: str) -> Grid:
    """A section per workload, a line per store, the fastest first, with its marks on one axis."""
    known = by_key.loc[[key for key in by_key.index if key[0] in names]]
    axis = axis_of(known[["ratio", "low", "high", "published"]].to_numpy().ravel().tolist())
    floor = floor_of(run.headline_analysis.floor) if metric == THROUGHPUT else None
    throughput = metric == THROUGHPUT
    several = known["low"].notna().any()
    heads = ["", _("Ratio"), *([interval_head()] if several else [])]
    sourced = throughput and known["published"].notna().any()
    heads += [head_of(Head(rich(_("Published ratio")), published=True))] if sourced else []
    heads += [_("kops/s")] if throughput else []
    heads += [_("p99")] if throughput and known["p99"].notna().any() else []
    blank = [""] * (len(heads) - 1)
    label = "\N{NO-BREAK SPACE}"
    sections = [
        TableSection("", [TableRow(label, [strip_cell(Strip(axis, labelled=True)), *blank])])
    ]
    for name in names:
        rows = list(known.loc[[name]].reset_index().itertuples())
        stores = [row for row in rows if "/" not in row.store]
        # Of latencies the smallest is best; what has no ratio comes last.
        sign = -1 if throughput else 1
        ranked = sorted(stores, key=lambda row: (math.isnan(row.ratio), sign * row.ratio))
        lines = [_strip_line(row, run, axis, floor, heads) for row in ranked]
        lines += [_strip_line(row, run, axis, floor, heads) for row in rows if "/" in row.store]
        sections.append(TableSection(_workload_title(run, name), lines, workload=name))
    return Grid(heads, sections, corner=corner, paper=Paper(hang=True))


def _workload_title(run: Run, name: str) -> str:
    """``A: 50 % read, 50 % update``"""
    if name == MEAN:
        return _("All workloads (geometric mean)")
    use = run.study.workload(name)
    properties = properties_of(run.study, use)
    if rounds_of(properties) or load_only(properties):
        return use.title
    shares = proportions_of(properties)
    total = sum(shares.values())
    unit = "\N{NARROW NO-BREAK SPACE}%"
    parts = [
        f"{significant(100 * share / total, 2)}{unit} {operation_word(operation)}"
        for operation, share in shares.items()
        if share > 0
    ]
    return f"{use.title}: {', '.join(parts)}"


def _strip_line(
    row, run: Run, axis: RatioAxis, floor: float | None, heads: list[str | Head]
) -> TableRow:
    store = row.store.partition("/")[0]
    title = run.titles[store]
    control = "/" in row.store
    label = _("{} against itself").format(title) if control else bold(title)
    cell, ends = control_cell(row) if control else ratio_cell(row, run)
    faint = row.in_floor == "yes" or row.decision == Decision.UNDECIDED

    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    source = published_cell(row)
    strip = Strip(
        axis,
        *(known(row.ratio), known(row.low), known(row.high)),
        published=known(row.published) if source else None,
        floor=floor or 1.0,
        faint=faint or control,
    )
    further = {
        str(interval_head()): ends,
        _("kops/s"): "" if control else number_cell(row.rate / 1000, rate),
        _("Published ratio"): source,
        _("p99"): "" if control else tail_cell(row),
    }
    cells = [further[str(head)] for head in heads[2:]]
    return TableRow(label, [strip_cell(strip), cell, *cells], store)
