"""What limits the throughput of each store: the store, or the client that asks it?"""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.stats.intervals import log_t_interval
from kvstudy.study.controls import CEILING, TWO_CLIENTS
from kvstudy.study.model import MEAN, Study

KEYS = ["store", "workload", "parameters"]
USAGE = ["client_cores", "server_cores", "machine_cores", "in_call"]
NUMBERS = ["client_cpu", "server_cpu", *USAGE, "ceiling", "two_clients"]
COLUMNS = [*KEYS, *NUMBERS, "client_bound", "reason"]

# A second client that raises the total by more shows that one was the limit.
MORE_WITH_TWO = 0.10
# Above this share of the throughput without a store, the client is the limit.
NEAR_CEILING = 0.8
# Client threads that wait less than this share of the time are busy themselves.
FEW_IN_CALL = 0.7
# Client and server together use the whole machine.
FULL_MACHINE = 0.9


def bottleneck(values: pd.DataFrame, study: Study) -> pd.DataFrame:
    """One row per store, workload and parameters, geometric means over the repetitions.

    Columns: client_cpu, server_cpu (us per operation), client_cores, server_cores,
    machine_cores, in_call (share of the threads' time that they wait for the
    store), ceiling (throughput by that of YCSB without a store), two_clients (total
    throughput of two clients by that of one), client_bound ("yes", "no", or ""
    where nothing tells), reason (of a yes). Unknown is NaN.
    """
    overall = values[(values["operation"] == "overall") & (values["workload"] != MEAN)]
    means = {
        key: {metric: log_t_interval(of["value"]).value for metric, of in group.groupby("metric")}
        for key, group in overall[overall["value"] > 0].groupby(KEYS, sort=False)
    }
    rows = []
    for (store, workload, parameters), found in means.items():
        if store not in study.store_names:
            continue
        top = means.get((CEILING.name, workload, parameters), {})
        if "throughput" in top and "throughput" in found:
            found["ceiling"] = found["throughput"] / top["throughput"]
        both = means.get((f"{store}{TWO_CLIENTS}", workload, parameters), {})
        if "second_throughput" in both and "throughput" in found:
            total = both["throughput"] + both["second_throughput"]
            found["two_clients"] = total / found["throughput"]
        numbers = {name: found.get(name, math.nan) for name in NUMBERS}
        reason = client_bound(numbers)
        told = not all(math.isnan(numbers[name]) for name in (*USAGE, "ceiling", "two_clients"))
        verdict = "yes" if reason else "no" if told else ""
        rows.append([store, workload, parameters, *numbers.values(), verdict, reason])
    return pd.DataFrame(rows, columns=COLUMNS)


def client_bound(found: dict[str, float]) -> str:
    """Why the client limits the throughput, or "". An unknown number (NaN) tells nothing."""
    if found["two_clients"] > 1 + MORE_WITH_TWO:
        return f"a second client raises the total by {found['two_clients'] - 1:.0%}"
    if found["ceiling"] > NEAR_CEILING:
        return f"{found['ceiling']:.0%} of what the client reaches without a store"
    if found["in_call"] < FEW_IN_CALL:
        return f"its threads wait for the store only {found['in_call']:.0%} of the time"
    used = found["client_cores"] + found["server_cores"]
    if used > FULL_MACHINE * found["machine_cores"] and found["client_cores"] > used / 2:
        return (
            f"the machine is full, and the client uses {found['client_cores']:.1f} of "
            f"{used:.1f} cores in use"
        )
    return ""
