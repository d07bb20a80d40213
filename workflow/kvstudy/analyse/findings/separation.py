"""Models of the difference between the source's mean latencies and the measured ones.

A mean is one of an operation of a store under a workload, at the headline sizes. How many round
trips the operation takes is how many requests the store's probe saw the server count for it.
Means of operations of which that is not known are left out. The throughput that follows from a
model is that of the same threads, each of whose operations takes as much longer as the model has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.probes import WHOLE, updates_of
from kvstudy.analyse.tidy.results import only, published_only, read_published
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import log_t_interval
from kvstudy.stats.latency_models import Difference, LatencyModel, fit_latency_models
from kvstudy.study.probe import other_records
from kvstudy.study.published import PUBLISHED, sibling_file

MEAN_KEYS = [*SETTING, "operation"]
MODELLED = {each: f"modelled_{each.value.replace('-', '_')}" for each in Difference}
MEAN_NUMBERS = ["n", "round_trips", "published", "measured", *MODELLED.values()]
SEPARATION = AnalysisTable(
    "separation",
    [*MEAN_KEYS, *MEAN_NUMBERS],
    MEAN_NUMBERS,
    make=lambda run, tables: separation(run),
)
MODEL_NUMBERS = ["constant", "median_error", "worst_error", "n"]
MODELS = AnalysisTable(
    "separation_models",
    ["model", *MODEL_NUMBERS],
    MODEL_NUMBERS,
    make=lambda run, tables: models(tables["separation"]),
)
ORDER_NUMBERS = ["published", "measured", "modelled"]
ORDERS = AnalysisTable(
    "separation_orders",
    ["workload", "parameters", "one", "other", *ORDER_NUMBERS],
    ORDER_NUMBERS,
    make=lambda run, tables: orders(run, tables["separation"]),
)
# Further from a whole number than this, the requests are not the same for all operations.
NEARLY = 0.1


def separation(run) -> pd.DataFrame:
    """Each published mean latency (us) with the mean of the ``n`` runs here, and those modelled.

    ``modelled_...`` is what each model makes of ``measured``; NaN where it was not fitted. Without
    rows where there are too few means for a model, and of a trial run, whose sizes are not the
    source's.
    """
    published = _published(run)
    published = published[published["metric"] == "latency_mean"]
    values = only(run.own_values, run.headline)
    values = values[values["metric"] == "latency_mean"]
    means = values.groupby(MEAN_KEYS, sort=False)["value"].agg(n="count", measured="mean")
    merged = published.rename(columns={"value": "published"}).merge(
        means.reset_index(), on=["store", "workload", "operation"]
    )
    trips = round_trips(run)
    merged["round_trips"] = [
        trips.get((row.store, row.workload, row.operation), math.nan) for row in merged.itertuples()
    ]
    merged = merged.dropna(subset="round_trips")
    merged = merged[(merged["published"] > 0) & (merged["measured"] > 0)]
    fitted = _fit(merged)
    if not fitted:
        return SEPARATION.frame()
    merged = merged.assign(**dict.fromkeys(MODELLED.values(), math.nan))
    for model in fitted:
        modelled = model.modelled(merged["measured"], merged["round_trips"])
        merged[MODELLED[model.difference]] = modelled
    return merged[SEPARATION.columns].reset_index(drop=True)


def models(table: pd.DataFrame) -> pd.DataFrame:
    """The models of the means in ``table`` (``separation``), the one that errs least first.

    ``constant`` is a factor, or us; the errors are relative to the ``n`` published means.
    """
    rows = [
        [one.difference.value, one.constant, one.median_error, one.worst_error, one.n]
        for one in _fit(table)
    ]
    return MODELS.frame(rows)


def orders(run, table: pd.DataFrame) -> pd.DataFrame:
    """The throughput of ``one`` by that of the ``other``: in the source, here, by the model.

    Of every two stores that are compared, and each workload of which all three are known; the
    model is the one that errs least.
    """
    fitted = _fit(table)
    if not fitted:
        return ORDERS.frame()
    printed = throughputs(_published(run)).set_index(["store", "workload"])["value"]
    times = _operation_times(run, fitted[0])
    rows = []
    for workload, parameters in run.headline.items():
        for stores in run.compared:
            for one, other in combinations(stores, 2):
                both = [(store, workload) for store in (one, other)]
                if all(key in times and printed.get(key, 0) > 0 for key in both):
                    # The longer an operation takes, the lower the throughput.
                    here, modelled = (times[both[1]][of] / times[both[0]][of] for of in (0, 1))
                    ratio = printed[both[0]] / printed[both[1]]
                    rows.append([workload, parameters, one, other, ratio, here, modelled])
    return ORDERS.frame(rows)


def _published(run) -> pd.DataFrame:
    """The source's values at the headline sizes; none of a trial run."""
    path = sibling_file(run.study_file, PUBLISHED) if run.scale == 1 else None
    values = published_only(read_published(path), run.study)
    return values.dropna(subset="value")[["store", "workload", "operation", "metric", "value"]]


