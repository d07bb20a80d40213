"""The tables of the audit: what was checked and does not fit, and what each source table gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pandas as pd

from kvstudy.analyse.audit.check import Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.claims.words import sized
from kvstudy.analyse.tidy.numbers import change, grouped, significant
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import coded, sentence
from kvstudy.present.tables.checks import DASH, Grid, Line, Section, operation_word
from kvstudy.present.tables.markup import Rich, bold, marked, stacked
from kvstudy.study.base import SIZES
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

KINDS = {
    Kind.LITTLE: N_("Throughput, latency and threads (Little's law)"),
    Kind.RUNTIME: N_("Throughput times run time = operations"),
    Kind.COMBINED: N_("Combined rows = what they are said to be"),
    Kind.WEIGHTED: N_("Combined rows against all operations together"),
    Kind.COUNTS: N_("Operation counts = the operations of a run"),
    Kind.STEPS: N_("Means of whole numbers"),
    Kind.MIXTURE: N_("Scatter of the operation counts"),
    Kind.FAILURES: N_("Operation counts and stated failures"),
    Kind.ORDER: N_("Order of minimum, mean, percentiles, maximum"),
    Kind.THREADS: N_("N threads at most N times as fast as one"),
    Kind.TEXT: N_("Numbers in the text = the tables"),
}
# What changes if a number is wrong that does not fit.
SEVERITIES = {
    Fits.RESULT: N_("changes a result"),
    Fits.VALUE: N_("changes a value"),
    Fits.DIGITS: N_("changes digits"),
}
# Of these, a bound is expected, and no value.
BOUNDED = (Kind.LITTLE, Kind.MIXTURE, Kind.THREADS)
MINUS = "\N{MINUS SIGN}"


@dataclass
class Misfit(Line):
    """One check that does not fit; ``notes`` stand below it."""

    notes: list[str] = field(default_factory=list)


def content(checks: pd.DataFrame, study: Study, titles: dict[str, str]) -> dict[str, object]:
    """What the templates need: ``kinds`` with their counts; ``sections`` of what does not fit."""
    kinds = []
    for kind, title in KINDS.items():
        fits = checks.loc[checks["kind"] == kind, "fits"]
        if len(fits):
            kinds.append(Line(_(title), [str(len(fits))] + [_count(fits, each) for each in Fits]))
    sections = []
    for fits, rows in gravest_first(checks).groupby("fits", sort=False):
        lines = [_misfit(row, study, titles) for row in rows.itertuples()]
        title = _(SEVERITIES[fits])
        sections.append(Section(title[:1].upper() + title[1:], lines))
    return {
        "heads": [
            *[_("Checks"), *(stacked(*_(each).split(" ", 1)) for each in SEVERITIES.values())],
            *[pgettext("check", "fit"), pgettext("check", "not judged")],
        ],
        "misfit_heads": [
            *[
                _("Does not fit"),
                pgettext("check", "printed"),
                _("should be"),
                stacked(_("off by"), _("at least")),
            ]
        ],
        "kinds": kinds,
        "sections": sections,
    }


def _count(fits: pd.Series, which: Fits) -> str:
    number = int((fits == which).sum())
    return str(number) if number else DASH


def _misfit(row, study: Study, titles: dict[str, str]) -> Misfit:
    place = ", ".join(sentence(each) for each in row.place.split(", "))
    if row.kind == Kind.TEXT:
        place = sentence(row.place)
    parts = [place[:1].upper() + place[1:]]
    if row.store:
        parts.append(titles.get(row.store, row.store))
    if row.workload:
        known = row.workload in study.workload_names or row.workload == MEAN
        parts.append(study.workload(row.workload).title if known else row.workload)
    parts.append(sizes(row))
    place = ", ".join(part for part in parts if part)
    given, expected = _number(row.given), _number(row.expected)
    if row.kind in BOUNDED or (row.kind == Kind.RUNTIME and row.given > row.high):
        given = significant(row.given) if row.kind in BOUNDED else given
        expected = _("at most {}").format(grouped(significant(row.high)))
    # Counts say in words of what they are.
    unit = "" if row.unit in ("", "operations", "records", "runs", "reads") else f" {row.unit}"
    note = row.note and sentence(row.note).rstrip(".") + "."
    cells = [given + unit, expected, off(row)]
    return Misfit(f"{place}: {sentence(row.what)}", cells, notes=[note] if note else [])


def sizes(row) -> str:
    """``10 000 records, 4 threads``; "" where none is given."""
    found = []
    for name in SIZES:
        number = getattr(row, name)
        if not math.isnan(number):
            found.append(sized(name, int(number)).format(grouped(f"{number:.0f}")))
    return ", ".join(found)


def off(row) -> str:
    """By how much, in %, the given value is beyond what fits (``Check.off``)."""
    if math.isinf(row.off):
        return DASH
    share = abs(row.off) * 100
    if share < 0.01:
        return f"<{decimal('0.01')} %"
    return f"{MINUS if row.off < 0 else '+'}{significant(share, 2)} %"


def _number(value: float) -> str:
    """With as many digits as one needs to see a difference."""
    text = f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
    return grouped(text).replace("-", MINUS)


def of_workload(checks: pd.DataFrame, workload: str) -> pd.DataFrame:
    """The checks of the tables' values of a workload."""
    return checks[(checks["workload"] == workload) & (checks["kind"] != Kind.TEXT)]


