"""Tables of results: one column per store, published values next to the measured ones.

The arrangement is the thesis's (tables 4.2-4.5): run time and throughput, then
for each operation and for the combined operations the number of operations and
the latencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.exhibits.table import Table, kind_of_means, span_of, values_head
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import (
    Grid,
    Head,
    Paper,
    Statistic,
    TableCell,
    TableRow,
    TableSection,
    cell_of,
    head_of,
)
from kvstudy.layout.numbers import MARK, amount, fixed, grouped, operation_word, sign, whole
from kvstudy.layout.rich_text import DASH, RichText, hanging, note, phantom, raised, rich
from kvstudy.libraries import pd
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import Name
from kvstudy.study.cells import own_sizes
from kvstudy.study.metrics import LATENCIES, METRICS
from kvstudy.study.parts import PrintedForm

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

COLUMNS = [
    *["store", "operation", "metric", "unit", "n", "mean", "sd", "cv", "min", "max"],
    *["published", "inconsistent", "note"],
]
# Columns that fit side by side, where no published ones are between them.
MOST_STORES = 10
# Marks a percentile with few operations beyond it.
RARE = "\N{DAGGER}"
COMBINED = N_(
    "{}: unweighted means of the values of these operations, not averages, extremes or percentiles "
    "of all operations; measured numbers of operations are sums, without failed operations."
)
COMBINED_BY_SOURCE = N_(
    "{}: unweighted means of the values of these operations, as in the source, not averages, "
    "extremes or percentiles of all operations; numbers of operations are sums, the measured ones "
    "without failed operations."
)
OWN_SIZE = N_(
    "{}: {} instead of {}; do not compare its run times, minima and maxima with the others'."
)
OTHER_SIZE = N_(
    "A run has {} operations here and {} in the source: run times, minima and maxima are not "
    "comparable."
)


class ResultsTable(Table):
    """Run time, throughput and latencies of one workload, one column per store."""

    in_template = True

    kind: Literal["results"] = Field(
        description="Run time, throughput and latencies of a workload, one column per store."
    )
    workload: Name = Field(description="The workload.")

    def rows(self, run: Run) -> pd.DataFrame:
        """Everything that the table shows, one value a row, unrounded.

        Columns: store, operation, metric, unit, n, mean, sd, cv, min, max,
        published, inconsistent, note. A value that does not exist is NaN; the note says why.
        """
        results, rows = run.results, []
        states = {store: results.state(store, self.workload) for store in run.study.store_names}
        stores = list(states)
        if run.study.imported and not results.has_published:
            # Others than those of the logs were never meant to have one.
            stores = [name for name in stores if states[name].label != "not measured"] or stores
        # Top to bottom.
        lines = [
            *[("overall", "runtime"), ("overall", "throughput")],
            *product(results.operations(self.workload), ("operations", *LATENCIES)),
        ]
        for operation, metric in lines:
            for store in stores:
                key = (store, self.workload, operation, metric)
                value = results.measured(*key)
                row = value._asdict() if value else {"n": 0}
                row |= {"store": store, "operation": operation, "metric": metric}
                row["unit"] = METRICS[metric].unit
                if value and not self.plain_means(run.study):
                    row["mean"] = value.shown
                row["published"], row["inconsistent"] = (
                    results.published(*key),
                    results.inconsistent(*key),
                )
                row["note"] = "; ".join(states[store].problems)
                rows.append(row)
        return pd.DataFrame(rows, columns=COLUMNS)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per operation; one column per store, or two: here and published."""
        published, stores = run.results.has_published, list(rows["store"].unique())
        fewest = rows[rows["metric"] == "operations"].set_index(["store", "operation"])["min"]
        states = {store: run.results.state(store, self.workload).label for store in stores}
        sections = []
        for operation, of_operation in rows.groupby("operation", sort=False):
            words = "" if operation == "overall" else operation_word(operation, " + ").capitalize()
            title = _("{} (arithmetic mean)").format(words) if "+" in operation else words
            sections.append(TableSection(title, []))
            for metric, of in of_operation.groupby("metric", sort=False):
                label, unit = _(METRICS[metric].row), METRICS[metric].unit
                cells = []
                for row in of.itertuples():
                    # Where no run counts, the column says so once.
                    gap = "" if states[row.store] else DASH
                    marks = _marks(row, fewest)
                    cells.append(_number(row, marks, self._runs(row, run)) if row.n else gap)
                    if published:
                        marks = MARK if row.inconsistent else ""
                        cells.append(_published(run.study, metric, row.published, marks))
                label = label if unit == "count" else f"{label} ({sign(unit)})"
                sections[-1].lines.append(TableRow(label, cells))
        groups, columns, incomplete = self._heads(stores, run)
        grid = Grid(columns, sections, groups=groups)
        cells = "".join(text for line in grid.lines for text in line.texts)
        grid.notes = [*self._notes(run, stores, cells), *incomplete]
        grid.paper = Paper(hang=True, most=0 if published else MOST_STORES)
        return [grid]

    def _runs(self, row, run: Run) -> Statistic:
        """Return how a mean follows from single runs: geometric of rates, as the table has it."""
        rates = row.unit == "ops/s" and not self.plain_means(run.study)
        key = (row.store, self.workload, run.headline[self.workload], row.operation, row.metric)
        return Statistic("geometric" if rates else "mean", (key,))

    def _heads(
        self, stores: list[str], run: Run
    ) -> tuple[list[tuple[Head, int]], list[Head], list[RichText]]:
        """The heads of stores, those below them, and why the marked ones are incomplete."""
        states = {store: run.results.state(store, self.workload) for store in stores}
        notes: dict[str, str] = {}
        groups, columns, published = [], [], run.results.has_published
        for store, state in states.items():
            title = run.titles[store]
            if state.problems and state.counted:
                text = _("Mean of {} of {} runs.").format(state.counted, state.planned)
                title += raised(notes.setdefault(text, ascii_lowercase[len(notes)]))
            groups.append((head_of(title, store=store), 2 if published else 1))
            # Says so once, in the middle of the column.
            here = rich(values_head(run.study) if published else "")
            columns.append(Head(here, store, gap=sentence(state.label)))
            if published:
                head = rich(pgettext("column", "published"))
                columns.append(Head(head, store, published=True))
        return groups, columns, [note(mark, text) for text, mark in notes.items()]

    def _notes(self, run: Run, stores: list[str], cells: str) -> Iterator[str | RichText]:
        """Explain the numbers, and the marks in the ``cells``."""
        results = run.results
        runs = span_of(results.state(store, self.workload).counted for store in stores)
        if runs == "1":
            yield _("Measured: one run.")
        elif runs:
            here = _(
                "Measured: arithmetic means of {} runs; percentiles are averaged, too."
            ).format(runs)
            plain = self.plain_means(run.study)
            yield here if plain else f"{here} {kind_of_means(run.study, plain)}"
        combined = results.all_operations(self.workload) or ""
        if "+" in combined:
            key = (self.workload, combined, "latency_mean")
            published = any(results.published(store, *key) is not None for store in stores)
            text = COMBINED_BY_SOURCE if published else COMBINED
            yield _(text).format(operation_word(combined, " + ").capitalize())
        sizes = [one for one in own_sizes(run.study, run.scale) if one.workload == self.workload]
        for one in sizes:
            title = run.titles[one.store]
            yield _(OWN_SIZE).format(title, amount(one.size, one.number), whole(one.planned))
        for store in [store for store in stores if store not in {one.store for one in sizes}]:
            key = (store, self.workload, combined, "operations")
            here, published_cell = results.measured(*key), results.published(*key)
            if here and published_cell and abs(here.mean / published_cell - 1) > 0.01:
                yield _(OTHER_SIZE).format(whole(here.mean), whole(published_cell))
                break
        if "*" in cells:
            percent = f"{NOISY * 100:.0f}\N{NARROW NO-BREAK SPACE}%"
            text = _("The coefficient of variation over the runs is above {}.")
            yield note("*", text.format(percent))
        if RARE in cells:
            text = _("Imprecise: fewer than {} operations of a run exceed this percentile.")
            yield note(RARE, text.format(ENOUGH_BEYOND))


