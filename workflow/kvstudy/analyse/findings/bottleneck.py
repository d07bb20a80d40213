"""What limits the throughput of each store: the store, or the client that asks it?"""

from __future__ import annotations

import math
from collections.abc import Collection

from kvstudy.analyse.tidy.files import SETTING, Table
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.stats.intervals import log_t_interval
from kvstudy.study.controls import TWO_CLIENTS, ceiling_store
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

USAGE = ["client_cores", "server_cores", "machine_cores", "client_allowed", "in_call"]
NUMBERS = ["client_cpu", "server_cpu", *USAGE, "ceiling", "two_clients", "two_clients_low"]
TABLE = Table("bottleneck", [*SETTING, *NUMBERS, "client_bound", "reason"], NUMBERS, "analyse")

# A second client that raises the total by more shows that one was the limit.
MORE_WITH_TWO = 0.10
# Above this share of the throughput without a store, the client is the limit.
NEAR_CEILING = 0.8
# Client threads that are inside calls less than this share of the time are busy themselves.
FEW_IN_CALL = 0.7
# Above this share of the cores that it may use, a process has no more to give.
FULL = 0.9


def make(run, made) -> pd.DataFrame:
    return bottleneck(run.values, run.study, {n for n, s in run.stores.items() if s.embedded})


def bottleneck(values: pd.DataFrame, study: Study, embedded: Collection[str] = ()) -> pd.DataFrame:
    """One row per store, workload and parameters, geometric means over the repetitions.

    Columns: client_cpu, server_cpu (us per operation), client_cores, server_cores (in
    use), machine_cores, client_allowed (that the client may use), in_call (share of
    the threads' time inside calls to the store), ceiling (throughput by that of
    YCSB without a store), two_clients (total throughput of two clients with half
    of the threads each by that of one) and the lower end of its 95 % interval,
    client_bound ("yes", "no", or "" where nothing tells, as of ``embedded`` stores), reason
    (of a yes). Unknown is NaN.
    """
    overall = values[(values["operation"] == "overall") & (values["workload"] != MEAN)]
    means = {
        key: {metric: log_t_interval(of["value"]).value for metric, of in group.groupby("metric")}
        for key, group in overall[overall["value"] > 0].groupby(SETTING, sort=False)
    }
    rows = []
    ceiling = ceiling_store(study)
    for (store, workload, parameters), found in means.items():
        if store not in study.store_names:
            continue
        # Without a store there is nothing else than the client.
        top = means.get((ceiling, workload, parameters), {}) if store != ceiling else {}
        if "throughput" in top and "throughput" in found:
            found["ceiling"] = found["throughput"] / top["throughput"]
        of_cell = "workload == @workload and parameters == @parameters"
        found |= _two_clients(overall.query(of_cell), store)
        numbers = {name: found.get(name, math.nan) for name in NUMBERS}
        apart = store not in embedded
        why = client_bound(numbers) if apart else ""
        signs = (numbers[name] for name in (*USAGE, "ceiling", "two_clients"))
        told = apart and not all(map(math.isnan, signs))
        verdict = N_("yes") if why else N_("no") if told else ""
        rows.append([store, workload, parameters, *numbers.values(), verdict, why])
    return TABLE.frame(rows)


def _two_clients(values: pd.DataFrame, store: str) -> dict[str, float]:
    """Their throughput by one client's, paired by repetition; nothing without them."""

    def runs(name: str) -> pd.Series:
        rows = values[(values["store"] == name) & (values["metric"] == "throughput")]
        return rows.set_index("repetition")["value"]

    ratios = (runs(f"{store}{TWO_CLIENTS}") / runs(store)).dropna()
    if ratios.empty:
        return {}
    mean = log_t_interval(ratios)
    low = math.nan if mean.low is None else mean.low
    return {"two_clients": mean.value, "two_clients_low": low}


def client_bound(found: dict[str, float]) -> str:
    """Why the client limits the throughput, or "". An unknown number (NaN) tells nothing."""
    # One repetition has no interval; then the value itself decides.
    surely_more = not found["two_clients_low"] <= 1
    if found["two_clients"] > 1 + MORE_WITH_TWO and surely_more:
        return reason("two-clients", more=f"{100 * (found['two_clients'] - 1):.0f}")
    if found["ceiling"] > NEAR_CEILING:
        return reason("ceiling", share=f"{100 * found['ceiling']:.0f}")
    if found["in_call"] < FEW_IN_CALL:
        return reason("in-call", share=f"{100 * found['in_call']:.0f}")
    client, allowed, machine = (
        found[name] for name in ("client_cores", "client_allowed", "machine_cores")
    )
    if client > FULL * allowed:
        return reason("client-cores", used=f"{client:.1f}", allowed=f"{allowed:.0f}")
    used = client + found["server_cores"]
    if used > FULL * machine and client > used / 2:
        words = {"used": f"{used:.1f}", "machine": f"{machine:.0f}", "client": f"{client:.1f}"}
        return reason("machine-cores", **words)
    return ""
