"""Every two stores compared: how many times one is faster, and do the runs tell?"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd

from kvstudy.stats.ratios import Ratio, adjusted, equivalent, paired_ratio, unpaired_ratio
from kvstudy.tidy.summary import throughputs

NUMBERS = ["n", "ratio", "low", "high", "p", "p_holm"]
COLUMNS = ["workload", "parameters", "faster", "slower", *NUMBERS, "tied", "equal", "in_floor"]
WORDS = {True: "yes", False: "no", None: ""}


def pairs(values: pd.DataFrame, floors: pd.DataFrame, paired: bool = True) -> pd.DataFrame:
    """Ratios of throughput of all pairs under each workload.

    They are ``paired`` by repetition if the stores of one were measured side by side, as
    they are here; the repetitions of imported logs only have the same number.
    ``values`` has one row per repetition. Columns: workload, parameters, faster,
    slower (by the ratio), n repetitions that both have, ratio (of the geometric
    means, at least 1) with its 95 % interval, p, p_holm (Holm over the pairs of
    one workload and its parameters), and as "yes", "no", or "" when one repetition
    tells nothing: tied, equal (the whole interval is within ±10 %), in_floor (the
    ratio is not above the noise floor, see ``floor``). Stores without a common
    repetition have no row.
    """
    rows: list[list[object]] = []
    known = floors.dropna(subset="floor").set_index(["workload", "parameters"])["floor"].to_dict()
    cells = throughputs(values).groupby(["workload", "parameters"], sort=False)
    for (workload, parameters), group in cells:
        runs = {
            store: of.set_index("repetition")["value"]
            for store, of in group.groupby("store", sort=False)
        }
        for (faster, slower), ratio in adjusted(_ratios(runs, paired)).items():
            limit = known.get((workload, parameters))
            in_floor = None if limit is None else bool(ratio.value <= limit)
            words = [WORDS[each] for each in (ratio.tied, equivalent(ratio), in_floor)]
            numbers = [ratio.n, ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm]
            rows.append([workload, parameters, faster, slower, *numbers, *words])
    return pd.DataFrame(rows, columns=COLUMNS)


def _ratios(runs: dict[str, pd.Series], paired: bool) -> dict[tuple[str, str], Ratio]:
    found = {}
    for one, other in combinations(runs, 2):
        if not paired:
            faster, slower = sorted((one, other), key=lambda store: -_geometric_mean(runs[store]))
            found[faster, slower] = unpaired_ratio(runs[faster], runs[slower])
            continue
        if runs[one].index.intersection(runs[other].index).empty:
            continue
        ratio = paired_ratio(runs[one], runs[other])
        if ratio.value >= 1:
            found[one, other] = ratio
        else:
            found[other, one] = paired_ratio(runs[other], runs[one])
    return found


def _geometric_mean(values: pd.Series) -> float:
    return math.exp(np.log(values).mean())
