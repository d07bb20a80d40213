"""Every two stores compared: how many times one is faster, and do the runs tell?"""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from kvstudy.stats.ratios import Ratio, adjusted, paired_ratio
from kvstudy.tidy.summary import throughputs

COLUMNS = [
    *["workload", "parameters", "faster", "slower", "n", "ratio", "low", "high"],
    *["p", "p_holm", "tied"],
]


def pairs(values: pd.DataFrame) -> pd.DataFrame:
    """Ratios of throughput, paired by repetition, of all pairs under each workload.

    ``values`` has one row per repetition. Columns: workload, parameters, faster,
    slower (by the ratio), n repetitions that both have, ratio (of the geometric
    means, at least 1) with its 95 % interval, p, p_holm (Holm over the pairs of
    one workload and its parameters), tied ("yes", "no", or "" when one repetition
    tells nothing). Stores without a common repetition have no row.
    """
    rows: list[list[object]] = []
    cells = throughputs(values).groupby(["workload", "parameters"], sort=False)
    for (workload, parameters), group in cells:
        runs = {
            store: of.set_index("repetition")["value"]
            for store, of in group.groupby("store", sort=False)
        }
        for (faster, slower), ratio in adjusted(_ratios(runs)).items():
            tied = {True: "yes", False: "no", None: ""}[ratio.tied]
            numbers = [ratio.n, ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm]
            rows.append([workload, parameters, faster, slower, *numbers, tied])
    return pd.DataFrame(rows, columns=COLUMNS)


def _ratios(runs: dict[str, pd.Series]) -> dict[tuple[str, str], Ratio]:
    found = {}
    for one, other in combinations(runs, 2):
        if runs[one].index.intersection(runs[other].index).empty:
            continue
        ratio = paired_ratio(runs[one], runs[other])
        if ratio.value >= 1:
            found[one, other] = ratio
        else:
            found[other, one] = paired_ratio(runs[other], runs[one])
    return found
