"""Table that compares one store with another: throughput per workload, and what failed."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, change, grouped, share
from kvstudy.analyse.tidy.results import THROUGHPUT
from kvstudy.analyse.tidy.summary import OPERATIONS
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, with_mark
from kvstudy.present.typeset.source import label_of
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table, interval_head
from kvstudy.stats.ratios import paired_ratio, unpaired_ratio
from kvstudy.study.base import Name
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.results import Results
    from kvstudy.present.typeset.source import Source
    from kvstudy.study.model import Study

COLUMNS = [
    *["workload", "repetitions", "baseline", "store", "change", "low", "high"],
    *["failed_operation", "failed_baseline", "failed_store"],
    *["published_baseline", "published_store", "published_change"],
    *["published_failed_baseline", "published_failed_store"],
    *["rejected_baseline", "rejected_store", "floor", "note"],
]
# Of what a share failed.
KINDS = {
    "read": N_("reads"),
    "update": N_("updates"),
    "insert": N_("inserts"),
    "scan": N_("scans"),
    "read-modify-write": N_("read-modify-writes"),
}
SINGLE_OPERATIONS = [name for name in OPERATIONS if name != "overall"]


class ComparisonTable(Table):
    """Throughput and failed operations of one store against another, per workload."""

    controls = "noise floor"

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that is the 100 %.")
    store: Name = Field(description="The store that is compared with it.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload, then the mean of all workloads.

        ``baseline`` and ``store`` are mean throughputs in ops/s over the
        ``repetitions`` that both have; of imported logs, whose repetitions only share a
        number, over all runs of each (``repetitions``: of the one that has fewer).
        ``change`` is the ratio of their geometric means less one, ``low`` and ``high`` its
        95 % interval (NaN for fewer than two), paired by repetition but for imported logs.
        ``failed_*`` are shares (0 to 1) of the operations of the kind ``failed_operation``
        that failed, the kind that failed most. ``floor`` is the noise floor of the workload
        (``findings.pairs.floors``): what changes by a smaller factor could be one store. A value
        that does not exist is NaN.
        """
        study, floor = run.study, run.headline_analysis.floor.set_index("workload")["floor"]
        workloads = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
        rows = [self._row(study, run.results, name) for name in workloads]
        frame = pd.DataFrame(rows, columns=COLUMNS)
        return frame.assign(floor=frame["workload"].map(floor))

    def _row(self, study: Study, results: Results, workload: str) -> dict[str, object]:
        both = {"baseline": self.baseline, "store": self.store}
        runs = [results.runs(store, workload, *THROUGHPUT) for store in both.values()]
        if not study.imported:
            shared = sorted(set(runs[0]) & set(runs[1]))
            runs = [{repetition: of[repetition] for repetition in shared} for of in runs]
        number = min(map(len, runs))
        row = dict.fromkeys(COLUMNS, math.nan)
        row |= {"workload": workload, "repetitions": number, "failed_operation": "", "note": ""}
        if number:
            row["baseline"], row["store"] = (fmean(of.values()) for of in runs)
            ratio = (
                unpaired_ratio(runs[1].values(), runs[0].values())
                if study.imported
                else paired_ratio(runs[1], runs[0])
            )
            row["change"] = ratio.value - 1
            if ratio.low is not None:
                row |= {"low": ratio.low - 1, "high": ratio.high - 1}
        shares = {
            operation: [results.failed_share(store, workload, operation) for store in both.values()]
            for operation in SINGLE_OPERATIONS
        }
        shares = {name: of for name, of in shares.items() if None not in of}
        if shares:
            worst = max(shares, key=lambda name: max(shares[name]))
            row["failed_operation"] = worst
            row["failed_baseline"], row["failed_store"] = shares[worst]
        problems = []
        for name, store in both.items():
            row[f"published_{name}"] = results.published(store, workload, *THROUGHPUT)
            row[f"rejected_{name}"] = results.rejected(store, workload, *THROUGHPUT)
            failed = (
                results.published(store, workload, operation, "failed_share")
                for operation in SINGLE_OPERATIONS
            )
            failed = next((value / 100 for value in failed if value is not None), None)
            row[f"published_failed_{name}"] = failed
            if workload != MEAN:
                problems += results.state(store, workload).problems
        row["note"] = "; ".join(dict.fromkeys(problems))
        gain = results.published(self.store, workload, "overall", "throughput_change")
        row["published_change"] = None if gain is None else gain / 100
        return row

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload, below it what the source published."""
        lines = []
        for row in rows.itertuples():
            title = run.study.workload(row.workload).title
            baseline, store, gain, *failed = _cells(row)
            interval = DASH
            if not pd.isna(row.low):
                interval = between(change(row.low).removesuffix(" %"), change(row.high))
            here = [baseline, store, gain, interval, *failed]
            lines.append(Line(title, [cell or DASH for cell in here], workload=row.workload))
            if any(there := _cells(row, "published_")):
                baseline, store, gain, *failed = there
                baseline = with_mark(baseline, row.rejected_baseline)
                store = with_mark(store, row.rejected_store)
                cells = [cell or DASH for cell in (baseline, store, gain, "", *failed)]
                line = Line(_("published"), cells, workload=row.workload, published=True)
                lines.append(line)
        groups = [
            *[(_("Throughput (ops/s)"), 2), (pgettext("of throughput", "Change"), 2)],
            (_("Failed"), 2),
        ]
        both = [marked(run.titles[name], store=name) for name in (self.baseline, self.store)]
        columns = [*both, pgettext("of ratios", "mean"), interval_head(), *both]
        notes, paper = _notes(rows, run.study), Paper(gap=".22em", head=20)
        return [Grid(columns, [Section("", lines)], notes, groups=groups, paper=paper)]

    def published_rows(self, source: Source) -> pd.Series:
        """All values of the two stores that it is about, wherever they were published."""
        values = source.values
        of_both = values["store"].isin([self.baseline, self.store])
        speed = (values["operation"] == "overall") & (values["metric"] == "throughput")
        return of_both & (speed | values["metric"].isin(["throughput_change", "failed_share"]))

    def published_grid(self, source: Source) -> Grid | None:
        """A line per workload, a column per metric and store."""
        values = source.values[self.published_rows(source)].dropna(subset="value")
        if values.loc[values["store"] == self.store].empty:
            return None
        columns = [
            (metric, store)
            for metric in ("throughput", "throughput_change", "failed_share")
            for store in (self.baseline, self.store)
            if not values.query("metric == @metric and store == @store").empty
        ]
        by_key = {(row.workload, row.metric, row.store): row for row in values.itertuples()}
        lines = []
        for name in [*source.study.workload_names, MEAN]:
            cells = [by_key.get((name, *column)) for column in columns]
            if any(cells):
                title = source.study.workload(name).title
                lines.append(Line(title, [source.cell(row) for row in cells]))
        heads = {row.metric: label_of(row) for row in values.itertuples()}
        places = ", ".join(sentence(table) for table in dict.fromkeys(values["table"]))
        notes = [_("From: {}.").format(places)]
        failing = [row.operation for row in values.itertuples() if row.metric == "failed_share"]
        if failing:
            kinds = list_of(_(operation) for operation in dict.fromkeys(failing))
            notes.append(_("Failed: share of the {} operations.").format(kinds))
        titles = [(heads[metric], source.title(store)) for metric, store in columns]
        stores = [store for _, store in columns]
        return source.table(titles, [Section("", lines)], notes=notes, stores=stores)


def _cells(row, of: str = "") -> list[str]:
    """Throughputs, change and shares of failures; "" for what does not exist."""
    forms = {"baseline": _rate, "store": _rate, "change": change}
    forms |= {"failed_baseline": share, "failed_store": share}
    values = [(getattr(row, of + name), form) for name, form in forms.items()]
    return ["" if pd.isna(value) else marked(form(value), value) for value, form in values]


def _rate(value: float) -> str:
    return grouped(f"{value:.0f}")


def _notes(frame: pd.DataFrame, study: Study) -> list[str]:
    notes = []
    numbers = sorted({int(n) for n in frame["repetitions"] if n})
    if numbers:
        if numbers[-1] == 1:
            text = _(
                "Here: one run each. Change: how much higher the throughput of the second is; one "
                "run has no interval."
            )
        elif study.imported:
            text = _(
                "Here: means of {} runs. Change: how much higher the throughput of the second is, "
                "as the ratio of the geometric means, with its 95 % interval (Welch's, on "
                "logarithms; not paired, for repetitions of imported logs only have the same "
                "number)."
            )
        else:
            text = _(
                "Here: means of {} runs. Change: how much higher the throughput of the second is, "
                "as the geometric mean of the repetitions' ratios, with its 95 % interval (paired "
                "by repetition, t distribution on logarithms)."
            )
        runs = str(numbers[0])
        if len(numbers) > 1:
            runs = between(runs, str(numbers[-1]))
        notes.append(text.format(runs))
    inside = [
        study.workload(row.workload).title
        for row in frame.itertuples()
        if 1 / row.floor <= 1 + row.change <= row.floor
    ]
    if inside:
        notes.append(_("Not above the noise floor: {}.").format(", ".join(inside)))
    some = frame[(frame["failed_baseline"] > 0) | (frame["failed_store"] > 0)]
    if len(some):
        kinds = list_of(_(KINDS[name]) for name in some["failed_operation"].unique())
        text = _("Failed: share of the {}; no other operations failed more often.")
        notes.append(text.format(kinds))
    for text in dict.fromkeys(note for note in frame["note"] if note):
        text = sentence(text)
        notes.append(text[:1].upper() + text[1:] + ".")
    return notes
