"""The noise floor: what chance alone makes of two equal stores."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import Table
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.libraries import pd
from kvstudy.stats.ratios import paired_ratio
from kvstudy.study.controls import AGAIN, noise_store
from kvstudy.study.model import Study

NUMBERS = ["n", "ratio", "low", "high", "error", "floor"]
TABLE = Table("floor", ["workload", "parameters", "store", *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    return floors(throughputs(run.values), run.study)


def floors(values: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Per workload: the store that was measured under two names, compared with itself.

    Columns: workload, parameters, store, n repetitions, ratio of the ``values`` (first
    name by second, paired by repetition) with its 95 % interval and the standard error of its
    logarithm, floor: the larger of ``high`` and 1/``low`` (NaN for a single repetition). A
    ratio of two stores below it could be of one store with itself.
    """
    store = noise_store(study)
    rows: list[list[object]] = []
    if store is None:
        return TABLE.frame(rows)
    cells = values.groupby(["workload", "parameters"], sort=False)
    for key, group in cells:
        one, other = (
            group[group["store"] == name].set_index("repetition")["value"]
            for name in (store, f"{store}{AGAIN}")
        )
        if one.index.intersection(other.index).empty:
            continue
        found = paired_ratio(one, other)
        floor = None if found.low is None else max(found.high, 1 / found.low)
        rows.append([*key, store, found.n, found.value, found.low, found.high, found.error, floor])
    return TABLE.frame(rows)
