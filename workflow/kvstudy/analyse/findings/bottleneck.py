"""The bottleneck of each store, and its throughput by client threads."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import StrEnum
from functools import partial

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.tidy.clients import needed
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import pd
from kvstudy.stats.intervals import log_t_interval
from kvstudy.stats.laws import LEAST_COUNTS, fit_scalability, saturation
from kvstudy.study.controls import ceiling_store, clients_of_trial, original
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

USAGE = [
    *["client_cores", "server_cores", "other_cores", "machine_cores", "client_allowed"],
    "in_call",
]
TWICE = ["twice", "twice_low", "twice_high"]
NUMBERS = ["client_cpu", "server_cpu", *USAGE, "ceiling", "clients", *TWICE]
BOTTLENECK = AnalysisTable(
    "bottleneck",
    [*SETTING, *NUMBERS, "limit", "reason"],
    NUMBERS,
    make=lambda run, tables: bottleneck(
        run.values, run.study, {name for name, store in run.stores.items() if store.embedded}
    ),
)

SCALING_NUMBERS = ["n", "most", "saturation", "single", "contention", "coherency", "knee", "off"]
SCALING_KEYS = ["store", "workload", "records", "operations"]
SCALING = [*SCALING_KEYS, *SCALING_NUMBERS, "doubts"]

# Above this share of the throughput without a store, the client is the limit.
NEAR_CEILING = 0.8
# Client threads that are inside calls less than this share of the time are busy themselves.
FEW_IN_CALL = 0.7
# Above this share of the cores that it may use, a process has no more to give.
FULL = 0.9


class Limit(StrEnum):
    """The bottleneck of a store."""

    CLIENT = N_("client")
    # Client, server and other programs share the machine's cores, and these have no more to give.
    CPU = N_("CPU")
    NOT_SEEN = N_("not seen")


def bottleneck(values: pd.DataFrame, study: Study, embedded: Collection[str] = ()) -> pd.DataFrame:
    """One row per store, workload and parameters, geometric means over the repetitions.

    Columns: client_cpu, server_cpu (us per operation), client_cores, server_cores,
    other_cores (in use, the last by other programs: a plain mean), machine_cores, client_allowed
    (that the client may use), in_call (share of the threads' time inside calls to the store),
    ceiling (throughput by that of YCSB without a store), clients (how many there were, where trial
    cells told), twice (throughput of twice as many by theirs, of the trial cells) and the ends of
    its 95 % interval, limit (a ``Limit``, or "" where nothing shows, as of ``embedded`` stores),
    reason (of a limit that was seen). Unknown is NaN.
    """
    overall = values[(values["operation"] == "overall") & (values["workload"] != MEAN)]
    groups = overall[overall["value"] > 0].groupby([*SETTING, "metric"], sort=False)["value"]
    means = groups.agg(lambda runs: log_t_interval(runs).value).unstack(sort=False)
    means = means.reindex(columns=["throughput", *NUMBERS])
    # No other load is a value, too.
    background = overall[overall["metric"] == "background_cpu"].groupby(SETTING)["value"].mean()
    means["other_cores"] = background / 100 * means["machine_cores"]
    speeds = throughputs(overall)
    trials = speeds[speeds["store"].map(clients_of_trial).notna()]
    ceiling = ceiling_store(study)
    rows = []
    for (store, workload, parameters), mean in means.iterrows():
        if store not in study.store_names:
            continue
        numbers = mean[NUMBERS].to_dict()
        # Without a store there is nothing else than the client.
        top = (ceiling, workload, parameters)
        if store != ceiling and top in means.index:
            numbers["ceiling"] = mean["throughput"] / means.loc[top, "throughput"]
        of_trials = trials.query("workload == @workload and parameters == @parameters")
        _, more = needed(of_trials[of_trials["store"].map(partial(original, study)) == store])
        if more:
            numbers |= dict(zip(TWICE, (more.value, more.low, more.high), strict=True))
        known = any(not math.isnan(numbers[name]) for name in (*USAGE, "ceiling"))
        bottleneck_of_cell = limit(numbers) if known and store not in embedded else ("", "")
        rows.append([store, workload, parameters, *numbers.values(), *bottleneck_of_cell])
    return BOTTLENECK.frame(rows)


def limit(numbers: dict[str, float]) -> tuple[Limit, str]:
    """Return the bottleneck and its evidence. Unknown numbers (NaN) are no evidence."""
    if numbers["ceiling"] > NEAR_CEILING:
        return Limit.CLIENT, reason("ceiling", share=f"{100 * numbers['ceiling']:.0f}")
    if numbers["in_call"] < FEW_IN_CALL:
        return Limit.CLIENT, reason("in-call", share=f"{100 * numbers['in_call']:.0f}")
    client, allowed, machine = (
        numbers[name] for name in ("client_cores", "client_allowed", "machine_cores")
    )
    if client > FULL * allowed:
        words = {"used": f"{client:.1f}", "allowed": f"{allowed:.0f}"}
        return Limit.CLIENT, reason("client-cores", **words)
    used = in_use(client, numbers["server_cores"], numbers["other_cores"])
    if used > FULL * machine:
        words = {"busy": f"{100 * used / machine:.0f}", "client": f"{100 * client / used:.0f}"}
        return Limit.CPU, reason("cpu-saturated", **words)
    return Limit.NOT_SEEN, ""


def in_use(client: float, server: float, other: float) -> float:
    """Cores in use by all; what other programs use may be unknown."""
    return client + server + (0 if math.isnan(other) else other)


def scaling(values: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, records and operations with six thread counts or more.

    ``values`` has one row per repetition, ``sizes`` is ``swept.sizes``'s. Columns: n
    runs, most (the largest number of threads), saturation (threads from which on the mean
    throughput is within 5 % of its largest; NaN: it still rose at the end), and the
    universal scalability law fitted to all runs (``stats.laws``): single, contention,
    coherency, knee (threads; NaN: none), off (root mean square deviation), doubts.
    """
    rows = []
    points = throughputs(values).merge(sizes, on=["workload", "parameters"])
    for key, runs in points.groupby(SCALING_KEYS, sort=False):
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
    return pd.DataFrame(rows, columns=SCALING)
