"""Which cells of two runs belong together, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.comparison.runs import Run, sizes
from kvstudy.study.naming import did_you_mean

# "one" and "other" below stand for the two runs in turn.
LEFT_OUT = ["run", "workload", "parameters", "store", "repetitions", "reason"]


@dataclass(frozen=True)
class Match:
    """A workload with one set of parameters that both runs have.

    ``stores`` have at least one value that counts in each run.
    """

    workload: str
    parameters: str
    stores: tuple[str, ...]


@dataclass
class Matching:
    """What is compared, with the shared store that the others are divided by.

    ``base`` is None when both runs share one store only. ``left_out`` are the rows of
    what is not compared (columns ``LEFT_OUT``; run is A, B or both).
    """

    matches: list[Match]
    base: str | None
    left_out: list[dict[str, str]] = field(default_factory=list)

    @property
    def stores(self) -> list[str]:
        """All stores that are compared somewhere, in the order of run A."""
        return list(dict.fromkeys(store for match in self.matches for store in match.stores))

    def left_out_table(self) -> pd.DataFrame:
        return pd.DataFrame(self.left_out, columns=LEFT_OUT)

    def leave_out(self, run: str, reason: str, **place: str) -> None:
        self.left_out.append(dict.fromkeys(LEFT_OUT, "") | {"run": run, "reason": reason} | place)


def match_runs(a: Run, b: Run, base: str | None = None) -> Matching:
    """Match the cells of ``a`` and ``b`` by store, workload and parameters.

    ``base`` is the wanted store to divide by. Without it, the first in the order of
    ``a`` that has values in the most of the shared workloads.

    KvstudyError when nothing can be compared, or ``base`` is none of the shared stores.
    """
    found = Matching([], None)
    stores = _shared_stores(a, b, found)
    workloads = _shared_workloads(a, b, found)
    for workload in workloads:
        for parameters in _shared_parameters(a, b, workload, found):
            present = []
            for store in stores:
                _cells_left_out(a, b, workload, parameters, store, found)
                if all(run.runs(workload, parameters, store) for run in (a, b)):
                    present.append(store)
            found.matches.append(Match(workload, parameters, tuple(present)))
    if not found.matches:
        reasons = "; ".join(
            dict.fromkeys(row["reason"] for row in found.left_out if not row["store"])
        )
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no common workload with the same parameters: {reasons}. "
            "Compare runs that measured the same"
        )
    found.matches = [match for match in found.matches if match.stores]
    if not found.matches:
        reasons = "; ".join(
            dict.fromkeys(
                f"{row['store']}: {row['reason']}" for row in found.left_out if row["store"]
            )
        )
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no shared store with values on both sides: "
            f"{reasons or 'no cell was measured'}. Compare runs that measured the same stores"
        )
    found.base = _base(found, base)
    return found


def _shared_stores(a: Run, b: Run, found: Matching) -> list[str]:
    shared = []
    for side, one, other in _both(a, b):
        for name in one.stores:
            if name not in other.stores:
                found.leave_out(side, "the other run has no such store", store=name)
    for name in a.stores:
        if name not in b.stores:
            continue
        folders = [run.stores[name].folder for run in (a, b)]
        if folders[0] == folders[1]:
            shared.append(name)
        else:
            reason = f"is {folders[0]} in run A and {folders[1]} in run B"
            found.leave_out("both", reason, store=name)
    if not shared:
        have = [", ".join(run.stores) for run in (a, b)]
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no shared store: run A has {have[0]}, run B has "
            f"{have[1]}. Compare runs that have a store in common"
        )
    return shared


def _shared_workloads(a: Run, b: Run, found: Matching) -> list[str]:
    for side, one, other in _both(a, b):
        for name in one.workloads:
            if name not in other.workloads:
                found.leave_out(side, "the other run has no such workload", workload=name)
    shared = [name for name in a.workloads if name in b.workloads]
    if not shared:
        have = [", ".join(run.workloads) for run in (a, b)]
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no common workload: run A has {have[0]}, run B has "
            f"{have[1]}. Compare runs that have a workload in common"
        )
    same = []
    for name in shared:
        if difference := property_difference(a, b, name):
            found.leave_out("both", f"is another workload in each: {difference}", workload=name)
        else:
            same.append(name)
    return same


def property_difference(a: Run, b: Run, workload: str) -> str:
    """The YCSB properties of ``workload`` that differ, in words; "" when none does."""
    one, other = (run.workloads[workload].properties for run in (a, b))
    return ", ".join(
        f"{key} is {one.get(key, 'not set')} in A, {other.get(key, 'not set')} in B"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    )


def _shared_parameters(a: Run, b: Run, workload: str, found: Matching) -> list[str]:
    for side, one, other in _both(a, b):
        for parameters in one.parameters(workload):
            if parameters not in other.parameters(workload):
                there = "; ".join(map(sizes, other.parameters(workload))) or "no cell"
                found.leave_out(
                    side,
                    f"other parameters: the other run has {there}",
                    workload=workload,
                    parameters=parameters,
                )
    return [each for each in a.parameters(workload) if each in b.parameters(workload)]


def _cells_left_out(
    a: Run, b: Run, workload: str, parameters: str, store: str, found: Matching
) -> None:
    """Name the planned repetitions without a value that counts, once for each reason."""
    for side, run, _ in _both(a, b):
        cells = run.cells
        rows = cells[
            (cells["workload"] == workload)
            & (cells["parameters"] == parameters)
            & (cells["store"] == store)
        ]
        counted = run.runs(workload, parameters, store)
        reasons: dict[str, list[str]] = {}
        for row in rows.itertuples():
            if row.repetition not in counted:
                reasons.setdefault(_reason(row), []).append(row.repetition)
        place = {"workload": workload, "parameters": parameters, "store": store}
        if rows.empty:
            found.leave_out(side, "not planned", **place)
        for reason, repetitions in reasons.items():
            found.leave_out(side, reason, repetitions=", ".join(repetitions), **place)


def _reason(row) -> str:
    if row.status != "measured":
        return f"{row.status}: {sentence(row.reason)}" if row.reason else row.status
    return f"void: {sentence(row.void)}" if row.void else "its throughput is not above 0"


def _base(found: Matching, wanted: str | None) -> str | None:
    stores = found.stores
    if wanted is not None and wanted not in stores:
        raise KvstudyError(
            f"--base {wanted}: not a store with values in both runs{did_you_mean(wanted, stores)}"
        )
    if len(stores) < 2:
        return None
    covered = {store: sum(store in match.stores for match in found.matches) for store in stores}
    return wanted or max(stores, key=covered.__getitem__)


def _both(a: Run, b: Run) -> Iterator[tuple[str, Run, Run]]:
    yield "A", a, b
    yield "B", b, a
