"""The cells of the first page's table, from its rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kvstudy.exhibits.claim_words import number
from kvstudy.exhibits.table import interval, throughput_of
from kvstudy.layout.grid import CellText, cell_of
from kvstudy.layout.numbers import significant
from kvstudy.layout.rich_text import BOUND, DASH, grey, with_mark
from kvstudy.stats.ratios import Decision
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

THROUGHPUT = "throughput"


def ratio_cell(row, run: Run) -> tuple[CellText, CellText]:
    """Return the ratio and its interval; grey where they decide nothing."""
    if math.isnan(row.ratio):
        return DASH, ""
    ends = "" if math.isnan(row.low) else interval(row.ratio, row.low, row.high)
    # The baseline's own is no measured ratio.
    text = "1" if row.ratio == 1 and not ends else significant(row.ratio)
    text += BOUND if row.client_bound == "yes" else ""
    if row.in_floor == "yes" or row.decision == Decision.UNDECIDED:
        text, ends = grey(text), grey(ends)
    settings = run.headline.items() if row.workload == MEAN else [(row.workload, row.parameters)]
    # A store against itself is no ratio of two stores.
    runs = None if "/" in row.store else throughput_of(row.store, settings, row.baseline)
    return cell_of(text, row.ratio, runs), ends


def control_cell(row) -> tuple[CellText, CellText]:
    """Return the ratio of a store to itself, and its interval."""
    ends = "" if math.isnan(row.low) else interval(row.ratio, row.low, row.high)
    return cell_of(grey(significant(row.ratio)), row.ratio), grey(ends)


def place_cell(row) -> CellText:
    if math.isnan(row.first_place):
        return DASH
    places = dict.fromkeys(f"{place:.0f}" for place in (row.first_place, row.last_place))
    return cell_of(DASH.join(places), row.first_place)


def tail_cell(row) -> CellText:
    if math.isnan(row.p99):
        return "" if row.workload == MEAN else DASH
    return cell_of(number(row.p99, unit="us"), row.p99)


def published_cell(row) -> CellText:
    if math.isnan(row.published):
        return ""
    return cell_of(with_mark(significant(row.published), row.inconsistent), row.published)
