"""How often two equal stores are told apart, and how often a true difference is found.

Simulates runs of a study with a control, and judges them twice: by the rule of the reports
(``stats.variances``), and by the paired t test of each pair, Holm's correction and the far end of
the control's interval as noise floor. Writes the table and the figure of docs/decisions.md. With
words, seeds of its random order, it also measures the study ``aa``, one store under eight names
(25 min each); let nothing else run meanwhile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from kvstudy.stats.intervals import LEVEL
from kvstudy.stats.ratios import MARGIN, possible_equalities
from kvstudy.stats.stopping import level_of_look
from kvstudy.stats.variances import fit
from scipy import special

ROOT = Path(__file__).resolve().parents[2]
PAGE, FIGURE = ROOT / "docs/decisions.md", ROOT / "docs/decisions.png"
SETS, SEED = 2000, 1
REPETITIONS = (3, 5, 10)
# Of runs that stop when all is decided.
FIRST, LAST = 3, 12
SPREAD, DIFFERENCE = 0.05, 0.10
PAIRS = "results/aa/analysis/pairs.csv"
SNAKEMAKE = ["snakemake", "--cores", "2", PAIRS, "--config", "study=aa", "provider=native"]
HEAD = [
    *["scenario", "n", "false calls, pair alone", "all cells", "worst workload"],
    *["coverage, pair alone", "all cells", "power, pair alone", "all cells"],
]


def _normal(random: np.random.Generator, size: tuple) -> np.ndarray:
    return random.standard_normal(size)


@dataclass(frozen=True)
class Scenario:
    """``spread`` makes the standard deviations of ln x, shape (workloads, stores), of a 5 % one.

    ``errors`` draws those of a standard deviation of 1; ``disturb`` changes the values of all sets.
    """

    title: str
    stores: int = 4
    workloads: int = 4
    spread: Callable[[np.ndarray], np.ndarray] = field(default=lambda equal: equal)
    errors: Callable[[np.random.Generator, tuple], np.ndarray] = lambda random, size: (
        random.standard_normal(size)
    )
    disturb: Callable[[np.random.Generator, np.ndarray], None] = lambda random, values: None

    def runs(self, repetitions: int, difference: float) -> np.ndarray:
        """ln x, shape (sets, workloads, stores and the control, repetitions).

        The control is the first store again. The last store is faster by ``difference``.
        """
        random = np.random.default_rng(SEED)
        shape = (SETS, self.workloads, self.stores + 1, repetitions)
        spread = self.spread(np.full(shape[1:3], SPREAD))
        # Under both names it is one store.
        spread[:, -1] = spread[:, 0]
        values = self.errors(random, size=shape) * spread[..., None]
        values += random.normal(0, 0.03, (SETS, self.workloads, 1, repetitions))
        self.disturb(random, values)
        values[..., self.stores - 1, :] += np.log1p(difference)
        return values


def _unlike(equal: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.resize([0.03, 0.03, 0.05, 0.10], equal.shape[1]), equal.shape).copy()


def _restless(equal: np.ndarray) -> np.ndarray:
    equal[0] *= 3
    return equal


def _own(equal: np.ndarray) -> np.ndarray:
    return equal * np.exp(np.random.default_rng(SEED).normal(0, 0.5, equal.shape))


def _slip(random: np.random.Generator, values: np.ndarray) -> None:
    """One run of the first store is slower by a quarter."""
    values[:, 0, 0, 0] -= 0.3


def _bias(random: np.random.Generator, values: np.ndarray) -> None:
    """Each cell is faster or slower by some 3 %, in all of its repetitions."""
    values += random.normal(0, 0.03, (*values.shape[:-1], 1))


def _heavy(random: np.random.Generator, size: tuple) -> np.ndarray:
    return random.standard_t(4, size) / np.sqrt(2)


SCENARIOS = [
    Scenario("equal spreads of 5 %"),
    Scenario("spreads of 3, 3, 5 and 10 %", spread=_unlike),
    Scenario("one workload three times as noisy", spread=_restless),
    Scenario("each cell has its own spread", spread=_own),
    Scenario("heavy tails (t with 4 degrees)", errors=_heavy),
    Scenario("one run slower by a quarter", disturb=_slip),
    Scenario("two stores", stores=2),
    Scenario("eight stores", stores=8),
    Scenario("one workload", workloads=1),
    Scenario("each cell off by 3 %, always", disturb=_bias),
]


def _calm(equal: np.ndarray) -> np.ndarray:
    return equal * 0.4


STOPPING = [
    ("equal stores, spreads of 5 %", SCENARIOS[0], 0.0),
    ("equal stores, spreads of 2 %", Scenario("", spread=_calm), 0.0),
    ("one store 10 % faster, spreads of 5 %", SCENARIOS[0], 0.1),
    ("one store 10 % faster, spreads of 2 %", Scenario("", spread=_calm), 0.1),
    ("one store 30 % faster, spreads of 5 %", SCENARIOS[0], 0.3),
    ("two stores 2 % apart, spreads of 2 %", Scenario("", stores=2, spread=_calm), 0.02),
    ("two equal stores, heavy tails", Scenario("", stores=2, errors=_heavy), 0.0),
]


class Errors(NamedTuple):
    """Of each pair, shape (sets, workloads, pairs): ln ratio, standard error, freedom."""

    mean: np.ndarray
    error: np.ndarray
    freedom: np.ndarray

    def half(self, level: float = LEVEL) -> np.ndarray:
        return special.stdtrit(self.freedom, (1 + level) / 2) * self.error

    def p(self, floor: np.ndarray | float = 0.0) -> np.ndarray:
        above = np.maximum(abs(self.mean) - floor, 0)
        return 2 * special.stdtr(self.freedom, -above / self.error)

    def of(self, places: list[int] | int) -> Errors:
        return Errors(*(values[..., places] for values in self))


def of_pair_alone(values: np.ndarray, pairs: list[tuple[int, int]]) -> Errors:
    """By the runs of each pair alone."""
    one, other = np.array(pairs).T
    differences = values[..., one, :] - values[..., other, :]
    n = values.shape[-1]
    error = differences.std(-1, ddof=1) / np.sqrt(n)
    return Errors(differences.mean(-1), error, np.full(error.shape, n - 1.0))


def of_all_cells(values: np.ndarray, pairs: list[tuple[int, int]]) -> Errors:
    """By the runs of all cells."""
    _, workloads, stores, n = values.shape
    variances = fit(values, [*range(stores - 1), 0])
    means = values.mean(-1)
    parts = []
    for one, other in pairs:
        of_workloads = []
        for workload in range(workloads):
            weights = np.zeros((workloads, stores))
            weights[workload, [one, other]] = 1 / n
            of_workloads.append(variances.error(weights))
        error, freedom = (np.stack(each, -1) for each in zip(*of_workloads, strict=True))
        parts.append((means[..., one] - means[..., other], error, freedom))
    return Errors(*(np.stack(each, -1) for each in zip(*parts, strict=True)))


def corrected(p: np.ndarray, counts: list[int]) -> np.ndarray:
    """As ``stats.ratios.adjusted``, over the last axis; ``counts`` are the factors by rank."""
    order = np.argsort(p, -1)
    steps = np.maximum.accumulate(np.take_along_axis(p, order, -1) * counts, -1)
    result = np.empty_like(steps)
    np.put_along_axis(result, order, steps, -1)
    return result


def decided(
    errors: Errors, control: Errors, stores: int, moderated: bool, level: float = LEVEL
) -> np.ndarray:
    """Which pairs are told apart."""
    pairs = [*combinations(map(str, range(stores)), 2)]
    falling = range(len(pairs), 0, -1)
    if not moderated:
        floor = abs(control.mean) + control.half()
        reply = corrected(errors.p(), [*falling]) < 1 - LEVEL
        return reply & (abs(errors.mean) > floor[..., None])
    possible = possible_equalities(pairs)
    counts = [max(max(each for each in possible if each <= left), 1) for left in falling]
    # As ``findings.pairs.floors``.
    scores = (special.ndtri(control.p() / 2) ** 2).sum(-1)
    differs = special.chdtrc(control.mean.shape[-1], scores) < 1 - LEVEL
    floor = np.sqrt((control.mean**2).mean(-1)) * differs
    return corrected(errors.p(floor[..., None, None]), counts) < 1 - level


def until_decided(scenario: Scenario, difference: float) -> dict[str, float]:
    """Of runs that stop when each pair is told apart or equal.

    How many ``repetitions`` they have in the mean, in which share some pair is left ``open``, the
    share of workloads with a ``false`` call, of those with a pair wrongly called ``equal`` (NaN
    where there is no such pair), and of intervals that hold where the run stopped.
    """
    pairs = [*combinations(range(scenario.stores), 2)]
    level = level_of_look(FIRST, LAST)
    values = scenario.runs(LAST, difference)
    true = np.array([-np.log1p(difference) * (scenario.stores - 1 in pair) for pair in pairs])
    running = np.ones(len(values), dtype=bool)
    same, apart = true == 0, abs(true) >= np.log1p(MARGIN)
    repetitions, false, wrong, held = np.zeros(len(values)), [], [], []
    left = 0
    for n in range(FIRST, LAST + 1):
        if not running.any():
            break
        every = of_all_cells(values[running][..., :n], [*pairs, (0, scenario.stores)])
        errors = every.of([*range(len(pairs))])
        reply = decided(errors, every.of(-1), scenario.stores, moderated=True, level=level)
        equal = abs(errors.mean) + errors.half(level) < np.log1p(MARGIN)
        all_decided = (reply | equal).all((1, 2))
        stops = all_decided | (n == LAST)
        left = int((stops & ~all_decided).sum())
        false.append((reply[stops] & same).any(-1).ravel())
        wrong.append((equal[stops] & ~reply[stops] & apart).any(-1).ravel())
        held.append((abs(errors.mean - true) <= errors.half(level))[stops].ravel())
        repetitions[np.flatnonzero(running)[stops]] = n
        running[np.flatnonzero(running)[stops]] = False
    return {
        "repetitions": repetitions.mean(),
        "open": left / len(values),
        "false": np.concatenate(false).mean() if same.any() else np.nan,
        "equal": np.concatenate(wrong).mean() if apart.any() else np.nan,
        "held": np.concatenate(held).mean(),
    }


def lines_of_looks() -> list[str]:
    head = [
        *["scenario", "repetitions", "something left open", "false calls", "wrongly equal"],
        "intervals that hold",
    ]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for title, scenario, difference in STOPPING:
        of = until_decided(scenario, difference)
        shares = [
            "-" if np.isnan(of[key]) else f"{of[key]:.1%}".replace("%", " %")
            for key in ("open", "false", "equal", "held")
        ]
        lines.append(f"| {title} | {of['repetitions']:.1f} | {' | '.join(shares)} |")
    return lines


def judged(scenario: Scenario, repetitions: int, moderated: bool) -> dict[str, float]:
    """Shares of false calls (of a workload with equal stores), of intervals that hold, of finds."""
    stores = scenario.stores
    pairs = [*combinations(range(stores), 2)]
    shares = {}
    for difference in (0.0, DIFFERENCE):
        values = scenario.runs(repetitions, difference)
        every = (of_all_cells if moderated else of_pair_alone)(values, [*pairs, (0, stores)])
        errors, control = every.of([*range(len(pairs))]), every.of(-1)
        reply = decided(errors, control, stores, moderated)
        if difference:
            true = [place for place, pair in enumerate(pairs) if stores - 1 in pair]
            shares["power"] = reply[..., true].mean()
            continue
        by_workload = reply.any(-1).mean(0)
        shares |= {"false": by_workload.mean(), "worst": by_workload.max()}
        held = (abs(errors.mean) <= errors.half()).mean((0, 1))
        of_store = [
            np.mean([share for share, pair in zip(held, pairs, strict=True) if store in pair])
            for store in range(stores)
        ]
        shares["coverage"] = min(of_store)
    return shares


def simulated() -> Iterator[tuple[str, int, dict, dict]]:
    for scenario in SCENARIOS:
        for repetitions in REPETITIONS:
            both = [judged(scenario, repetitions, moderated) for moderated in (False, True)]
            yield scenario.title, repetitions, *both


def lines_of(rows: list[tuple[str, int, dict, dict]]) -> list[str]:
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for title, n, alone, together in rows:
        shares = [alone["false"], together["false"], together["worst"]]
        shares += [alone["coverage"], together["coverage"], alone["power"], together["power"]]
        cells = [f"{share:.1%}".replace("%", " %") for share in shares]
        lines.append(f"| {title if n == REPETITIONS[0] else ''} | {n} | {' | '.join(cells)} |")
    return lines


def draw(rows: list[tuple[str, int, dict, dict]]) -> None:
    figure, axes = plt.subplots(1, 3, sharey=True, figsize=(10, 7.5), layout="constrained")
    names = {"false": "false calls per workload", "coverage": "coverage, worst store"}
    names["power"] = "a true 10 % found"
    heights = [-(number + number // 3 * 0.8) for number in range(len(rows))]
    for ax, (key, title) in zip(axes, names.items(), strict=True):
        for place, label, marker in ((2, "pair alone", "o"), (3, "all cells", "s")):
            values = [row[place][key] for row in rows]
            look = {"markerfacecolor": "white"} if place == 2 else {}
            ax.plot(values, heights, marker, color="0.2", markersize=4, label=label, **look)
        goal = {"false": 1 - LEVEL, "coverage": LEVEL}.get(key)
        if goal:
            ax.axvline(goal, color="0.6", linewidth=0.8)
        ax.set_title(title, loc="left", fontsize=9)
        ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        ax.grid(axis="x", color="0.9")
    labels = [f"{title if n == 5 else ''}   n = {n}" for title, n, *_ in rows]
    axes[0].set_yticks(heights, labels, fontsize=7)
    axes[0].legend(fontsize=8, loc="upper right")
    figure.savefig(FIGURE, dpi=110)


def measured(seed: int, clone: Path) -> pd.DataFrame:
    """The pairs of one run of ``aa``, as ``analysis.pairs`` has them."""
    study = clone / "config/studies/aa/study.yaml"
    lines = study.read_text().splitlines()
    lines = [f"seed: {seed}" if line.startswith("seed:") else line for line in lines]
    study.write_text("\n".join(lines) + "\n")
    shutil.rmtree(clone / "results", ignore_errors=True)
    subprocess.run(SNAKEMAKE, cwd=clone, check=True)
    return pd.read_csv(clone / PAIRS)


def lines_of_pairs(pairs: pd.DataFrame) -> list[str]:
    lines = ["| workload | comparisons | called faster | p < 0.05 alone | largest ratio |"]
    lines.append("|---|---|---|---|---|")
    for workload, of in [*pairs.groupby("workload"), ("all", pairs)]:
        called, alone = (of["decision"] == "faster").sum(), (of["p"] < 0.05).sum()
        shares = [f"{count} ({count / len(of):.1%})" for count in (called, alone)]
        lines.append(f"| {workload} | {len(of)} | {' | '.join(shares)} | {of['ratio'].max():.2f} |")
    return lines


def keep(name: str, lines: list[str]) -> None:
    """Put the table into its place in the page."""
    above, _, rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition("<!-- end -->\n")
    text = "\n".join(lines)
    PAGE.write_text(f"{above}<!-- {name} -->\n\n{text}\n\n<!-- end -->\n{after}", encoding="utf-8")
    print(text)


def main() -> None:
    rows = list(simulated())
    draw(rows)
    keep("simulated", lines_of(rows))
    keep("looks", lines_of_looks())
    if seeds := [int(word) for word in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as temporary:
            clone = Path(temporary)
            for name in ("config", "envs", "workloads", "workflow", "profiles", "report"):
                shutil.copytree(ROOT / name, clone / name)
            shutil.copy(ROOT / "Snakefile", clone)
            runs = [measured(seed, clone) for seed in seeds]
        keep("measured", lines_of_pairs(pd.concat(runs)))


if __name__ == "__main__":
    main()
