"""Table that compares one store with another: throughput per workload, and what failed."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import floor_of
from kvstudy.analyse.tidy.results import THROUGHPUT
from kvstudy.analyse.tidy.summary import OPERATIONS
from kvstudy.exhibits.printed import label_of
from kvstudy.exhibits.table import (
    Table,
    interval_head,
    kind_of_means,
    span_of,
    throughput_of,
)
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection, head_of, number_cell
from kvstudy.layout.numbers import between, change, share, whole
from kvstudy.layout.rich_text import DASH, with_mark
from kvstudy.libraries import pd
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.base import Name
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.exhibits.printed import PublishedSource
    from kvstudy.study.model import Study

COLUMNS = [
    *["workload", "repetitions", "baseline", "store", "change", "low", "high"],
    *["failed_operation", "failed_baseline", "failed_store"],
    *["published_baseline", "published_store", "published_change"],
    *["published_failed_baseline", "published_failed_store"],
    *["inconsistent_baseline", "inconsistent_store", "floor", "note"],
]
# What the columns show, and how it is written.
FORMS = {
    **{"baseline": whole, "store": whole, "change": change},
    **{"failed_baseline": share, "failed_store": share},
}
NUMBERS = [*FORMS, *(f"published_{name}" for name in FORMS), "low", "high"]
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

    in_template = True
    compares = True

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that counts as 100 %.")
    store: Name = Field(description="The store that is compared with it.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload, then the mean of all workloads.

        ``baseline`` and ``store`` are mean throughputs in ops/s (geometric, plain in a table of
        the source) over the ``repetitions`` that both have; of imported logs, whose repetitions
        only share a number, over all runs of each (``repetitions``: of the one that has fewer).
        ``change`` is the ratio of the geometric means less one, ``low`` and ``high`` its
        95 % interval (NaN for fewer than two), as in ``findings.pairs``.
        ``failed_*`` are shares (0 to 1) of the operations of the kind ``failed_operation``
        that failed, the kind that failed most. ``floor`` is the noise floor
        (``findings.pairs.floors``): by so much one store differs from itself. A value that does not
        exist is NaN.
        """
        study = run.study
        workloads = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
        rows = [self._row(run, name) for name in workloads]
        frame = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))
        return frame.assign(floor=floor_of(run.analysis.floor) or math.nan)

    def _row(self, run: Run, workload: str) -> dict[str, object]:
        study, results = run.study, run.results
        both = {"baseline": self.baseline, "store": self.store}
        runs = [pd.Series(results.runs(store, workload, *THROUGHPUT)) for store in both.values()]
        if not study.imported:
            runs = runs[0].align(runs[1], join="inner")
        row = {"workload": workload, "repetitions": min(map(len, runs)), "failed_operation": ""}
        if row["repetitions"]:
            mean = fmean if self.plain_means(study) else geometric_mean
            row |= zip(both, map(mean, runs), strict=True)
            setting = (workload, run.headline.get(workload, "all"))
            ratio = run.spread.ratio(setting, self.store, self.baseline)
            row["change"] = ratio.value - 1
            if ratio.low is not None:
                row |= {"low": ratio.low - 1, "high": ratio.high - 1}
        shares = {
            operation: [results.failed_share(store, workload, operation) for store in both.values()]
            for operation in SINGLE_OPERATIONS
        }
        shares = {operation: of for operation, of in shares.items() if None not in of}
        if shares:
            row["failed_operation"] = worst = max(shares, key=lambda name: max(shares[name]))
            row["failed_baseline"], row["failed_store"] = shares[worst]
        problems = []
        for side, store in both.items():
            row[f"published_{side}"] = results.published(store, workload, *THROUGHPUT)
            row[f"inconsistent_{side}"] = results.inconsistent(store, workload, *THROUGHPUT)
            failed = (
                results.published(store, workload, operation, "failed_share")
                for operation in SINGLE_OPERATIONS
            )
            failed = next((percent / 100 for percent in failed if percent is not None), None)
            row[f"published_failed_{side}"] = failed
            if workload != MEAN:
                problems += results.state(store, workload).problems
        gain = results.published(self.store, workload, "overall", "throughput_change")
        gain = None if gain is None else gain / 100
        return row | {"published_change": gain, "note": "; ".join(dict.fromkeys(problems))}

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload, below it what the source published."""
        lines = []
        for row in rows.itertuples():
            interval = DASH
            if not math.isnan(row.low):
                interval = between(change(row.low).removesuffix(" %"), change(row.high))
            setting = (row.workload, run.headline.get(row.workload, "all"))
            runs = {
                side: throughput_of(store, [setting])
                for side, store in (("baseline", self.baseline), ("store", self.store))
            }
            runs["change"] = throughput_of(self.store, [setting], self.baseline)
            here, published = (
                [
                    number_cell(getattr(row, of + name), form, runs.get(of + name))
                    for name, form in FORMS.items()
                ]
                for of in ("", "published_")
            )
            title = run.study.workload(row.workload).title
            here.insert(3, interval)
            lines.append(TableRow(title, here, workload=row.workload))
            if not all(cell.empty for cell in published):
                inconsistent = [row.inconsistent_baseline, row.inconsistent_store]
                published[:2] = [
                    cell.styled(partial(with_mark, inconsistent=marked))
                    for cell, marked in zip(published[:2], inconsistent, strict=True)
                ]
                published.insert(3, DASH)
                words = _("published")
                lines.append(TableRow(words, published, workload=row.workload, published=True))
        groups = [
            *[(_("Throughput (ops/s)"), 2), (pgettext("of throughput", "Change"), 2)],
            (_("Failed"), 2),
        ]
        both = [head_of(run.titles[name], store=name) for name in (self.baseline, self.store)]
        columns = [*both, pgettext("of ratios", "mean"), interval_head(), *both]
        notes = _notes(rows, run.study, self.plain_means(run.study))
        paper = Paper(gap=".22em", head=20)
        return [Grid(columns, [TableSection("", lines)], notes, groups=groups, paper=paper)]

    def published_rows(self, source: PublishedSource) -> pd.Series:
        """All values of the two stores that it is about, wherever they were published."""
        values = source.values
        of_both = values["store"].isin([self.baseline, self.store])
        speed = (values["operation"] == "overall") & (values["metric"] == "throughput")
        return of_both & (speed | values["metric"].isin(["throughput_change", "failed_share"]))

    def published_grid(self, source: PublishedSource) -> Grid | None:
        """A line per workload, a column per metric and store."""
        values = source.values[self.published_rows(source)].dropna(subset="value")
        if values.loc[values["store"] == self.store].empty:
            return None
        by_key = {(row.workload, row.metric, row.store): row for row in values.itertuples()}
        metrics = ("throughput", "throughput_change", "failed_share")
        columns = [
            column
            for column in product(metrics, (self.baseline, self.store))
            if column in {key[1:] for key in by_key}
        ]
        lines = []
        for name in [*source.study.workload_names, MEAN]:
            cells = [by_key.get((name, *column)) for column in columns]
            if any(cells):
                title = source.study.workload(name).title
                lines.append(TableRow(title, [source.cell(row) for row in cells]))
        labels = {row.metric: label_of(row) for row in values.itertuples()}
        places = ", ".join(sentence(table) for table in dict.fromkeys(values["table"]))
        notes = [_("Source: {}.").format(places)]
        failing = [row.operation for row in values.itertuples() if row.metric == "failed_share"]
        if failing:
            kinds = list_of(_(operation) for operation in dict.fromkeys(failing))
            notes.append(_("Failed: share of {} operations.").format(kinds))
        stores = [store for _metric, store in columns]
        return source.table(
            *(list(map(source.title, stores)), [TableSection("", lines)]),
            notes=notes,
            upper=[labels[metric] for metric, _store in columns],
            stores=stores,
        )


def _notes(frame: pd.DataFrame, study: Study, plain: bool) -> list[str]:
    notes = []
    runs = span_of(frame["repetitions"])
    if runs == "1":
        text = _(
            "Measured: one run each. Change: by how much the second store's throughput is "
            "higher; one run has no interval."
        )
    elif study.imported:
        text = _(
            "Measured: means of {} runs. Change: by how much the second store's throughput is "
            "higher (ratio of geometric means, 95 % interval, unpaired because repetitions of "
            "imported logs share only their number)."
        )
    else:
        text = _(
            "Measured: means of {} runs. Change: by how much the second store's throughput is "
            "higher (geometric mean of the repetitions' ratios, 95 % interval)."
        )
    if runs:
        notes.append(text.format(runs))
    over_workloads = (frame["workload"] == MEAN).any()
    if over_workloads or runs not in ("", "1"):
        notes.append(kind_of_means(study, plain, over_workloads))
    inside = [
        study.workload(row.workload).title
        for row in frame.itertuples()
        if row.floor > 1 and 1 + row.low <= row.floor and 1 + row.high >= 1 / row.floor
    ]
    if inside:
        notes.append(_("Within the noise floor: {}.").format(", ".join(inside)))
    some = frame[(frame["failed_baseline"] > 0) | (frame["failed_store"] > 0)]
    if len(some):
        kinds = list_of(_(KINDS[name]) for name in some["failed_operation"].unique())
        text = _("Failed: share of the {}; other operations failed no more often.")
        notes.append(text.format(kinds))
    for text in dict.fromkeys(note for note in frame["note"] if note):
        text = sentence(text)
        notes.append(text[:1].upper() + text[1:] + ".")
    return notes
