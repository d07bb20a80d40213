"""The table of the runs behind the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import grouped, share, significant
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, number_cell
from kvstudy.present.typeset.table import Grid, Line, Section, Table, interval, sections_of
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.over_time import STEADY_SECONDS, Steadiness

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# The mean of fewer whole seconds says nothing of a run.
FEWEST_WHOLE = 3
COLUMNS = [
    *[N_("Ops/s"), N_("95 % interval"), N_("CoV"), N_("Whole"), N_("Rest"), N_("Cut")],
    N_("Steady"),
]


class RunsTable(Table):
    """Intervals, spread and steadiness of all runs; a part of every report."""

    own_caption = N_("The runs behind the values")

    kind: Literal["runs"] = Field(
        description="Intervals, spread and steadiness of the runs of each workload."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return run.headline_analysis.intervals

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters, a line per store."""

        def line(store: str, of: pd.DataFrame) -> Line:
            keys = of[SETTING].drop_duplicates()
            seconds = run.headline_analysis.steadiness.merge(keys, on=SETTING)
            return Line(run.titles[store], _cells(of.set_index("metric"), seconds), store)

        sections = sections_of(rows[rows["operation"] == "overall"], run.study, line)
        if not sections:
            sections.append(Section("", [Line(_("no valid run"), [DASH] * len(COLUMNS))]))
        notes = [
            _(
                "Ops/s: geometric mean of the runs with its 95 % interval (t on logarithms). "
                "CoV: standard deviation ÷ mean. Whole, Rest: mean ops/s in the whole seconds of "
                "the runs, and in those after the warm-up, which took Cut seconds (means over the "
                "runs with at least {} whole seconds). Steady: runs that have a steady state after "
                "their warm-up, of all runs; too short: less than {} s remain. !: a CoV above {}, "
                "or runs without a steady state, whose mean hides a change."
            ).format(FEWEST_WHOLE, STEADY_SECONDS, share(NOISY))
        ]
        return [Grid([_(column) for column in COLUMNS], sections, notes, sortable=True)]


def _cells(by_metric: pd.DataFrame, seconds: pd.DataFrame) -> list[str]:
    if "throughput" not in by_metric.index:
        return [DASH] * len(COLUMNS)
    row = by_metric.loc["throughput"]
    return [
        marked(grouped(significant(row["value"])), row["value"]),
        interval(row["value"], row["low"], row["high"]),
        number_cell(row["cov"], lambda cov: share(cov) + (" !" if cov > NOISY else "")),
        *_parts(seconds),
        _steady(seconds["verdict"]),
    ]


def _parts(seconds: pd.DataFrame) -> list[str]:
    """Mean of whole runs, of what follows the warm-up, and the warm-up in s."""
    seconds = seconds[seconds["seconds"] >= FEWEST_WHOLE].dropna(subset=["whole", "steady"])
    if seconds.empty:
        return [DASH] * 3
    whole, steady = (grouped(significant(seconds[name].mean())) for name in ("whole", "steady"))
    if not (seconds["cut"] > 0).any():
        # Nothing was cut off, so there is no other value.
        return [whole, DASH, "0"]
    return [whole, steady, f"{seconds['cut'].mean():.0f}"]


def _steady(verdicts: pd.Series) -> str:
    if verdicts.empty:
        return DASH
    if (verdicts == Steadiness.TOO_SHORT).all():
        return _("too short")
    flag = " !" if (verdicts == Steadiness.NOT_STEADY).any() else ""
    return _("{} of {}").format((verdicts == Steadiness.STEADY).sum(), len(verdicts)) + flag
