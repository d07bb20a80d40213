"""The table of the ratios of every two stores, with their intervals and the noise floor."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import ratio_of
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import BOUND, DASH, EQUAL, TIE, grey, marked, stacked
from kvstudy.present.typeset.table import Grid, Paper, Section, Table, interval, two_lines
from kvstudy.stats.ratios import Decision
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

# Columns that fit the width of a page, and those whose heads have parameters.
MOST_COLUMNS, MOST_WITH_PARAMETERS = 6, 4


class RatiosTable(Table):
    """Throughput ratios of every two stores, per workload; a part of every report."""

    controls = "all"
    finding = "pairs"
    own_caption = N_("Throughput of each two stores")

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per pair, a column per workload and parameters."""
        study, floor = run.study, run.headline_analysis.floor
        limited = run.headline_analysis.bottleneck.query("client_bound == 'yes'")
        bound = set(limited[SETTING].itertuples(index=False, name=None))
        settings = [
            (name, parameters)
            for name in [*study.workload_names, MEAN]
            for parameters in rows.loc[rows["workload"] == name, "parameters"].unique()
        ]
        by_pair = {
            (row.workload, row.parameters, frozenset((row.faster, row.slower))): row
            for row in rows.itertuples()
        }
        lines = []
        for both in combinations(study.store_names, 2):
            pairs = [by_pair.get((*setting, frozenset(both))) for setting in settings]
            if any(pairs):
                cells = [_ratio(row, both[0], bound) for row in pairs]
                lines += two_lines(" / ".join(map(run.titles.get, both)), cells, " ".join(both))
        sections = [Section(_("Two stores") if len(floor) else "", lines)]
        if len(floor):
            noise = {
                (row.workload, row.parameters): (
                    marked(significant(row.ratio), row.ratio),
                    interval(row.ratio, row.low, row.high),
                )
                for row in floor.itertuples()
            }
            cells = [noise.get(setting, (DASH, "")) for setting in settings]
            store = floor["store"].iloc[0]
            lines = two_lines(_("{} against itself").format(run.titles[store]), cells, store)
            sections.insert(0, Section(_("Noise floor"), lines))
        several = Counter(name for name, _ in settings)
        heads = []
        for name, parameters in settings:
            short = study.workload(name).short
            head = stacked(short, parameters) if several[name] > 1 else short
            heads.append(marked(head, workload=name))
        most = MOST_COLUMNS if len(several) == len(settings) else MOST_WITH_PARAMETERS
        return [Grid(heads, sections, [_note(study)], paper=Paper(most=most))]


def _note(study: Study) -> str:
    pairing = _("not paired, by Welch's method") if study.imported else _("paired by repetition")
    return _(
        "Ratio of throughputs (geometric means, {}), below it the 95 % interval. {}: undecided "
        "(Holm's correction over the pairs of a workload), in brackets the runs that would "
        "decide. {}: equal within ±10 %. Grey: not above the noise floor. {}: one of the two is "
        "client-bound."
    ).format(pairing, TIE, EQUAL, BOUND)


def _ratio(row, one: str, bound: set[tuple[str, str, str]]) -> tuple[str, str]:
    """The ratio of ``one`` to the other with its marks, and the interval below it."""
    if row is None:
        return DASH, ""
    value, low, high = ratio_of(row, one)
    marks = {Decision.UNDECIDED: TIE, Decision.EQUAL: EQUAL}.get(row.decision, "")
    if pd.notna(row.would_decide):
        marks += f" ({row.would_decide:.0f})"
    if any((store, row.workload, row.parameters) in bound for store in (row.faster, row.slower)):
        marks += BOUND
    text = marked(f"{significant(value)} {marks}".rstrip(), value)
    between = interval(value, low, high)
    return (grey(text), grey(between)) if row.in_floor == "yes" else (text, between)
