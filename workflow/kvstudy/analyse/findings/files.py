"""The analysis of a run, and the files it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from kvstudy.analyse.findings import agreement as agreements
from kvstudy.analyse.findings import (
    bottleneck,
    boxes,
    floor,
    intervals,
    open_loop,
    order,
    pairs,
    percentiles,
    rounds,
    spectrum,
    steadiness,
    trimmed,
)
from kvstudy.analyse.findings import validity as validities
from kvstudy.analyse.tidy.files import CELL, ROUNDS, read_csv
from kvstudy.analyse.tidy.open_loop import NOTHING, OpenLoop
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.analyse.tidy.results import only
from kvstudy.errors import KvstudyError
from kvstudy.study.model import Study

# Of a study without such workloads.
NO_ROUNDS = ROUNDS.frame()
MADE_BY = "written by `kvstudy analyse`"


@dataclass(frozen=True)
class Analysis:
    """The tables of a run's analysis; their modules say what the columns are."""

    intervals: pd.DataFrame
    pairs: pd.DataFrame
    percentiles: pd.DataFrame
    spectrum: pd.DataFrame
    boxes: pd.DataFrame
    steadiness: pd.DataFrame
    order: pd.DataFrame
    floor: pd.DataFrame
    bottleneck: pd.DataFrame
    trimmed: pd.DataFrame
    open_rates: pd.DataFrame
    open_percentiles: pd.DataFrame
    drift: dict
    agreement: pd.DataFrame
    validity: pd.DataFrame
    rounds: pd.DataFrame


def analyse(
    study: Study,
    values: pd.DataFrame,
    cells: pd.DataFrame,
    series: pd.DataFrame,
    histograms: pd.DataFrame,
    measurements: pd.DataFrame,
    outcomes: pd.DataFrame,
    probes: Probes,
    at_rates: OpenLoop = NOTHING,
    in_rounds: pd.DataFrame = NO_ROUNDS,
) -> Analysis:
    """Everything that is worked out of a run's tidy tables.

    ``values`` has one row per repetition that counts (``tidy.summary.per_repetition``),
    ``measurements`` has those that do not too. Control cells are in ``order`` only;
    ``floor`` and ``bottleneck`` are made from them. ``at_rates`` are the open-loop cells;
    all others are closed-loop. ``in_rounds`` is ``rounds.csv``.
    """
    own = values[values["store"].isin(study.store_names)]
    counted = own[CELL].drop_duplicates()
    in_order = order.order(values, cells)
    floors = floor.floors(values, study)
    outcomes = outcomes.merge(cells[CELL], on=CELL)
    outcomes, measured = (
        frame[frame["store"].isin(study.store_names)] for frame in (outcomes, measurements)
    )
    agreement = agreements.agreement(outcomes, probes, agreements.writing_all_fields(study))
    return Analysis(
        intervals=intervals.intervals(own),
        pairs=pairs.pairs(own, floors, paired=study.imported is None),
        percentiles=percentiles.percentiles(histograms.merge(counted, on=CELL)),
        spectrum=spectrum.spectrum(histograms.merge(counted, on=CELL)),
        boxes=boxes.boxes(histograms.merge(counted, on=CELL)),
        steadiness=steadiness.steadiness(series.merge(counted, on=CELL)),
        order=in_order,
        floor=floors,
        bottleneck=bottleneck.bottleneck(values, study),
        trimmed=trimmed.trimmed(own),
        open_rates=open_loop.rates(at_rates),
        open_percentiles=open_loop.latencies(at_rates),
        drift=order.drift_of(in_order),
        agreement=agreement,
        validity=validities.validity(measured, cells, outcomes, agreement),
        rounds=rounds.rounds(in_rounds, counted),
    )


def shown_of(analysis: Analysis, shown: Mapping[str, str]) -> Analysis:
    """The analysis with the shown parameters of each workload only; run order and rounds: all."""
    of_all = ("order", "open_rates", "open_percentiles", "rounds")
    frames = {
        name: only(frame, shown)
        for name, frame in vars(analysis).items()
        if isinstance(frame, pd.DataFrame) and name not in of_all
    }
    return replace(analysis, **frames)


def write_analysis(analysis: Analysis, folder: Path) -> None:
    """Write one CSV file per table, and drift.json, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in vars(analysis).items():
        if isinstance(content, pd.DataFrame):
            content.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    text = json.dumps(analysis.drift, indent=1)
    (folder / "drift.json").write_text(text + "\n", encoding="utf-8")


def read_analysis(folder: Path) -> Analysis:
    """The analysis in ``folder``; KvstudyError for a file that is missing or of another kind."""
    path = folder / "drift.json"
    try:
        drift = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); it is {MADE_BY}") from None

    def table(module, numbers: list[str]) -> pd.DataFrame:
        path = folder / f"{module.__name__.rsplit('.', 1)[1]}.csv"
        return read_csv(path, module.COLUMNS, numbers, MADE_BY)

    return Analysis(
        intervals=table(intervals, ["n", "value", "low", "high", "cov"]),
        pairs=table(pairs, pairs.NUMBERS),
        percentiles=table(percentiles, ["percent", "value", "low", "high", "n", "beyond"]),
        spectrum=table(spectrum, ["percent", "value", "low", "high", "n", "beyond"]),
        boxes=table(boxes, boxes.NUMBERS),
        steadiness=table(steadiness, ["seconds", "cut", "variation", "whole", "steady"]),
        order=table(order, order.NUMBERS),
        floor=table(floor, floor.NUMBERS),
        bottleneck=table(bottleneck, bottleneck.NUMBERS),
        trimmed=table(trimmed, trimmed.NUMBERS),
        open_rates=read_csv(
            folder / "open_rates.csv", open_loop.RATE_COLUMNS, open_loop.RATE_NUMBERS, MADE_BY
        ),
        open_percentiles=read_csv(
            folder / "open_percentiles.csv",
            open_loop.PERCENTILE_COLUMNS,
            open_loop.PERCENTILE_NUMBERS,
            MADE_BY,
        ),
        drift=drift,
        agreement=table(agreements, ["least", "most", "counted", "deviation"]),
        validity=table(validities, validities.NUMBERS),
        rounds=table(rounds, rounds.NUMBERS),
    )
