"""How throughput grows with the client threads, and where it saturates."""

from __future__ import annotations

import math

from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.language.reasons import several
from kvstudy.libraries import pd
from kvstudy.stats.laws import LEAST_COUNTS, fit_scalability, saturation

NUMBERS = ["n", "most", "saturation", "single", "contention", "coherency", "knee", "off"]
KEYS = ["store", "workload", "records", "operations"]
COLUMNS = [*KEYS, *NUMBERS, "doubts"]


def scaling(values: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, records and operations with six thread counts or more.

    ``values`` has one row per repetition, ``sizes`` is ``study.sizes.sizes``'s. Columns: n
    runs, most (the largest number of threads), saturation (threads from which on the mean
    throughput is within 5 % of its largest; NaN: it still rose at the end), and the
    universal scalability law fitted to all runs (``stats.laws``): single, contention,
    coherency, knee (threads; NaN: none), off (root mean square deviation), doubts.
    """
    rows = []
    found = throughputs(values).merge(sizes, on=["workload", "parameters"])
    for key, runs in found.groupby(KEYS, sort=False):
        if runs["threads"].nunique() < LEAST_COUNTS or not (runs["value"] > 0).all():
            continue
        threads, speeds = runs["threads"].tolist(), runs["value"].tolist()
        at = saturation(threads, speeds)
        start = [*key, len(runs), max(threads), math.nan if at is None else at]
        try:
            law = fit_scalability(threads, speeds)
        except ValueError as error:
            rows.append([*start, *[math.nan] * 5, str(error)])
            continue
        knee = math.nan if law.knee is None else law.knee
        numbers = [law.single, law.contention, law.coherency, knee, law.off]
        rows.append([*start, *numbers, several(law.doubts)])
    return pd.DataFrame(rows, columns=COLUMNS)
