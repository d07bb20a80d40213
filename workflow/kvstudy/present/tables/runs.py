"""The table of the runs behind the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import share
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, number_cell
from kvstudy.present.typeset.table import (
    Grid,
    Line,
    Section,
    Table,
    interval,
    number_of,
    rate,
    store_grid,
    whole,
)
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.over_time import STEADY_SECONDS, Steadiness

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# The mean of fewer whole seconds says nothing of a run.
FEWEST_WHOLE = 3


class RunsTable(Table):
    """Intervals, spread and steadiness of all runs; a part of every report."""

    finding = "intervals"
    own_caption = N_("The runs behind the values")

    kind: Literal["runs"] = Field(
        description="Intervals, spread and steadiness of the runs of each workload."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters, a line per store."""
        of_throughput = (rows["operation"] == "overall") & (rows["metric"] == "throughput")
        shown = rows[of_throughput].join(_seconds(run), on=SETTING)
        columns = [
            (_("Ops/s"), number_of("value", rate)),
            (_("95 % interval"), lambda row: interval(row.value, row.low, row.high)),
            (_("CoV"), number_of("cov", lambda cov: share(cov) + (" !" if cov > NOISY else ""))),
            # Tables sort by the others.
            (_("Whole"), lambda row: str(number_cell(row.whole, rate))),
            (_("Rest"), lambda row: str(number_cell(row.steady, rate))),
            (_("Cut"), lambda row: str(number_cell(row.cut, whole))),
            (_("Steady"), lambda row: DASH if pd.isna(row.verdict) else row.verdict),
        ]
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
        grid = store_grid(shown, run, columns, notes, sortable=True)
        if not grid.sections:
            grid.sections = [Section("", [Line(_("no valid run"), [DASH] * len(columns))])]
        return [grid]


def _seconds(run: Run) -> pd.DataFrame:
    """Of each setting the mean of whole runs, of what follows the warm-up, and the warm-up in s."""
    seconds = run.headline_analysis.steadiness
    enough = seconds[seconds["seconds"] >= FEWEST_WHOLE].dropna(subset=["whole", "steady"])
    means = enough.groupby(SETTING)[["whole", "steady", "cut"]].mean()
    # Where nothing was cut off there is no other value.
    means["steady"] = means["steady"].where(means["cut"] > 0)
    return means.join(seconds.groupby(SETTING)["verdict"].agg(_steady), how="outer")


def _steady(verdicts: pd.Series) -> str:
    if (verdicts == Steadiness.TOO_SHORT).all():
        return _("too short")
    flag = " !" if (verdicts == Steadiness.NOT_STEADY).any() else ""
    return _("{} of {}").format((verdicts == Steadiness.STEADY).sum(), len(verdicts)) + flag