def beside(checks: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """What the checks of one workload give, by store; ``checks`` are ``of_workload``'s."""
    stores = [store for store in study.store_names if store in set(checks["store"])]
    sections = []
    for title, kind, number, places in (
        (
            _("Share of the time in calls: throughput times mean latency by threads"),
            Kind.LITTLE,
            _given,
            3,
        ),
        (_("Throughput times run time, by the operations"), Kind.RUNTIME, _by_expected, 4),
        (_("Operations, by those that stated failures leave"), Kind.FAILURES, _by_expected, 4),
        (
            _("Throughput of N threads, by N times that of one (the most)"),
            Kind.THREADS,
            _given,
            2,
        ),
    ):
        rows = checks[checks["kind"] == kind]
        lines = _lines(rows, stores, number, places, several=kind != Kind.THREADS)
        if lines:
            sections.append(Section(title, lines))
    sections += _combined(checks, stores)
    return {
        "columns": [marked(titles[store], store=store) for store in stores],
        "sections": sections or [Section("", [Line(_("Nothing follows from other values"), [])])],
        "notes": [
            Rich.escape(_("{}: does not fit, by more than rounding can do.")).format(
                bold(_("Bold"))
            )
        ],
    }


def _given(row) -> float:
    return row.given


def _by_expected(row) -> float:
    return row.given / row.expected


def _lines(rows: pd.DataFrame, stores: list[str], number, places: int, several: bool) -> list[Line]:
    """A line for each set of sizes and operation."""
    same = [*SIZES, "operation"] if several else ["records", "operations"]
    lines = []
    for _key, group in rows.groupby(same, sort=False, dropna=False):
        first = next(group.itertuples())
        label = [sizes(first)] if several else [sizes(first._replace(threads=math.nan))]
        if first.operation not in ("", "overall"):
            label.insert(0, operation_word(first.operation))
        by_store = {row.store: row for row in group.itertuples()}
        cells = [
            _cell(number(by_store[s]), places, by_store[s]) if s in by_store else DASH
            for s in stores
        ]
        lines.append(Line(", ".join(part for part in label if part) or _("all operations"), cells))
    return lines


def _cell(value: float, places: int, row) -> str:
    return marked(_bold(decimal(f"{value:.{places}f}"), row), value)


def _bold(text: str, row) -> str:
    return bold(text) if row.fits in SEVERITIES else text


def _combined(checks: pd.DataFrame, stores: list[str]) -> list[Section]:
    """The published combined values above those of all operations together."""
    sections = []
    rows = checks[checks["kind"] == Kind.WEIGHTED]
    plain = checks[checks["kind"] == Kind.COMBINED]
    for (operation, metric), group in rows.groupby(["operation", "metric"], sort=False):
        [(_code, values)] = coded(group["what"].iloc[0])
        same = plain[(plain["operation"] == operation) & (plain["metric"] == metric)]
        of = " + ".join(_(each) for each in operation.split("+"))
        title = _("{} of {} (µs)").format(sentence(values["metric"]), of).capitalize()
        published = {row.store: _bold(_number(row.given), row) for row in same.itertuples()}
        of_all = {row.store: _number(round(row.expected, 1)) for row in group.itertuples()}
        against = {row.store: change(row.given / row.expected - 1) for row in group.itertuples()}
        lines = [
            Line(label, [values.get(store, DASH) for store in stores])
            for label, values in (
                (_("as published, a plain mean"), published),
                (sentence(values["how"]), of_all),
                (_("published against it"), against),
            )
        ]
        sections.append(Section(title, lines))
    return sections
