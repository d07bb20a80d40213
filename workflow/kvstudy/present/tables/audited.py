"""The table of what the checks of the source's values found, by workload and store."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.audit.check import MISFITS, Kind
from kvstudy.analyse.tidy.numbers import change
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import coded, sentence
from kvstudy.libraries import pd
from kvstudy.present.tables.audit import checks_of, number, sizes
from kvstudy.present.typeset.latex import DASH, Rich, bold, marked
from kvstudy.present.typeset.table import Grid, Line, Section, Table, operation_word
from kvstudy.study.base import SIZES

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study


# Of each kind of check the title of its section, and the decimals.
CHECKS = {
    Kind.LITTLE: (N_("Share of the time in calls: throughput times mean latency ÷ threads"), 3),
    Kind.RUNTIME: (N_("Throughput times run time ÷ operations"), 4),
    Kind.FAILURES: (N_("Operations ÷ those that the stated failures leave"), 4),
    Kind.THREADS: (N_("Throughput of N threads ÷ N times that of one (the largest)"), 2),
}


class AuditedTable(Table):
    """What the checks of the values of the source's tables found."""

    cells = "none"
    own_caption = N_("Checks of the source's values")

    kind: Literal["audited"] = Field(
        description="The checks of the source's values, one column per store."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """The checks of the tables' values."""
        checks = checks_of(run)
        checks = checks[checks["workload"].isin(run.study.workload_names)]
        return checks[checks["kind"] != Kind.TEXT]

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per kind of check, a line for each workload, set of sizes and operation."""
        stores = [store for store in run.study.store_names if store in set(rows["store"])]
        sections = [
            Section(_(title), lines)
            for kind, (title, places) in CHECKS.items()
            if (lines := _lines(rows[rows["kind"] == kind], run.study, stores, kind, places))
        ]
        sections += _combined(rows, run.study, stores)
        nothing = Section("", [Line(_("Nothing follows from other values"), [])])
        note = Rich.escape(_("{}: fails by more than rounding can do."))
        columns = [marked(run.titles[store], store=store) for store in stores]
        return [Grid(columns, sections or [nothing], [note.format(bold(_("Bold")))])]


def _lines(
    rows: pd.DataFrame, study: Study, stores: list[str], kind: Kind, places: int
) -> list[Line]:
    several = kind != Kind.THREADS
    same = ["workload", *(SIZES if several else SIZES[:-1]), "operation"]
    lines = []
    for (workload, *_rest), group in rows.groupby(same, sort=False, dropna=False):
        first = next(group.itertuples())
        label = [study.workload(workload).title]
        if first.operation not in ("", "overall"):
            label.append(operation_word(first.operation))
        label.append(sizes(first if several else first._replace(threads=math.nan)))
        cells = dict.fromkeys(stores, DASH)
        for row in group.itertuples():
            by = row.expected if kind in (Kind.RUNTIME, Kind.FAILURES) else 1
            text = decimal(f"{row.given / by:.{places}f}")
            cells[row.store] = marked(_bold(text, row), row.given / by)
        label = ", ".join(part for part in label if part)
        lines.append(Line(label, [cells[store] for store in stores], workload=workload))
    return lines


def _bold(text: str, row) -> str:
    return bold(text) if row.fits in MISFITS else text


def _combined(checks: pd.DataFrame, study: Study, stores: list[str]) -> list[Section]:
    """The published combined values above those of all operations together."""
    sections = []
    rows = checks[checks["kind"] == Kind.WEIGHTED]
    plain = checks[checks["kind"] == Kind.COMBINED]
    keys = ["workload", "operation", "metric"]
    for (workload, operation, metric), group in rows.groupby(keys, sort=False):
        [(_code, values)] = coded(group["what"].iloc[0])
        same = plain[(plain[keys] == [workload, operation, metric]).all(axis=1)]
        of = operation_word(operation, " + ")
        title = _("{} of {} (µs)").format(sentence(values["metric"]), of).capitalize()
        title = f"{study.workload(workload).title}: {title}"
        published = {row.store: _bold(number(row.given), row) for row in same.itertuples()}
        of_all = {row.store: number(round(row.expected, 1)) for row in group.itertuples()}
        against = {row.store: change(row.given / row.expected - 1) for row in group.itertuples()}
        lines = [
            Line(label, [shown.get(store, DASH) for store in stores])
            for label, shown in (
                (_("as published, a plain mean"), published),
                (sentence(values["how"]), of_all),
                (_("published against it"), against),
            )
        ]
        sections.append(Section(title, lines, workload=workload))
    return sections
