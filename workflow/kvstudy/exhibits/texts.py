"""Texts of values, as tables write them, and marks next to values that are not like the others."""

from __future__ import annotations

from collections.abc import Mapping

from kvstudy.language.current import ngettext
from kvstudy.layout.grid import Statistic
from kvstudy.layout.looks import DARK, Style
from kvstudy.layout.numbers import (
    MARK,
    OTHER_SIZE,
    between,
    fixed,
    grouped,
    marked_values,
    of_other_sizes,
    sign,
)
from kvstudy.libraries import pd
from kvstudy.study.base import ALL
from kvstudy.study.metrics import metric_of
from kvstudy.study.units import UNIT_FACTORS

# Decimals that are made by converting to the axis's unit and back, and no others.
ROUNDING = 6
# By the column that says yes or no.
MARKS = {"inconsistent": (MARK, marked_values), "other_size": (OTHER_SIZE, of_other_sizes)}


def exact(metric: str, value: float | None, unit: str) -> str:
    """``value``, given in ``unit``, with the unit and the decimals of ``metric`` in tables.

    Nothing for a value that is missing.
    """
    if pd.isna(value):
        return ""
    base = metric_of(metric).unit
    in_base = round(value / UNIT_FACTORS[base, unit], ROUNDING)
    return f"{grouped(fixed(metric, in_base))} {sign(base)}"


def exact_range(metric: str, low: float | None, high: float | None, unit: str) -> str:
    """From ``low`` to ``high`` as ``exact`` has them; nothing where one is missing."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return between(exact(metric, low, unit), exact(metric, high, unit))


def runs(n: float | None) -> str:
    """Return the number of runs behind a value."""
    return "" if pd.isna(n) else ngettext("{} run", "{} runs", int(n)).format(int(n))


def value_texts(row: Mapping, metric: str, unit: str) -> dict[str, str]:
    """The texts ``exact``, ``range`` (of several runs) and ``runs`` of a row's value."""
    ends = (row["low"], row["high"]) if row["n"] > 1 else (None, None)
    return {
        "exact": exact(metric, row["value"], unit),
        "range": exact_range(metric, *ends, unit),
        "runs": runs(row["n"]),
    }


def means_of_runs(rows: pd.DataFrame) -> list[str]:
    """Return ``Statistic.text`` of each row's mean, "" where it has no runs or no log line.

    Columns: store, workload, parameters, operation, metric, n. It is the geometric mean of rates,
    and else the plain one.
    """
    return [
        Statistic("geometric" if row.metric == "throughput" else "mean", (key,)).text
        if row.n and row.operation != ALL
        else ""
        for row in rows.itertuples()
        for key in [(row.store, row.workload, row.parameters, row.operation, row.metric)]
    ]


def marks_of(row: Mapping[str, str]) -> dict[str, str]:
    """The marks of one value, each with its meaning."""
    return {mark: words() for column, (mark, words) in MARKS.items() if row.get(column) == "yes"}


def mark_texts(table: pd.DataFrame) -> list[str]:
    """Return the marks of each row as one text."""
    return ["".join(marks_of(row)) for row in table.to_dict("records")]


def mark_entries(table: pd.DataFrame) -> list[Style]:
    """The entries in a legend of the marks that the ``table`` has."""
    return [Style(words, DARK, marker=f"${mark}$") for mark, words in _all_of(table).items()]


def mark_notes(table: pd.DataFrame) -> list[str]:
    """Explain the marks in the ``table``, one sentence each."""
    return [f"{mark}: {words}." for mark, words in _all_of(table).items()]


def _all_of(table: pd.DataFrame) -> dict[str, str]:
    return marks_of({name: "yes" for name in MARKS if "yes" in set(table.get(name, ()))})