def _fit(table: pd.DataFrame) -> list[LatencyModel]:
    return fit_latency_models(table["published"], table["measured"], table["round_trips"])


def round_trips(run) -> dict[tuple[str, str, str], int]:
    """Requests that the client sends and waits for, by store, workload and operation."""
    trips, updates, unlike = {}, updates_of(run.study), other_records(run.study)
    for use, (store, definition) in product(run.study.workloads, run.stores.items()):
        if not definition.counts_requests or (store, use.name) in unlike:
            continue
        update = "update-all" if updates.get(use.name) == WHOLE else "update"
        for operation, step in {"insert": "insert", "read": "read", "update": update}.items():
            number = sum(run.probes.commands(store, step).values())
            if round(number) > 0 and abs(number - round(number)) < NEARLY:
                trips[store, use.name, operation] = round(number)
    return trips


def _operation_times(run, model: LatencyModel) -> Mapping[tuple[str, str], tuple[float, float]]:
    """Return the time per operation of a client thread (us), measured and by the model.

    By store and workload, at the headline sizes; the time outside of calls to the store counts.
    """
    values = only(run.own_values, run.headline)
    # Geometric, as where the report compares stores.
    speeds = (
        throughputs(values)
        .groupby(SETTING, sort=False)["value"]
        .agg(lambda runs: log_t_interval(runs).value)
    )
    threads, requests, times = threads_of(run), mean_round_trips(run), {}
    for setting, speed in speeds.items():
        if setting in threads and setting in requests:
            here = threads[setting] * 1e6 / speed
            modelled = float(model.modelled(here, requests[setting]))
            if modelled > 0:
                times[setting[:2]] = here, modelled
    return times


def threads_of(run) -> dict[tuple[str, str, str], int]:
    """The client threads of each setting."""
    return {
        (cell.store, cell.workload, cell.parameters): cell.threads for cell in run.planned.values()
    }


def mean_round_trips(run) -> dict[tuple[str, str, str], float]:
    """Round trips per operation of each setting at the headline sizes, over all operations.

    NaN where those of a kind of operation are not known.
    """
    values, trips = only(run.own_values, run.headline), round_trips(run)
    counts = values[(values["metric"] == "operations") & (values["operation"] != "overall")]
    # The reads and updates of a read-modify-write have rows of their own.
    single = ~counts["operation"].str.contains("+", regex=False)
    counts = counts[single & (counts["operation"] != "read-modify-write")]
    means = counts.groupby(MEAN_KEYS, sort=False)["value"].mean().reset_index("operation")
    requests = {}
    for setting, of in means.groupby(level=SETTING, sort=False):
        numbers = [trips.get((*setting[:2], each), math.nan) for each in of["operation"]]
        requests[setting] = float(np.average(numbers, weights=of["value"]))
    return requests
