"""The common part of two finished runs, and the change of each store's throughput from A to B."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
import seaborn as sns

from kvstudy.analyse.findings.pairs import by_pair, order_of, pairs
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.analyse.tidy.files import why_not
from kvstudy.documents.comparison.runs import (
    PLACE,
    RecordedRun,
    facts_of_both,
    not_one_machine,
    read_recorded,
    sizes,
)
from kvstudy.errors import InputError, KvstudyError
from kvstudy.exhibits.table import sign_of
from kvstudy.language.reasons import sentence
from kvstudy.layout.looks import Style, styles
from kvstudy.stats.intervals import log_t_interval
from kvstudy.stats.latency_models import fit_latency_models
from kvstudy.stats.power import repetitions_to_decide
from kvstudy.stats.ranks import agreement
from kvstudy.stats.ratios import (
    Decision,
    adjusted,
    decide,
    equivalence_p,
    equivalent,
    unpaired_quotient,
)
from kvstudy.stores.definition import lighter, load_store
from kvstudy.study.load import STORES
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import StoreUse

TABLES = ["facts", "left-out", "changes", "throughputs", "orders", "latencies"]
LEFT_OUT = ["run", *PLACE, "repetitions", "reason"]
YES_NO = {True: "yes", False: "no", None: ""}
ORDERS = [
    *["workload", "parameters", "stores", "order_a", "order_b"],
    *["pairs", "same", "opposite", "neither", "tau"],
]


def _columns(value: str) -> list[str]:
    sides = [f"{name}_{side}" for side in "ab" for name in ("n", value, "low", "high")]
    change = ["change", "low", "high", "p", "p_adjusted", "different", "equivalence_p", "equal"]
    return [*sides, *change, "would_decide"]


RELATIVE = [*PLACE, "base", *_columns("ratio")]
ABSOLUTE = [*PLACE, *_columns("throughput")]
# Of one run: independent lists of values, and those that they are divided by.
Parts = tuple[list[pd.Series], list[pd.Series]]


def compare(first: str, second: str, base: str | None = None) -> Comparison:
    """Compare the runs called ``first`` (A) and ``second`` (B), or the folders of that name.

    InputError when they cannot be compared; it says why.
    """
    a, b = map(read_recorded, (first, second))
    same = a.folder.resolve() == b.folder.resolve()
    if same or (len(a.speeds) and a.speeds.equals(b.speeds)):
        what = "is the same folder as" if same else "has the same measured values as"
        raise InputError(
            f"{b.folder}: {what} {a.folder}; a run compared with itself says nothing. "
            "Name another run"
        )
    return Comparison(a, b, base)


class Comparison:
    """The comparison of runs A and B, matched by store, workload and parameters.

    ``matches`` are the workloads and parameters that both have, each with the stores that have
    values in both: their throughputs (ops/s) by repetition in A, and in B. ``base`` is the store
    that the others are divided by, None when only one is shared. ``left_out`` has what is not
    compared (run is A, B or both). ``two_machines`` says why ``throughputs`` has no rows; "" when
    both are of one machine. ``stores`` and ``workloads`` are how people read them.
    """

    def __init__(self, a: RecordedRun, b: RecordedRun, base: str | None) -> None:
        """``base``: left out, the first store that has values in the most of the workloads.

        InputError when nothing can be compared, or ``base`` is none of the shared stores.
        """
        self.a, self.b, self.runs = a, b, (a, b)
        self._left_out: list[dict[str, str]] = []
        self.matches = self._matches()
        stores = Counter(store for speeds in self.matches.values() for store in speeds)
        if base is not None and base not in stores:
            hint = did_you_mean(base, list(stores))
            raise InputError(f"--baseline {base}: not a store with values in both runs{hint}")
        self.base = None
        if len(stores) > 1:
            self.base = base or stores.most_common(1)[0][0]
        self.two_machines = not_one_machine(a, b)
        if self.base is None and self.two_machines:
            raise InputError(
                f"{a.folder} and {b.folder}: they share one store only, {next(iter(stores))}, and "
                f"{self.two_machines}. Between machines only ratios of two stores compare: compare "
                "runs that share two stores"
            )
        self.stores = _looks(a, list(stores))
        sets = Counter(workload for workload, _ in self.matches)
        self.workloads = {}
        for name, parameters in self.matches:
            title = a.workloads[name].title or name
            title += f", {sizes(parameters)}" if sets[name] > 1 else ""
            self.workloads[name, parameters] = title
        self.facts = facts_of_both(a, b, {name: self.title(name) for name in self.stores})
        self.changes = _changes(list(self._relative()), RELATIVE)
        self.orders = pd.DataFrame(self._orders(), columns=ORDERS)
        self.throughputs = _changes(
            [
                ([*place, store], *(([of_run], []) for of_run in both))
                for place, speeds in self.matches.items()
                for store, both in speeds.items()
                if not self.two_machines
            ],
            ABSOLUTE,
        )
        self.left_out = pd.DataFrame(self._left_out, columns=LEFT_OUT)
        self.latencies = self._latencies()
        # Of one round trip each: two runs do not both know those of their operations.
        known = (self.latencies[side].tolist() for side in ("latency_b", "latency_a"))
        self.latency_models = fit_latency_models(*known, [1] * len(self.latencies))

    def title(self, store: str) -> str:
        return self.stores[store].title

    def _leave_out(self, run: str, reason: str, *place: str, **more: str) -> None:
        row = dict.fromkeys(LEFT_OUT, "") | dict(zip(PLACE, place, strict=False)) | more
        self._left_out.append(row | {"run": run, "reason": reason})

    def _matches(self) -> dict[tuple[str, str], dict[str, list[pd.Series]]]:
        stores = self._shared("store", "shared store")
        matches = {}
        for workload in self._shared("workload", "common workload"):
            planned = [run.parameters(workload) for run in self.runs]
            reasons = [
                f"other parameters: the other run has {'; '.join(map(sizes, of)) or 'no cell'}"
                for of in reversed(planned)
            ]
            for parameters in self._in_both("parameters", planned, reasons, workload):
                speeds = {store: self._speeds(workload, parameters, store) for store in stores}
                complete = {store: both for store, both in speeds.items() if all(map(len, both))}
                matches[workload, parameters] = complete
        if not any(matches.values()):
            what = "common workload with the same parameters"
            if matches:
                what = "shared store with values on both sides"
            reasons = [
                ": ".join(filter(None, [row["store"], row["reason"]]))
                for row in self._left_out
                if bool(row["store"]) == bool(matches)
            ]
            raise InputError(
                f"{self.a.folder} and {self.b.folder}: no {what}: "
                f"{'; '.join(dict.fromkeys(reasons)) or 'no cell was measured'}. "
                "Compare runs that measured the same"
            )
        return {place: speeds for place, speeds in matches.items() if speeds}

    def _shared(self, kind: str, what: str) -> list[str]:
        """The names of the stores or workloads that are in both runs and the same there.

        The others are left out. InputError when no name is in both.
        """
        a, b = (run.named(kind) for run in self.runs)
        reasons = [f"the other run has no such {kind}"] * 2
        shared = self._in_both(kind, [list(a), list(b)], reasons)
        if not shared:
            raise InputError(
                f"{self.a.folder} and {self.b.folder}: no {what}: run A has {', '.join(a)}, run B "
                f"has {', '.join(b)}. Compare runs that have a {kind} in common"
            )
        same = []
        for name in shared:
            different = ", ".join(
                f"{key} is {a[name].get(key, 'not set')} in A, {b[name].get(key, 'not set')} in B"
                for key in sorted(a[name].keys() | b[name].keys())
                if a[name].get(key) != b[name].get(key)
            )
            if different:
                reason = f"is another {kind} in each: {different}"
                self._leave_out("both", reason, **{kind: name})
            else:
                same.append(name)
        return same

    def _in_both(
        self, key: str, names: list[list[str]], reasons: list[str], *place: str
    ) -> list[str]:
        """Return the ``names`` that are in both A and B, and record the others as left out."""
        for side, names_here, other, reason in zip(
            "AB", names, reversed(names), reasons, strict=True
        ):
            for name in names_here:
                if name not in other:
                    self._leave_out(side, reason, *place, **{key: name})
        return [name for name in names[0] if name in names[1]]

    def _speeds(self, *place: str) -> list[pd.Series]:
        """The throughputs by repetition of a store, in A and in B.

        Planned repetitions without a value that counts are left out, once for each reason.
        """
        both = []
        for side, run in zip("AB", self.runs, strict=True):
            cells = run.of(*place)
            reasons: dict[str, list[str]] = {} if len(cells) else {"not planned": []}
            for row in cells[cells["value"].isna()].itertuples():
                reason = sentence(why_not(row)) or "its throughput is not above 0"
                reasons.setdefault(reason, []).append(row.repetition)
            for reason, repetitions in reasons.items():
                self._leave_out(side, reason, *place, repetitions=", ".join(repetitions))
            both.append(cells.set_index("repetition")["value"].dropna())
        return both

    def _latencies(self) -> pd.DataFrame:
        """The mean latencies (us) of both runs where stores, workloads and sizes match."""
        both = pd.concat(
            [
                run.latencies.rename(f"latency_{side}")
                for side, run in zip("ab", self.runs, strict=True)
            ],
            axis=1,
            join="inner",
        ).reset_index()
        matched = [
            row.store in self.matches.get((row.workload, row.parameters), {})
            for row in both.itertuples()
        ]
        return both.loc[np.array(matched, dtype=bool)].reset_index(drop=True)

    def _relative(self) -> Iterator[tuple[list[str], Parts, Parts]]:
        """Return the values from which the change of each store's ratio to the base is computed.

        In each run, the throughputs of store and base are divided repetition by repetition. The
        repetitions of an imported run only share a number: there all runs of each are taken.
        """
        base = self.base
        for place, speeds in self.matches.items() if base else []:
            if base not in speeds:
                reason = f"no value of {base} in both runs to divide by"
                self._leave_out("both", reason, *place)
                continue
            for store, both in speeds.items():
                if store == base:
                    continue
                sides = [
                    ([above], [below])
                    if run.study.imported
                    else ([(above / below.reindex(above.index)).dropna()], [])
                    for run, above, below in zip(self.runs, both, speeds[base], strict=True)
                ]
                lacking = [side for side, of in zip("AB", sides, strict=True) if of[0][0].empty]
                if lacking:
                    side = lacking[0] if len(lacking) == 1 else "both"
                    reason = f"no repetition that has a value of {base} too"
                    self._leave_out(side, reason, *place, store)
                else:
                    yield [*place, store, base], *sides

    def _orders(self) -> Iterator[list[object]]:
        """A row for each match of at least two stores, see ``ORDERS``.

        ``order_a`` and ``order_b`` are the ``stores`` by their mean throughput, such as
        ``redis > riak ~ memcached``: ~ between two that are undecided, = between equal ones. Of the
        ``pairs`` of stores, ``same`` have the same order in both runs, ``opposite`` ones the
        opposite; ``neither`` ones are equal or undecided in at least one run. ``tau`` is Kendall's
        tau-b, NaN where one run decides none. In each run a pair is paired by repetition (not in
        an imported one), adjusted for the pairs of the workload.
        """
        for place, speeds in self.matches.items():
            if len(speeds) < 2:
                continue
            of_runs = [{store: both[side] for store, both in speeds.items()} for side in (0, 1)]
            # By the same rule as in the run's own analysis, but from these cells alone.
            compared = [
                pairs(spread_of(_values(of), not run.study.imported), list(speeds))
                for run, of in zip(self.runs, of_runs, strict=True)
            ]
            number = len(speeds) * (len(speeds) - 1) // 2
            lacking = [side for side, of in zip("AB", compared, strict=True) if len(of) < number]
            if lacking:
                reason = "no order: two stores have no repetition in common"
                self._leave_out(lacking[0], reason, *place)
                continue
            agreed = agreement(*(order_of(of, speeds) for of in compared))
            neither = agreed.total - agreed.concordant - agreed.discordant
            numbers = [agreed.total, agreed.concordant, agreed.discordant, neither, agreed.tau]
            yield [*place, ", ".join(speeds), *map(_order, of_runs, compared), *numbers]


def _looks(run: RecordedRun, stores: list[str]) -> dict[str, Style]:
    """Title, colour and hatch of ``stores``, as in the figures of the run's own report.

    A store that this installation has no folder of is called as in the study.
    """
    spare = iter(sns.color_palette("colorblind", len(stores)).as_hex())
    titles, colors, folders = {}, {}, []
    for name, record in run.stores.items():
        folders.append(record.folder)
        if name not in stores:
            continue
        use = StoreUse(store=record.folder, name=name, title=record.title, options=record.options)
        try:
            store = load_store(STORES / record.folder, use)
            titles[name] = store.title
            colors[name] = lighter(store.color, folders.count(record.folder) - 1)
        except KvstudyError:
            titles[name], colors[name] = record.title or name, next(spare)
    return styles(titles, colors)


def _values(speeds: dict[str, pd.Series]) -> pd.DataFrame:
    values = pd.concat(speeds, names=["store"]).reset_index()
    return values.assign(workload="", parameters="")


def _order(speeds: dict[str, pd.Series], compared: pd.DataFrame) -> str:
    of_pair = by_pair(compared)
    means = {store: log_t_interval(of).value for store, of in speeds.items()}
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    text = ordered[0]
    for one, other in pairwise(ordered):
        text += f" {sign_of(of_pair[frozenset((one, other))])} {other}"
    return text


def _changes(rows: list[tuple[list[str], Parts, Parts]], columns: list[str]) -> pd.DataFrame:
    """One line for each place with what it is computed from in A and in B.

    ``ratio_a`` and ``ratio_b`` (``throughput_a``, ``throughput_b``) are geometric means over the
    ``n_a`` and ``n_b`` repetitions, with 95 % intervals: t intervals on logarithms, Welch's where
    means are divided. ``change`` is B by A: Welch's interval and p-value for independent means.
    ``p_adjusted`` is adjusted over all rows, ``different`` (yes, no) follows from it; ``equal``
    says whether the whole interval is within the margin of equivalence. Both are "" where a run has
    one repetition. ``would_decide`` is about how many repetitions of each run would decide an
    undecided change.
    """
    ratios = {
        number: unpaired_quotient(above_b + below_a, below_b + above_a)
        for number, (_, (above_a, below_a), (above_b, below_b)) in enumerate(rows)
    }
    lines = []
    for (place, *sides), ratio in zip(rows, adjusted(ratios).values(), strict=True):
        line = list(place)
        for above, below in sides:
            side = unpaired_quotient(above, below) if below else log_t_interval(above[0])
            line += [side.n, side.value, side.low, side.high]
        more = repetitions_to_decide(ratio) if decide(ratio) is Decision.UNDECIDED else None
        line += [ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_adjusted]
        line += [YES_NO[ratio.differs], equivalence_p(ratio), YES_NO[equivalent(ratio)], more]
        lines.append(line)
    table = pd.DataFrame(lines, columns=columns)
    # Of runs of one repetition all of them are missing.
    return table.astype({"low": float, "high": float})
