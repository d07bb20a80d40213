"""What a bar chart shows, as a tidy table: the figure's CSV, and all that is drawn."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.analyse.tidy.numbers import converted
from kvstudy.analyse.tidy.results import Results
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_
from kvstudy.present.figures.torn import torn
from kvstudy.study.figure_kinds import Bars
from kvstudy.study.load import STUDIES
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

COLUMNS = [
    "panel",
    "group",
    "store",
    "value",
    "unit",
    "min",
    "max",
    "n",
    "torn",
    "note",
    "rejected",
]


def bars(
    figure: Bars, study: Study, results: Results, panels: tuple[str, ...] = ()
) -> pd.DataFrame:
    """One row per bar, in the order of drawing; empty places are rows without a value.

    ``panel`` is measured (imported, where others measured) or published (only where
    the study has published values), ``group`` the place on the x axis, ``value``,
    ``min`` and ``max`` are in ``unit`` (min and max over ``n`` repetitions; NaN for
    published values), ``torn`` is yes or no, ``note`` says why there is no bar, ``rejected`` is
    yes where the audit of the source rejects the value.
    ``panels`` leaves out the others.
    """
    groups = [
        (
            study.workload(workload).short if len(figure.workloads) > 1 else METRICS[metric].short,
            workload,
            metric,
        )
        for workload in figure.workloads
        for metric in figure.metrics
    ]
    frames = []
    here = "imported" if study.imported else "measured"
    for panel in panels or ((here, "published") if results.has_published else (here,)):
        rows = [
            {"panel": panel, "group": group, "store": store}
            | _bar(panel, figure, study, results, store, workload, metric)
            for group, workload, metric in groups
            for store in study.store_names
        ]
        values = [None if math.isnan(row["value"]) else row["value"] for row in rows]
        tops = [row["max"] for row in rows]
        places = [row["group"] for row in rows]
        tops = [0 if math.isnan(top) else top for top in tops]
        for row, is_torn in zip(rows, torn(values, tops, places), strict=True):
            row["torn"] = "yes" if is_torn else "no"
        frames.append(pd.DataFrame(rows, columns=COLUMNS))
    return pd.concat(frames, ignore_index=True)


def _bar(
    panel: str,
    figure: Bars,
    study: Study,
    results: Results,
    store: str,
    workload: str,
    metric: str,
) -> dict[str, object]:
    nothing = {"value": math.nan, "unit": figure.unit, "min": math.nan, "max": math.nan, "n": None}
    nothing["rejected"] = "no"
    operation = figure.operation
    if operation == "all":
        operation = results.all_operations(workload)
    if panel == "published":
        try:
            value = results.published(store, workload, operation or "", metric, figure.unit)
        except KeyError as error:
            raise _wrong_unit(study, figure, metric) from error
        if value is None:
            return nothing | {"note": N_("not published")}
        rejected = results.rejected(store, workload, operation or "", metric)
        return nothing | {"value": value, "note": "", "rejected": "yes" if rejected else "no"}
    value = results.measured(store, workload, operation or "", metric)
    if value is None:
        return nothing | {"note": results.state(store, workload).label or "not measured"}
    try:
        mean, low, high = (
            converted(number, value.unit, figure.unit)
            for number in (value.mean, value.min, value.max)
        )
    except KeyError as error:
        raise _wrong_unit(study, figure, metric) from error
    return nothing | {"value": mean, "min": low, "max": high, "n": value.n, "note": ""}


def _wrong_unit(study: Study, figure: Bars, metric: str) -> KvstudyError:
    return KvstudyError(
        f"{STUDIES / study.name / 'study.yaml'}: figures: {figure.name}: {metric} has no unit "
        f"{figure.unit!r}; ops/s and kops/s fit throughput, s and ms run time, us, ms and s "
        "latencies"
    )
