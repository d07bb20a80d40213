"""The results of other benchmarks compared: ranks with ties, ratios, and what they cannot tell."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.findings.pairs import fastest_first, mean_pairs, order_of, pairs
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.layout.numbers import rate, significant
from kvstudy.libraries import np, pd
from kvstudy.logs.others.result_file import SECONDS
from kvstudy.stats.intervals import NOISY, geometric_mean
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision
from kvstudy.study.parts import MEAN

VALUES = ["test", "system", "repetition", "value"]
# Tests that are printed one by one; of more only their mean.
MOST_TESTS = 6
WIDTH = 96
ALL_TESTS = "geometric mean of all tests"


@dataclass(frozen=True)
class OtherComparison:
    """The ``values`` (``VALUES``, in the ``unit``) of several systems, and all ``pairs`` of them.

    ``pairs`` is as ``analyse.findings.pairs.pairs`` has it: a test is a workload; the larger rate
    is the faster one, of times the smaller.
    """

    values: pd.DataFrame
    unit: str
    pairs: pd.DataFrame

    @property
    def systems(self) -> list[str]:
        """Return the systems, the fastest first."""
        return fastest_first(self.pairs, dict.fromkeys(self.values["system"]))

    @property
    def tests(self) -> list[str]:
        return [*dict.fromkeys(self.values["test"])]

    @property
    def fewest(self) -> int:
        """Return the smallest number of runs of any system in any test."""
        return int(self.values.groupby(["test", "system"]).size().min())


def compare_systems(rows: list[tuple[str, str, str, float]], unit: str) -> OtherComparison:
    """Compare all systems under each test, and under all tests that each of them has."""
    values = pd.DataFrame(rows, columns=VALUES)
    rates = values["value"] if unit != SECONDS else 1 / values["value"]
    spread = spread_of(
        values.assign(value=rates, parameters="").rename(
            columns={"test": "workload", "system": "store"}
        ),
        paired=False,
    )
    systems = [*dict.fromkeys(values["system"])]
    of_tests = pairs(spread, systems)
    whole = [setting for setting, of in spread.runs.items() if len(of) == len(systems)]
    means = mean_pairs(spread, whole if len(whole) > 1 else [], systems)
    return OtherComparison(values, unit, pd.concat([of_tests, means], ignore_index=True))


def as_text(comparison: OtherComparison) -> str:
    """The comparison for a terminal, what cannot be told first."""
    tests = comparison.tests
    shown = tests if len(tests) <= MOST_TESTS else []
    if (comparison.pairs["workload"] == MEAN).any():
        shown = [*shown, MEAN]
    blocks = [*_warnings(comparison)]
    blocks += ["\n".join(_test(comparison, test)) for test in shown]
    if len(tests) > MOST_TESTS:
        blocks.append(_wrapped(_counts(comparison)))
    blocks += map(_wrapped, _notes(comparison))
    return "\n\n".join(blocks) + "\n"


def _warnings(comparison: OtherComparison) -> Iterator[str]:
    if len(comparison.systems) == 1:
        yield _wrapped(
            f"All files are of one system, {comparison.systems[0]}: there is nothing to compare."
        )
    elif comparison.fewest == 1:
        yield _wrapped(
            "Some values are of one run only. One run shows nothing about its spread, so nothing "
            "can be told from it: its ratios have no interval and decide nothing."
        )


def _test(comparison: OtherComparison, test: str) -> Iterator[str]:
    of = comparison.pairs[comparison.pairs["workload"] == test]
    values = comparison.values
    title = ALL_TESTS if test == MEAN else test
    direction = "smaller" if comparison.unit == SECONDS else "larger"
    yield f"{title} ({comparison.unit}, {direction} is faster)"
    if test != MEAN:
        values = values[values["test"] == test]
    systems = [name for name in comparison.systems if name in set(values["system"])]
    places = place_ranges(order_of(of, systems)) if len(systems) > 1 else {}
    lines = []
    for system in sorted(systems, key=lambda name: places.get(name, (1, 1))):
        runs = values.loc[values["system"] == system, "value"]
        first, last = places.get(system, (1, 1))
        place = f"{first}" if first == last else f"{first} to {last}"
        spread = _spread_words(runs) if test != MEAN else ""
        lines.append([place, system, rate(geometric_mean(runs)), spread])
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    for place, system, mean, spread in lines:
        text = f"  {place:<{widths[0]}}  {system:<{widths[1]}}  {mean:>{widths[2]}}  {spread}"
        yield text.rstrip()
    for pair in of.itertuples():
        yield f"  {_pair_words(pair)}"


def _spread_words(runs: pd.Series) -> str:
    if len(runs) == 1:
        return "one run"
    deviation = float(np.log(runs).std(ddof=1))
    noisy = ", noisy" if deviation > NOISY else ""
    return f"{len(runs)} runs, standard deviation {100 * deviation:.1f} %{noisy}"


def _pair_words(pair) -> str:
    """Return ``a / b: 1.2, 95 % interval 1.1 to 1.3: faster``."""
    text = f"{pair.faster} / {pair.slower}: {significant(pair.ratio)} times as fast"
    if pd.isna(pair.low):
        return f"{text}: one run does not decide"
    text += f", 95 % interval {significant(pair.low)} to {significant(pair.high)}: "
    if pair.decision == Decision.FASTER:
        return f"{text}{pair.faster} is faster"
    if pair.decision == Decision.EQUAL:
        return f"{text}equal within ±10 %"
    return f"{text}undecided after {pair.n:.0f} runs"


def _counts(comparison: OtherComparison) -> str:
    """Return how many of the tests decide each pair."""
    parts = []
    of_tests = comparison.pairs[comparison.pairs["workload"] != MEAN]
    names = of_tests.apply(lambda row: tuple(sorted((row["faster"], row["slower"]))), axis=1)
    for (one, other), of in of_tests.groupby(names):
        faster = of[of["decision"] == Decision.FASTER]["faster"]
        equal = int((of["decision"] == Decision.EQUAL).sum())
        parts.append(
            f"{one} is faster in {int((faster == one).sum())}, {other} in "
            f"{int((faster == other).sum())}, equal in {equal}, undecided in "
            f"{len(of) - len(faster) - equal}"
        )
    return f"Of {len(comparison.tests)} tests: " + "; ".join(parts) + "."


def _notes(comparison: OtherComparison) -> Iterator[str]:
    if len(comparison.systems) > 1 and comparison.fewest > 1:
        yield (
            "Means are geometric. Intervals of ratios are those of means that share no runs, on "
            "logarithms; the spread of each system is estimated from all tests (moderated "
            "variances). 'Faster' is after a correction for all pairs of a test (Holm, Shaffer); "
            "systems that the runs cannot tell apart share ranks."
        )
        yield (
            "The noise floor is unknown: no system was measured under two names. What treats the "
            "systems differently each time, such as their order or their place on the disk, is in "
            "these ratios, and nothing shows how large it is."
        )
    yield (
        "How these values were measured was not checked: the files do not hold it. kvstudy's own "
        "measurements check each cell; see docs/guide.md."
    )


def write_comparison(comparison: OtherComparison, folder: Path) -> None:
    """Write ``values.csv``, ``pairs.csv`` and ``comparison.txt``."""
    columns = {"workload": "test"}
    table = comparison.pairs.drop(columns=["parameters", "in_floor"]).rename(columns=columns)
    table["test"] = table["test"].replace(MEAN, ALL_TESTS)
    comparison.values.to_csv(folder / "values.csv", index=False, lineterminator="\n")
    table.to_csv(folder / "pairs.csv", index=False, lineterminator="\n")
    (folder / "comparison.txt").write_text(as_text(comparison), encoding="utf-8")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)
