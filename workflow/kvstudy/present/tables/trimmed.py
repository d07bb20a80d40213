"""The table of trimmed means, of a study that uses them."""

from __future__ import annotations

import pandas as pd

from kvstudy.analyse.tidy.numbers import between, grouped, significant
from kvstudy.language.current import _
from kvstudy.present.tables.checks import DASH, Grid, Line, Section, by_workload
from kvstudy.present.tables.markup import marked
from kvstudy.study.model import Study


def content(found: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """``found`` is ``analysis.trimmed``'s; a section per workload and parameters."""
    sections = []
    for title, rows in by_workload(found, study):
        lines = []
        for store in study.store_names:
            by_metric = rows[rows["store"] == store].set_index("metric")
            if len(by_metric):
                lines.append(Line(titles[store], _cells(by_metric), store))
        sections.append(Section(title, lines, workload=rows["workload"].iloc[0]))
    return {
        "columns": [
            *(_("ops/s: mean"), _("trimmed"), _("95 % interval")),
            *(_("Run time in ms: mean"), _("trimmed"), _("95 % interval")),
        ],
        "sections": sections,
        "sortable": True,
        "notes": [
            _(
                "Means over the runs. Trimmed: without the smallest and the largest fifth of the "
                "runs (of five runs one each), with Tukey and McLaughlin's interval."
            )
        ],
    }


def _cells(by_metric: pd.DataFrame) -> list[str]:
    cells = []
    for metric in ("throughput", "runtime"):
        if metric not in by_metric.index:
            cells += [DASH] * 3
            continue
        row = by_metric.loc[metric]
        mean, trimmed, low, high = (
            marked(grouped(significant(row[name], 4)), row[name])
            for name in ("mean", "trimmed", "low", "high")
        )
        cells += [mean, trimmed, between(low, high)]
    return cells
