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
        sections = []
        for kind, (title, decimals) in CHECKS.items():
            lines = _lines(rows[rows["kind"] == kind], run.study, stores, kind, decimals)
            sections += [Section(_(title), lines)] if lines else []
        sections += _combined(rows, run.study, stores)
        nothing = Section("", [Line(_("Nothing follows from other values"), [])])
        note = Rich.escape(_("{}: fails by more than rounding can do.")).format(bold(_("Bold")))
        columns = [marked(run.titles[store], store=store) for store in stores]
        return [Grid(columns, sections or [nothing], [note])]


def _lines(
    rows: pd.DataFrame, study: Study, stores: list[str], kind: Kind, decimals: int
) -> list[Line]:
    of_one = kind == Kind.THREADS
    keys = ["workload", *(SIZES[:-1] if of_one else SIZES), "operation"]
    lines = []
    for (workload, *_rest, operation), group in rows.groupby(keys, sort=False, dropna=False):
        cells = dict.fromkeys(stores, DASH)
        for row in group.itertuples():
            ratio = row.given / (row.expected if kind in (Kind.RUNTIME, Kind.FAILURES) else 1)
            cells[row.store] = marked(_bold(decimal(f"{ratio:.{decimals}f}"), row), ratio)
        label = [
            study.workload(workload).title,
            "" if operation == "overall" else operation_word(operation),
            sizes(row._replace(threads=math.nan) if of_one else row),
        ]
        lines.append(Line(", ".join(filter(None, label)), list(cells.values()), workload=workload))
    return lines


def _bold(text: str, row) -> str:
    return bold(text) if row.fits in MISFITS else text


def _combined(checks: pd.DataFrame, study: Study, stores: list[str]) -> list[Section]:
    """The published combined values above those of all operations together."""
    sections = []
    keys = ["workload", "operation", "metric"]
    plain = dict(list(checks[checks["kind"] == Kind.COMBINED].groupby(keys)))
    weighted = checks[checks["kind"] == Kind.WEIGHTED].groupby(keys, sort=False)
    for (workload, operation, metric), group in weighted:
        same = plain.get((workload, operation, metric), checks.head(0))
        [(_code, values)] = coded(group["what"].iloc[0])
        of = operation_word(operation, " + ")
        title = _("{} of {} (µs)").format(sentence(values["metric"]), of).capitalize()
        shown = {
            _("as published, a plain mean"): {
                row.store: _bold(number(row.given), row) for row in same.itertuples()
            },
            sentence(values["how"]): {
                row.store: number(round(row.expected, 1)) for row in group.itertuples()
            },
            _("published against it"): {
                row.store: change(row.given / row.expected - 1) for row in group.itertuples()
            },
        }
        lines = [
            Line(label, [cells.get(store, DASH) for store in stores])
            for label, cells in shown.items()
        ]
        title = f"{study.workload(workload).title}: {title}"
        sections.append(Section(title, lines, workload=workload))
    return sections
