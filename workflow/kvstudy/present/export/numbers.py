"""The values of a run as LaTeX macros, written as the report's tables write them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SETTING, read_csv
from kvstudy.analyse.tidy.numbers import fixed, significant
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.language.reasons import sentence
from kvstudy.present.typeset.latex import Latex, fill
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN

# Units as siunitx writes them; the macros of our own are in the template.
UNITS = {
    "ops/s": r"\kvops\per\second",
    "us": r"\micro\second",
    "ms": r"\milli\second",
    "%": r"\percent",
    "cores": r"\kvcores",
}
WITHOUT_UNIT = ("count", "share")
KEYS = [*SETTING, "operation", "metric"]
BOUNDS = ["n", "value", "low", "high", "cov"]


@dataclass(frozen=True)
class Number:
    """A value as it is printed; "" for what it does not have. ``unit`` is siunitx's."""

    key: Latex
    unit: Latex
    n: int
    mean: Latex
    sd: Latex
    low: Latex
    high: Latex


def numbers_tex(run: Run, template: Path) -> str:
    """The text of numbers.tex: macros, and each value of ``summary.csv`` with its 95 % interval.

    Stores and workloads of the plan without a value have the reason instead.
    """
    study, summary = run.study, run.summary
    path = run.analysis_folder / "intervals.csv"
    intervals = read_csv(path, [*KEYS, "unit", *BOUNDS], BOUNDS, "written by `kvstudy analyse`")
    swept = Swept(study, run.scale, summary, run.cells, None)
    own = run.cells[run.cells["store"].isin(study.store_names)]
    planned = list(dict.fromkeys(own[SETTING].itertuples(index=False, name=None)))
    there = set(summary[SETTING].itertuples(index=False, name=None))
    return fill(
        template,
        run=Latex(run.name),
        numbers=list(_numbers(summary, intervals)),
        gaps=[
            (Latex("/".join(place)), _plain(sentence(swept.reason(*place))))
            for place in planned
            if place not in there
        ],
        names=[(Latex(at), Latex(", ".join(below))) for at, below in _names(summary, planned)],
        shown=[*run.headline.items(), (MEAN, "all")],
        only=[(name, one) for name in study.workload_names if (one := _only(summary, name))],
        raw=Latex,
    )


def printed(metric: str, unit: str, value: float) -> str:
    """``value`` with the digits that the report's tables give it; "" for NaN."""
    if math.isnan(value):
        return ""
    return significant(value) if metric_of(metric).decimals is None else fixed(metric, value)


def _numbers(summary: pd.DataFrame, intervals: pd.DataFrame) -> Iterator[Number]:
    bounds = intervals.set_index(KEYS)[["low", "high"]]
    for row in summary.itertuples():
        key = tuple(getattr(row, name) for name in KEYS)
        low, high = bounds.loc[key] if key in bounds.index else (math.nan, math.nan)
        yield Number(
            key=Latex("/".join(key)),
            # A unit that is not known is left as it is: siunitx prints it.
            unit=Latex("" if row.unit in WITHOUT_UNIT else UNITS.get(row.unit, row.unit)),
            n=int(row.n),
            mean=Latex(printed(row.metric, row.unit, row.mean)),
            sd=Latex(printed(row.metric, row.unit, row.sd)),
            low=Latex("" if math.isnan(low) else significant(low)),
            high=Latex("" if math.isnan(high) else significant(high)),
        )


def _names(summary: pd.DataFrame, planned: list[tuple[str, ...]]) -> list[tuple[str, list[str]]]:
    """What there is below each part of a name: stores below "", their workloads, and so on."""
    names: dict[str, dict[str, None]] = {}
    for key in [*planned, *summary[KEYS].itertuples(index=False, name=None)]:
        for depth, name in enumerate(key):
            names.setdefault("/".join(key[:depth]), {})[name] = None
    return [(at, list(below)) for at, below in names.items()]


def _only(summary: pd.DataFrame, workload: str) -> str:
    """The one operation that the workload has, or "" when it has several."""
    found = set(summary.loc[summary["workload"] == workload, "operation"]) - {"overall"}
    return found.pop() if len(found) == 1 else ""


def _plain(text: str) -> Latex:
    """``text`` for a message on the terminal, where nothing is typeset."""
    harmless = "".join(" " if letter in "\\{}%#~^$&" else letter for letter in text)
    return Latex(" ".join(harmless.split()))
