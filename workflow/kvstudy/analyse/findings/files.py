"""The analysis of a run, and the files it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kvstudy.analyse.findings.bottleneck import BOTTLENECK
from kvstudy.analyse.findings.looks import LOOKS
from kvstudy.analyse.findings.normality import NORMALITY
from kvstudy.analyse.findings.open_loop import LATENCIES, RATES
from kvstudy.analyse.findings.over_time import ORDER, STEADINESS, drift_of
from kvstudy.analyse.findings.pairs import FLOOR, PAIRS
from kvstudy.analyse.findings.repetitions import (
    BOXES,
    INTERVALS,
    PERCENTILES,
    SPECTRUM,
    TRIMMED,
)
from kvstudy.analyse.findings.rounds import ROUNDS
from kvstudy.analyse.findings.separation import MODELS, ORDERS, SEPARATION
from kvstudy.analyse.findings.validity import AGREEMENT, VALIDITY
from kvstudy.analyse.tidy.results import only
from kvstudy.errors import DataError
from kvstudy.libraries import pd

# The tables of a run's analysis; next to them it has drift.json.
TABLES = {
    table.name: table
    for table in (
        *(
            INTERVALS,
            FLOOR,
            PAIRS,
            LOOKS,
            NORMALITY,
            PERCENTILES,
            SPECTRUM,
            BOXES,
            STEADINESS,
            ORDER,
        ),
        *(BOTTLENECK, TRIMMED, RATES, LATENCIES, AGREEMENT, VALIDITY, ROUNDS),
        *(SEPARATION, MODELS, ORDERS),
    )
}
# In these, what is shown is not of the headline sizes alone.
OF_ALL_SIZES = {"order", "open_rates", "open_percentiles", "rounds"}
# These are of the headline sizes alone, or of no size.
OF_ONE_SIZE = {"looks", "normality", "separation", "separation_models", "separation_orders"}


@dataclass(frozen=True)
class Analysis:
    """The tables of a run's analysis by their names, and ``drift`` (``over_time.drift_of``)."""

    intervals: pd.DataFrame
    floor: pd.DataFrame
    pairs: pd.DataFrame
    looks: pd.DataFrame
    normality: pd.DataFrame
    percentiles: pd.DataFrame
    spectrum: pd.DataFrame
    boxes: pd.DataFrame
    steadiness: pd.DataFrame
    order: pd.DataFrame
    bottleneck: pd.DataFrame
    trimmed: pd.DataFrame
    open_rates: pd.DataFrame
    open_percentiles: pd.DataFrame
    agreement: pd.DataFrame
    validity: pd.DataFrame
    rounds: pd.DataFrame
    separation: pd.DataFrame
    separation_models: pd.DataFrame
    separation_orders: pd.DataFrame
    drift: dict[str, object]


def analyse(run) -> Analysis:
    """Everything that is computed of the tidy tables of ``run``.

    Control cells are in ``order`` only; ``floor`` and ``bottleneck`` are made from them.
    """
    tables: dict[str, pd.DataFrame] = {}
    for name, table in TABLES.items():
        tables[name] = table.make(run, tables)
    return Analysis(**tables, drift=drift_of(tables["order"]))


def no_analysis() -> Analysis:
    """Return the analysis of a run without measurements."""
    tables = {name: table.frame() for name, table in TABLES.items()}
    return Analysis(**tables, drift=drift_of(ORDER.frame()))


def shown_of(analysis: Analysis, shown: Mapping[str, str]) -> Analysis:
    """The analysis with the shown parameters of each workload only; run order and rounds: all."""
    filtered = TABLES.keys() - OF_ALL_SIZES - OF_ONE_SIZE
    frames = {name: only(getattr(analysis, name), shown) for name in filtered}
    return replace(analysis, **frames)


def write_analysis(analysis: Analysis, folder: Path) -> None:
    """Write one CSV file per table, and drift.json, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        getattr(analysis, name).to_csv(table.path(folder), index=False, lineterminator="\n")
    text = json.dumps(analysis.drift, indent=1)
    (folder / "drift.json").write_text(text + "\n", encoding="utf-8")


def read_analysis(folder: Path) -> Analysis:
    """The analysis in ``folder``; DataError for a file that is missing or of another kind."""
    path = folder / "drift.json"
    try:
        drift = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); it is {ORDER.made_by}") from None
    tables = {name: table.read(folder) for name, table in TABLES.items()}
    return Analysis(**tables, drift=drift)
