"""What two runs share, and how much each store's throughput changed from run A to run B."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.comparison.runs import RecordedRun, sizes
from kvstudy.present.typeset.latex import EQUAL, TIE
from kvstudy.stats.intervals import log_t_interval
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
PLACE = ["workload", "parameters", "store"]
LEFT_OUT = ["run", *PLACE, "repetitions", "reason"]
YES_NO = {True: "yes", False: "no", None: ""}


@dataclass(frozen=True)
class Match:
    """A workload with one set of parameters that both runs have.

    ``runs`` has each store with a value that counts in both: its throughputs (ops/s) by
    repetition in A, and in B.
    """

    workload: str
    parameters: str
    runs: dict[str, list[dict[str, float]]]

    @property
    def place(self) -> dict[str, str]:
        return {"workload": self.workload, "parameters": self.parameters}


@dataclass
class Matching:
    """What is compared, with the shared store that the others are divided by.

    ``base`` is None when both runs share one store only. ``left_out`` are the rows of
    what is not compared (columns ``LEFT_OUT``; run is A, B or both).
    """

    matches: list[Match] = field(default_factory=list)
    base: str | None = None
    left_out: list[dict[str, str]] = field(default_factory=list)

    @property
    def stores(self) -> list[str]:
        """All stores that are compared somewhere, in the order of run A."""
        return list(dict.fromkeys(store for match in self.matches for store in match.runs))

    def leave_out(self, run: str, reason: str, **place: str) -> None:
        self.left_out.append(dict.fromkeys(LEFT_OUT, "") | {"run": run, "reason": reason} | place)


def match_runs(a: RecordedRun, b: RecordedRun, base: str | None = None) -> Matching:
    """Match the cells of ``a`` and ``b`` by store, workload and parameters.

    ``base`` is the wanted store to divide by. Without it, the first in the order of
    ``a`` that has values in the most of the shared workloads.

    KvstudyError when nothing can be compared, or ``base`` is none of the shared stores.
    """
    found = Matching()
    stores = _in_both(a, b, "shared store", folder_difference, found)
    for workload in _in_both(a, b, "common workload", property_difference, found):
        for parameters in _shared_parameters(a, b, workload, found):
            runs = {}
            for store in stores:
                place = (workload, parameters, store)
                _cells_left_out(a, b, place, found)
                runs[store] = [run.speeds.get(place, {}) for run in (a, b)]
            present = {store: both for store, both in runs.items() if all(both)}
            found.matches.append(Match(workload, parameters, present))
    if not found.stores:
        what, same = "common workload with the same parameters", "the same"
        reasons = [row["reason"] for row in found.left_out if not row["store"]]
        if found.matches:
            what, same = "shared store with values on both sides", "the same stores"
            reasons = [f"{row['store']}: {row['reason']}" for row in found.left_out if row["store"]]
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no {what}: "
            f"{'; '.join(dict.fromkeys(reasons)) or 'no cell was measured'}. "
            f"Compare runs that measured {same}"
        )
    found.matches = [match for match in found.matches if match.runs]
    found.base = _base(found, base)
    return found


def _in_both(
    a: RecordedRun,
    b: RecordedRun,
    what: str,
    difference: Callable[[RecordedRun, RecordedRun, str], str],
    found: Matching,
) -> list[str]:
    """The names of the stores or workloads that are in both runs and do not differ.

    The others are left out. KvstudyError when no name is in both.
    """
    kind = what.split()[-1]
    names = [list(getattr(run, f"{kind}s")) for run in (a, b)]
    for side, own, other in (("A", *names), ("B", *reversed(names))):
        for name in own:
            if name not in other:
                found.leave_out(side, f"the other run has no such {kind}", **{kind: name})
    shared = [name for name in names[0] if name in names[1]]
    if not shared:
        have = [", ".join(of) for of in names]
        raise KvstudyError(
            f"{a.folder} and {b.folder}: no {what}: run A has {have[0]}, run B has {have[1]}. "
            f"Compare runs that have a {kind} in common"
        )
    different = {name: text for name in shared if (text := difference(a, b, name))}
    for name, text in different.items():
        found.leave_out("both", text, **{kind: name})
    return [name for name in shared if name not in different]


def folder_difference(a: RecordedRun, b: RecordedRun, store: str) -> str:
    one, other = (run.stores[store].folder for run in (a, b))
    return "" if one == other else f"is {one} in run A and {other} in run B"


def property_difference(a: RecordedRun, b: RecordedRun, workload: str) -> str:
    """The YCSB properties of ``workload`` that differ, in words; "" when none does."""
    one, other = (run.workloads[workload].properties for run in (a, b))
    different = ", ".join(
        f"{key} is {one.get(key, 'not set')} in A, {other.get(key, 'not set')} in B"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    )
    return different and f"is another workload in each: {different}"


def _shared_parameters(a: RecordedRun, b: RecordedRun, workload: str, found: Matching) -> list[str]:
    for side, one, other in (("A", a, b), ("B", b, a)):
        there = other.parameters(workload)
        for parameters in one.parameters(workload):
            if parameters not in there:
                have = "; ".join(map(sizes, there)) or "no cell"
                reason = f"other parameters: the other run has {have}"
                found.leave_out(side, reason, workload=workload, parameters=parameters)
    return [each for each in a.parameters(workload) if each in b.parameters(workload)]


def _cells_left_out(
    a: RecordedRun, b: RecordedRun, place: tuple[str, str, str], found: Matching
) -> None:
    """Name the planned repetitions without a value that counts, once for each reason."""
    for side, run in (("A", a), ("B", b)):
        rows = run.cells[(run.cells[PLACE] == list(place)).all(axis=1)]
        reasons: dict[str, list[str]] = {} if len(rows) else {"not planned": []}
        for row in rows.itertuples():
            if row.repetition not in run.speeds.get(place, {}):
                reasons.setdefault(_reason(row), []).append(row.repetition)
        for reason, repetitions in reasons.items():
            named = dict(zip(PLACE, place, strict=True))
            found.leave_out(side, reason, repetitions=", ".join(repetitions), **named)


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
    covered = Counter(store for match in found.matches for store in match.runs)
    return wanted or max(stores, key=covered.__getitem__)


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
        if len(match.runs) < 2:
            continue
        speeds = [{store: both[side] for store, both in match.runs.items()} for side in (0, 1)]
        pairs = [_pairs(of, run.study.imported) for run, of in zip((a, b), speeds, strict=True)]
        if None in pairs:
            reason = "no order: two stores have no repetition in common"
            matching.leave_out("AB"[pairs.index(None)], reason, **match.place)
            continue
        found = agreement(*map(_signs, pairs))
        neither = found.total - found.concordant - found.discordant
        numbers = [found.total, found.concordant, found.discordant, neither, found.tau]
        shown = map(_order, speeds, pairs)
        rows.append([*match.place.values(), ", ".join(match.runs), *shown, *numbers])
    return pd.DataFrame(rows, columns=COLUMNS)


# The throughputs of each store by repetition; the ratios of every two of them.
Speeds = dict[str, dict[str, float]]
Pairs = dict[tuple[str, str], Ratio]


def _pairs(speeds: Speeds, imported: bool) -> Pairs | None:
    """None when two stores have no repetition in common."""
    ratios = {}
    for one, other in combinations(speeds, 2):
        if imported:
            ratios[one, other] = unpaired_ratio(speeds[one].values(), speeds[other].values())
        elif speeds[one].keys() & speeds[other].keys():
            ratios[one, other] = paired_ratio(speeds[one], speeds[other])
        else:
            return None
    return adjusted(ratios)


def _signs(pairs: Pairs) -> dict[tuple[str, str], int]:
    return {
        pair: (1 if ratio.value > 1 else -1) if ratio.differs else 0
        for pair, ratio in pairs.items()
    }


def _order(speeds: Speeds, pairs: Pairs) -> str:
    means = {store: log_t_interval(of.values()).value for store, of in speeds.items()}
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    text = ordered[0]
    for one, other in pairwise(ordered):
        ratio = pairs.get((one, other)) or pairs[other, one]
        text += f" {SIGNS[decide(ratio)]} {other}"
    return text


def _columns(value: str) -> list[str]:
    sides = [f"{name}_{side}" for side in "ab" for name in ("n", value, "low", "high")]
    change = ["change", "low", "high", "p", "p_holm", "different", "equivalence_p", "equal"]
    return [*sides, *change, "would_decide"]


RELATIVE = [*PLACE, "base", *_columns("ratio")]
ABSOLUTE = [*PLACE, *_columns("throughput")]
# Of one run: independent lists of values, and those that they are divided by.
Parts = tuple[list[list[float]], list[list[float]]]


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
    base, rows = matching.base, []
    for match in matching.matches if base else []:
        if base not in match.runs:
            reason = f"no value of {base} in both runs to divide by"
            matching.leave_out("both", reason, **match.place)
            continue
        for store, runs in match.runs.items():
            if store == base:
                continue
            parts = list(map(_parts, (a, b), runs, match.runs[base]))
            if None in parts:
                lacking = [side for side, of in zip("AB", parts, strict=True) if of is None]
                side = lacking[0] if len(lacking) == 1 else "both"
                reason = f"no repetition that has a value of {base} too"
                matching.leave_out(side, reason, store=store, **match.place)
                continue
            rows.append(([*match.place.values(), store, base], *parts))
    return _table(rows, RELATIVE)


def absolute_changes(matches: list[Match]) -> pd.DataFrame:
    """The change of each store's throughput itself (ops/s), of runs of one machine.

    ``throughput_a`` and ``throughput_b`` are geometric means with their 95 % intervals;
    ``change`` is B/A, Welch's interval on logarithms; the rest as in ``relative_changes``.
    """
    rows = [
        ([*match.place.values(), store], *(([[*of.values()]], []) for of in runs))
        for match in matches
        for store, runs in match.runs.items()
    ]
    return _table(rows, ABSOLUTE)


def _parts(run: RecordedRun, above: dict[str, float], below: dict[str, float]) -> Parts | None:
    """Store by base in each repetition that has both; of an imported run each by itself.

    None where nothing can be divided.
    """
    if run.study.imported:
        return [list(above.values())], [list(below.values())]
    # In their order, which sums depend on in their last digits.
    shared = [above[each] / below[each] for each in above if each in below]
    return ([shared], []) if shared else None


def _table(rows: list[tuple[list[str], Parts, Parts]], columns: list[str]) -> pd.DataFrame:
    """One line for each place with what it is worked out from in A and in B."""
    ratios = [
        unpaired_quotient(above_b + below_a, below_b + above_a)
        for _, (above_a, below_a), (above_b, below_b) in rows
    ]
    lines = []
    for (place, *sides), ratio in zip(
        rows, adjusted(dict(enumerate(ratios))).values(), strict=True
    ):
        for above, below in sides:
            side = unpaired_quotient(above, below) if below else log_t_interval(above[0])
            place += [side.n, side.value, side.low, side.high]
        change = [ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm]
        more = repetitions_to_decide(ratio) if decide(ratio) is Decision.UNDECIDED else None
        verdicts = [YES_NO[ratio.differs], equivalence_p(ratio), YES_NO[equivalent(ratio)], more]
        lines.append([*place, *change, *verdicts])
    return pd.DataFrame(lines, columns=columns)
