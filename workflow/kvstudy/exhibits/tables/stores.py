"""Tables with a line for each store under a workload, or for each workload of one store."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.bottleneck import FULL, Limit, in_use
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.exhibits.table import (
    Table,
    interval,
    interval_head,
    number_of,
    sections_of,
    store_grid,
    throughput_of,
)
from kvstudy.language.current import N_, _, ngettext, pgettext
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Grid, Paper, Statistic, TableRow, TableSection, cell_of
from kvstudy.layout.numbers import between, rate, share, significant, whole
from kvstudy.layout.rich_text import DASH
from kvstudy.libraries import pd
from kvstudy.stats.intervals import NOISY, geometric_mean
from kvstudy.stats.over_time import STEADY_SECONDS, Steadiness
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

# The mean of fewer whole seconds says nothing of a run.
FEWEST_WHOLE = 3


class RunsTable(Table):
    """Intervals, spread and steadiness of all runs; a part of every report."""

    in_template = True
    finding = "intervals"
    own_caption = N_("Spread of the runs")

    kind: Literal["runs"] = Field(
        description="Intervals, spread and steadiness of the runs of each workload."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters, a line per store."""
        of_throughput = (rows["operation"] == "overall") & (rows["metric"] == "throughput")
        shown = rows[of_throughput].join(_seconds(run), on=SETTING)
        columns = [
            (_("Ops/s"), number_of("value", rate, _mean)),
            (_("95 % interval"), lambda row: interval(row.value, row.low, row.high)),
            (_("CV"), number_of("cv", lambda cv: share(cv) + (" !" if cv > NOISY else ""))),
            (_("Whole"), number_of("whole", rate)),
            (_("Rest"), number_of("steady", rate)),
            (_("Cut"), number_of("cut", whole)),
            (_("Steady"), lambda row: DASH if pd.isna(row.verdict) else row.verdict),
        ]
        notes = [
            _(
                "Ops/s: geometric mean of the runs with its 95 % interval (t on logarithms). "
                "CV: coefficient of variation. Whole: mean ops/s in the whole seconds of a "
                "run, geometric mean of the runs with at least {} of them. Rest: the same after "
                "a warm-up of Cut seconds, detected in runs of at least {} s. Steady: steady "
                "runs of those that can be judged; too short: less than {} s remain. !: a CV "
                "above {}, or unsteady runs, whose mean may hide a change."
            ).format(FEWEST_WHOLE, STEADY_SECONDS, STEADY_SECONDS, share(NOISY))
        ]
        grid = store_grid(shown, run, columns, notes, sortable=True)
        if not grid.sections:
            grid.sections = [TableSection("", [TableRow(_("no valid run"), [DASH] * len(columns))])]
        return [grid]


def _mean(row) -> Statistic:
    return throughput_of(row.store, [(row.workload, row.parameters)])


def _seconds(run: Run) -> pd.DataFrame:
    """Return for each setting the means of whole runs and after the warm-up, and the warm-up in s.

    The means over runs of their rates are geometric.
    """
    seconds = run.headline_analysis.steadiness
    enough = seconds[seconds["seconds"] >= FEWEST_WHOLE].dropna(subset=["whole", "steady"])
    long = enough[enough["seconds"] >= STEADY_SECONDS].groupby(SETTING)
    long = long.agg(steady=("steady", geometric_mean), cut=("cut", "mean"))
    means = enough.groupby(SETTING).agg(whole=("whole", geometric_mean)).join(long)
    # Where nothing was cut off there is no other value.
    means["steady"] = means["steady"].where(means["cut"] > 0)
    return means.join(seconds.groupby(SETTING)["verdict"].agg(_steady), how="outer")


def _steady(verdicts: pd.Series) -> str:
    if (verdicts == Steadiness.TOO_SHORT).all():
        return _("too short")
    counts = verdicts.value_counts()
    short = counts.get(Steadiness.TOO_SHORT, 0)
    text = _("{} of {}").format(counts.get(Steadiness.STEADY, 0), len(verdicts) - short)
    text += " !" if Steadiness.NOT_STEADY in counts else ""
    return _("{} ({} too short)").format(text, short) if short else text