def _marks(row, fewest: pd.Series) -> str:
    """Return the marks of a measured value; ``fewest`` are a run's operations by store and kind."""
    marks = "*" if row.cv > NOISY else ""
    if percent := METRICS[row.metric].percent:
        counts = fewest.reindex([(row.store, part) for part in row.operation.split("+")])
        if (counts * (100 - percent) / 100 < ENOUGH_BEYOND).any():
            marks += RARE
    return marks


def _number(row, marks: str, runs: Statistic) -> TableCell:
    if pd.isna(row.mean):
        return cell_of(DASH)
    return replace(_aligned(grouped(fixed(row.metric, row.mean)), 1, row.mean, marks), runs=runs)


def _published(study: Study, metric: str, value: float | None, marks: str) -> TableCell:
    """``value`` with all decimals that its source prints."""
    if pd.isna(value):
        return cell_of(DASH)
    form = study.source.printed if study.source else PrintedForm()
    text = grouped(form.digits(metric, value).replace(",", ""))
    return _aligned(text, max([form.most_decimals, *form.decimals.values()]), value, marks)


def _aligned(text: str, decimals: int, value: float, marks: str) -> TableCell:
    """``text`` for a right-aligned column, in which decimals that it lacks keep their place free.

    ``marks`` are high behind the number without taking room.
    """
    _whole, mark, has = text.partition(decimal_mark())
    lacking = decimal("." * (not mark) + "0" * (decimals - len(has)))
    return cell_of(rich(text) + hanging(raised(marks)) + phantom(lacking), value)
