"""What two runs share, and how much each store's throughput changed from run A to run B."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.comparison.runs import EQUAL, TIE, RecordedRun, sizes
from kvstudy.stats.intervals import Interval, log_t_interval
from kvstudy.stats.power import repetitions_to_decide
from kvstudy.stats.ranks import agreement
from kvstudy.stats.ratios import (
    Decision,
    Ratio,
    adjusted,
    decide,
    equivalence_p,
    equivalent,
    paired_ratio,
    unpaired_quotient,
    unpaired_ratio,
)
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


def match_runs(a: RecordedRun, b: RecordedRun, base: str | None = None) -> Matching:
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


def _shared_stores(a: RecordedRun, b: RecordedRun, found: Matching) -> list[str]:
    shared = []
    for name in _in_both(a, b, "store", found):
        folders = [run.stores[name].folder for run in (a, b)]
        if folders[0] == folders[1]:
            shared.append(name)
        else:
            reason = f"is {folders[0]} in run A and {folders[1]} in run B"
            found.leave_out("both", reason, store=name)
    if not shared:
        raise _nothing_in_both(a, b, "shared store")
    return shared


def _shared_workloads(a: RecordedRun, b: RecordedRun, found: Matching) -> list[str]:
    shared = _in_both(a, b, "workload", found)
    if not shared:
        raise _nothing_in_both(a, b, "common workload")
    same = []
    for name in shared:
        if difference := property_difference(a, b, name):
            found.leave_out("both", f"is another workload in each: {difference}", workload=name)
        else:
            same.append(name)
    return same


def _in_both(a: RecordedRun, b: RecordedRun, kind: str, found: Matching) -> list[str]:
    """The names of the stores or workloads of both runs; those of one are left out."""
    names = [list(getattr(run, f"{kind}s")) for run in (a, b)]
    for side, own, other in (("A", *names), ("B", *reversed(names))):
        for name in own:
            if name not in other:
                found.leave_out(side, f"the other run has no such {kind}", **{kind: name})
    return [name for name in names[0] if name in names[1]]


def _nothing_in_both(a: RecordedRun, b: RecordedRun, what: str) -> KvstudyError:
    kind = what.split()[-1]
    have = [", ".join(getattr(run, f"{kind}s")) for run in (a, b)]
    return KvstudyError(
        f"{a.folder} and {b.folder}: no {what}: run A has {have[0]}, run B has {have[1]}. "
        f"Compare runs that have a {kind} in common"
    )


def property_difference(a: RecordedRun, b: RecordedRun, workload: str) -> str:
    """The YCSB properties of ``workload`` that differ, in words; "" when none does."""
    one, other = (run.workloads[workload].properties for run in (a, b))
    return ", ".join(
        f"{key} is {one.get(key, 'not set')} in A, {other.get(key, 'not set')} in B"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    )


def _shared_parameters(a: RecordedRun, b: RecordedRun, workload: str, found: Matching) -> list[str]:
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
    a: RecordedRun, b: RecordedRun, workload: str, parameters: str, store: str, found: Matching
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
    return f"invalid: {sentence(row.invalid)}" if row.invalid else "its throughput is not above 0"


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


def _both(a: RecordedRun, b: RecordedRun) -> Iterator[tuple[str, RecordedRun, RecordedRun]]:
    yield "A", a, b
    yield "B", b, a


SIGNS = {Decision.FASTER: ">", Decision.EQUAL: EQUAL, Decision.UNDECIDED: TIE}
COLUMNS = [
    *["workload", "parameters", "stores", "order_a", "order_b"],
    *["pairs", "same", "opposite", "neither", "tau"],
]


def orders(a: RecordedRun, b: RecordedRun, matching: Matching) -> pd.DataFrame:
    """One row per workload and parameters with at least two shared stores.

    ``order_a`` and ``order_b`` are the ``stores`` by their mean throughput, such as
    ``redis > riak ~ memcached``: ~ between two that are undecided, = between equal ones. Of the
    ``pairs`` of stores, ``same`` have the same order in both runs, ``opposite`` ones the
    opposite; ``neither`` ones are equal or undecided in at least one run. ``tau`` is Kendall's
    tau-b, NaN where one run decides none. In each run a pair is paired by repetition (not in an
    imported one), with Holm's adjustment over the pairs of the workload. What has no order is
    added to the rows that ``matching`` leaves out.
    """
    rows = []
    for match in matching.matches:
        pairs = [_pairs(run, match) for run in (a, b)]
        if len(match.stores) < 2:
            continue
        if None in pairs:
            reason = "no order: two stores have no repetition in common"
            place = {"workload": match.workload, "parameters": match.parameters}
            matching.leave_out("AB"[pairs.index(None)], reason, **place)
            continue
        found = agreement(*map(_signs, pairs))
        neither = found.total - found.concordant - found.discordant
        numbers = [found.total, found.concordant, found.discordant, neither, found.tau]
        shown = [_order(run, match, of) for run, of in zip((a, b), pairs, strict=True)]
        rows.append([match.workload, match.parameters, ", ".join(match.stores), *shown, *numbers])
    return pd.DataFrame(rows, columns=COLUMNS)


def _pairs(run: RecordedRun, match: Match) -> dict[tuple[str, str], Ratio] | None:
    """Ratios of every two stores; None when two have no repetition in common."""
    ratios = {}
    for one, other in combinations(match.stores, 2):
        runs = [run.runs(match.workload, match.parameters, store) for store in (one, other)]
        if run.study.imported and all(runs):
            ratios[one, other] = unpaired_ratio(*(of.values() for of in runs))
            continue
        if not runs[0].keys() & runs[1].keys():
            return None
        ratios[one, other] = paired_ratio(*runs)
    return adjusted(ratios)


def _signs(pairs: dict[tuple[str, str], Ratio]) -> dict[tuple[str, str], int]:
    return {
        pair: (1 if ratio.value > 1 else -1) if ratio.differs else 0
        for pair, ratio in pairs.items()
    }


def _order(run: RecordedRun, match: Match, pairs: dict[tuple[str, str], Ratio]) -> str:
    means = {
        store: log_t_interval(run.runs(match.workload, match.parameters, store).values()).value
        for store in match.stores
    }
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    text = ordered[0]
    for one, other in pairwise(ordered):
        ratio = pairs.get((one, other)) or pairs[other, one]
        text += f" {SIGNS[decide(ratio)]} {other}"
    return text


PLACE = ["workload", "parameters", "store"]
CHANGE = ["change", "low", "high", "p", "p_holm", "different", "equivalence_p", "equal"]
CHANGE.append("would_decide")
RELATIVE = [
    *[*PLACE, "base", "n_a", "ratio_a", "low_a", "high_a"],
    *["n_b", "ratio_b", "low_b", "high_b", *CHANGE],
]
ABSOLUTE = [
    *[*PLACE, "n_a", "throughput_a", "low_a", "high_a"],
    *["n_b", "throughput_b", "low_b", "high_b", *CHANGE],
]


def relative_changes(a: RecordedRun, b: RecordedRun, matching: Matching) -> pd.DataFrame:
    """The change of each store's ratio to the base, free of the machines' speeds.

    In each run, the throughputs of store and base are divided repetition by repetition:
    ``ratio_a`` and ``ratio_b`` are the geometric means over the ``n_a`` and ``n_b``
    repetitions that have both, with paired 95 % intervals. The repetitions of an
    imported run only share a number: there it is the ratio of the geometric means over all
    runs of each, with Welch's interval. ``change`` is ratio_b/ratio_a: Welch's interval and
    p-value for independent means. ``p_holm`` is adjusted over all rows,
    ``different`` (yes, no) follows from it; ``equal`` says whether the whole interval is
    within the margin of equivalence. Both are "" where a run has one repetition.
    ``would_decide`` is about how many repetitions of each run would decide an undecided change.
    What cannot be divided is added to the rows that ``matching`` leaves out.
    """
    places, ratios, sides = [], [], []
    for match in matching.matches:
        place = {"workload": match.workload, "parameters": match.parameters}
        if matching.base is None:
            break
        if matching.base not in match.stores:
            reason = f"no value of {matching.base} in both runs to divide by"
            matching.leave_out("both", reason, **place)
            continue
        for store in match.stores:
            if store == matching.base:
                continue
            parts = [_parts(run, match, store, matching.base) for run in (a, b)]
            if None in parts:
                which = " and ".join(n for n, each in zip("AB", parts, strict=True) if not each)
                reason = f"no repetition that has a value of {matching.base} too"
                matching.leave_out(
                    "both" if len(which) > 1 else which, reason, store=store, **place
                )
                continue
            places.append([match.workload, match.parameters, store, matching.base])
            sides.append([_side(*of) for of in parts])
            (above_a, below_a), (above_b, below_b) = parts
            ratios.append(unpaired_quotient(above_b + below_a, below_b + above_a))
    return _table(places, sides, ratios, RELATIVE)


def absolute_changes(a: RecordedRun, b: RecordedRun, matching: Matching) -> pd.DataFrame:
    """The change of each store's throughput itself (ops/s), of runs of one machine.

    ``throughput_a`` and ``throughput_b`` are geometric means with their 95 % intervals;
    ``change`` is B/A, Welch's interval on logarithms; the rest as in ``relative_changes``.
    """
    places, ratios, sides = [], [], []
    for match in matching.matches:
        for store in match.stores:
            of = [
                list(run.runs(match.workload, match.parameters, store).values()) for run in (a, b)
            ]
            places.append([match.workload, match.parameters, store])
            sides.append([log_t_interval(values) for values in of])
            ratios.append(unpaired_ratio(of[1], of[0]))
    return _table(places, sides, ratios, ABSOLUTE)


# Independent lists of values, and those that they are divided by.
Parts = tuple[list[list[float]], list[list[float]]]


def _parts(run: RecordedRun, match, store: str, base: str) -> Parts | None:
    """Store by base in each repetition that has both; of an imported run each by itself.

    None where nothing can be divided.
    """
    above, below = (run.runs(match.workload, match.parameters, name) for name in (store, base))
    if run.study.imported:
        both = [list(above.values())], [list(below.values())]
        return both if above and below else None
    # In their order, which sums depend on in their last digits.
    shared = [each for each in above if each in below]
    return ([[above[each] / below[each] for each in shared]], []) if shared else None


def _side(above: list[list[float]], below: list[list[float]]) -> Interval | Ratio:
    return unpaired_quotient(above, below) if below else log_t_interval(above[0])


def _table(places: list, sides: list, ratios: Sequence[Ratio], columns: list[str]) -> pd.DataFrame:
    rows = []
    for place, both, ratio in zip(
        places, sides, adjusted(dict(enumerate(ratios))).values(), strict=True
    ):
        cells = [number for side in both for number in (side.n, side.value, side.low, side.high)]
        change = [ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm]
        more = repetitions_to_decide(ratio) if decide(ratio) is Decision.UNDECIDED else None
        verdicts = [_word(ratio.differs), equivalence_p(ratio), _word(equivalent(ratio)), more]
        rows.append([*place, *cells, *change, *verdicts])
    return pd.DataFrame(rows, columns=columns)


def _word(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[answer]