class BottleneckTable(Table):
    """The bottleneck of each store, in every report."""

    in_template = True
    controls = True
    finding = "bottleneck"
    own_caption = N_("Bottlenecks")

    kind: Literal["bottleneck"] = Field(
        description="CPU time of client and server, and the bottleneck."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and parameters."""
        two_digits = partial(significant, digits=2)
        more = [(_("% of ceiling"), number_of("ceiling", share))]
        more_note = _("% of ceiling: throughput relative to YCSB without a store.")
        if rows["clients"].notna().any():
            more = [(_("Clients"), number_of("clients", "{:.0f}".format))]
            more.append((_("Gain of doubling"), _twice))
            more_note = _(
                "Clients: number that share the threads. Gain of doubling: throughput of twice as "
                "many clients relative to theirs, with its 95 % interval; empty if no more were "
                "tried."
            )
        columns = [
            (_("Client µs"), number_of("client_cpu", significant)),
            (_("Server µs"), number_of("server_cpu", significant)),
            (_("Client cores"), number_of("client_cores", two_digits)),
            (_("Server cores"), number_of("server_cores", two_digits)),
            (_("Other cores"), number_of("other_cores", two_digits)),
            (_("In calls"), number_of("in_call", share)),
            *more,
            (_("Bottleneck"), _limit),
        ]
        cores = rows["machine_cores"].max()
        cores_note = _("Client, server and other cores: busy cores; other: by other programs.")
        if pd.notna(cores):
            text = _("Client, server and other cores: busy cores, of {}; other: by other programs.")
            cores_note = text.format(f"{cores:.0f}")
        notes = [
            _(
                "Geometric means over the runs (other cores: arithmetic). Client µs, Server µs: "
                "CPU time per operation."
            ),
            cores_note,
            _("In calls: share of the client threads' time in calls to the store."),
            more_note,
            _(
                "Bottleneck: the client; or the CPU, if all programs together use over {} of "
                "the machine, with the client's share."
            ).format(share(FULL)),
        ]
        return [store_grid(rows, run, columns, [" ".join(notes)], sortable=True)]


def _limit(row) -> str:
    """The limit; of a saturated CPU also how much of its time in use is the client's."""
    used = in_use(row.client_cores, row.server_cores, row.other_cores)
    if row.limit == Limit.CPU:
        return _("CPU (client {})").format(share(row.client_cores / used))
    return sentence(row.limit) or DASH


def _twice(row) -> str:
    if pd.isna(row.twice):
        return DASH
    ends = interval(row.twice, row.twice_low, row.twice_high)
    return f"{significant(row.twice)} ({ends})"


class TrimmedTable(Table):
    """Trimmed means next to plain ones; a part of the report of a study that uses them."""

    in_template = True
    finding = "trimmed"
    own_caption = N_("Trimmed means")

    kind: Literal["trimmed"] = Field(description="Trimmed means of throughput and run time.")

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and parameters."""

        def lines(store: str, of: pd.DataFrame) -> list[TableRow]:
            cells = []
            by_metric = of.set_index("metric")
            for metric in ("throughput", "runtime"):
                if metric not in by_metric.index:
                    cells += [DASH] * 3
                    continue
                row = by_metric.loc[metric]
                cells += [cell_of(rate(row[name], 4), row[name]) for name in ("mean", "trimmed")]
                cells.append(between(rate(row["low"], 4), rate(row["high"], 4)))
            return [TableRow(run.titles[store], cells, store)]

        columns = [
            *(_("ops/s: mean"), _("trimmed"), _("95 % interval")),
            *(_("Run time in ms: mean"), _("trimmed"), _("95 % interval")),
        ]
        notes = [
            _(
                "Arithmetic means over the runs, as sources print them. Trimmed: without the "
                "smallest and the largest fifth of the runs (one each of five runs), with Tukey "
                "and McLaughlin's interval."
            )
        ]
        return [Grid(columns, sections_of(rows, run.study, lines), notes, sortable=True)]


class ValidityTable(Table):
    """Good, failed and missed operations, in every report."""

    in_template = True
    probes = True
    finding = "validity"
    own_caption = N_("Good, failed and missed operations")

    kind: Literal["validity"] = Field(
        description="Failed and missed operations, goodput, agreement with the servers' counters."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters."""
        groups = [
            *[(_("Operations"), 4), (_("Not good (%)"), 2), (_("Rate (ops/s)"), 2)],
            (pgettext("counters", "Server's"), 1),
        ]
        columns = [
            (_("all"), number_of("operations", whole)),
            (_("good"), number_of("good", whole)),
            (_("failed"), number_of("failed", whole)),
            (_("missed"), number_of("missed", whole)),
            (pgettext("of operations", "share"), number_of("share", _percent)),
            (interval_head(), lambda row: between(_percent(row.low), _percent(row.high))),
            (_("throughput"), number_of("throughput", rate)),
            (_("goodput"), number_of("goodput", rate)),
            (_("counters"), _agreement),
        ]
        note = _(
            "Sums over all measured cells, including invalid ones; throughput and goodput are "
            "all and good operations divided by the time of these cells. Not good: share of "
            "failed and missed operations with Wilson's interval (too narrow if operations of a "
            "cell fail together). Server's counters: largest deviation from YCSB's counts; {}: "
            "not checked."
        ).format(DASH)
        store_rows = rows[rows["store"].isin(run.study.store_names)].dropna(subset="n")
        paper = Paper(label=0.15, head=16)
        return [store_grid(store_rows, run, columns, [note], _below, groups=groups, paper=paper)]


def _below(row) -> list[str]:
    """Return the failures, and the number of invalid cells."""
    # In the file: update: 12 ERROR; ...
    parts = (part.split(": ", 1) for part in row.kinds.split("; ") if part)
    kinds = "; ".join(": ".join([_(operation), *counts]) for operation, *counts in parts)
    notes = [kinds] if kinds else []
    if row.invalid:
        text = ngettext("{} of {} cells are invalid", "{} of {} cells are invalid", int(row.n))
        notes.append(text.format(whole(row.invalid), whole(row.n)))
    return notes


def _agreement(row) -> str:
    if not row.checked:
        return DASH
    sign = "\N{MINUS SIGN}" if row.deviation < 0 else "+"
    return f"{sign}{share(abs(row.deviation))}" if row.deviation else "0 %"


def _percent(value: float) -> str:
    """A share in per cent, without the sign."""
    return significant(value * 100)


NUMBERS = ["n", "throughput", "low", "high", "of_fastest", "latency_mean"]
COLUMNS = ["workload", *NUMBERS, "client_cpu", "server_cpu", "failed", "note"]


class StoreTable(Table):
    """All workloads of one store; a part of the report of a study with ``store_pages``."""

    in_template = True
    own_caption = N_("All workloads of the store")

    kind: Literal["store"] = Field(description="All workloads of one store.")
    store: Name = Field(description="The store.")

    @classmethod
    def automatic(cls, study: Study) -> list[StoreTable]:
        """One for each store."""
        caption = _(cls.own_caption)
        return [
            cls(name=f"store-{store}", kind="store", caption=caption, store=store)
            for store in study.store_names
        ]

    def stores_of(self, study: Study) -> list[str]:
        """All: the store's places among them are in the table too."""
        return study.store_names

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload: throughput (geometric mean, ops/s) with its 95 % interval.

        ``of_fastest`` is throughput by that of the fastest of ``Run.compared`` (0 to 1),
        latency_mean is of all operations (plain mean over kinds, us), client_cpu and server_cpu
        are us per operation, failed is a share (0 to 1). A value that does not exist is NaN.
        """
        rows = [self._row(use.name, run) for use in run.study.workloads]
        return pd.DataFrame(rows, columns=COLUMNS)

    def _row(self, workload: str, run: Run) -> dict[str, object]:
        results, rows = run.results, run.headline_analysis.intervals
        rows = rows[(rows["workload"] == workload) & (rows["operation"] == "overall")]
        store_rows = rows[rows["store"] == self.store].set_index("metric")
        row = dict.fromkeys(COLUMNS, math.nan) | {"workload": workload, "note": ""}
        if "throughput" not in store_rows.index:
            return row | {"note": results.state(self.store, workload).label}
        compared = next(group for group in run.compared if self.store in group)
        rivals = rows[(rows["metric"] == "throughput") & rows["store"].isin(compared)]
        speed, values = store_rows.loc["throughput"], store_rows["value"]
        operation = results.all_operations(workload)
        latency = results.measured(self.store, workload, operation, "latency_mean")
        return row | {
            **speed[["n", "low", "high"]],
            "throughput": speed["value"],
            "of_fastest": speed["value"] / rivals["value"].max(),
            "latency_mean": latency.mean if latency else math.nan,
            "client_cpu": values.get("client_cpu", math.nan),
            "server_cpu": values.get("server_cpu", math.nan),
            "failed": results.failed_share(self.store, workload, "overall"),
        }

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload."""

        def runs(row) -> Statistic:
            return throughput_of(self.store, [(row.workload, run.headline[row.workload])])

        columns = [
            (_("Ops/s"), number_of("throughput", partial(rate, digits=4), runs)),
            (_("95 % interval"), lambda row: interval(row.throughput, row.low, row.high, 4)),
            (_("% of fastest"), number_of("of_fastest", share)),
            (_("Mean (µs)"), number_of("latency_mean", rate)),
            (_("Client (µs)"), number_of("client_cpu", rate)),
            (_("Server (µs)"), number_of("server_cpu", rate)),
            (_("Failed"), number_of("failed", share)),
        ]
        lines = []
        for row in rows.itertuples():
            cells = [sentence(row.note) or DASH, *[DASH] * 6]
            if not math.isnan(row.throughput):
                cells = [cell(row) for _head, cell in columns]
            title = run.study.workload(row.workload).title
            lines.append(TableRow(title, cells, workload=row.workload))
        note = _(
            "Ops/s: geometric mean of the runs. % of fastest: throughput relative to the "
            "fastest store that it is compared with. Mean: service time, arithmetic mean over "
            "the kinds of operation. Client, Server: CPU time per operation."
        )
        heads = [head for head, _cell in columns]
        return [Grid(heads, [TableSection("", lines)], [note], sortable=True)]
