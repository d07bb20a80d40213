"""What separates the source's mean latencies from those measured here."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.separation import (
    MODELLED,
    ORDERS,
    SEPARATION,
    models,
    orders,
    separation,
)
from kvstudy.analyse.tidy.files import PROBES
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.documents.report.cells import DisplayNames
from kvstudy.documents.report.context import separation_facts
from kvstudy.documents.report.markdown import fill
from kvstudy.exhibits.figure import plot_of
from kvstudy.language.current import using
from kvstudy.stats.latency_models import Difference, fit_latency_models
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.published import COLUMNS

from . import small_results as small
from .languages import check_numbers

ROOT = Path(__file__).parents[2]

MEASURED = [60.0, 70.0, 80.0, 140.0, 150.0, 1200.0]
TRIPS = [1, 1, 1, 1, 2, 2]
SETTING = "r10_o20_t1"
# Mean latencies in us of the reads and updates here, by store and workload.
LATENCIES = {
    ("redis", "a"): (100.0, 120.0),
    ("redis", "c"): (100.0,),
    ("memcached", "a"): (60.0, 70.0),
    ("memcached", "c"): (60.0,),
}


def never(*value: str) -> bool:
    """No published value is inconsistent."""
    return False


def doubted(*value: str) -> bool:
    """The updates of Memcached are."""
    return value == ("memcached", "a", "update", "latency_mean")


def by_difference(published: list[float], trips: list[int] = TRIPS) -> dict:
    return {model.difference: model for model in fit_latency_models(published, MEASURED, trips)}


def test_a_factor_is_found_where_the_source_was_slower_in_proportion():
    models = fit_latency_models([9 * value for value in MEASURED], MEASURED, TRIPS)
    assert models[0].difference == Difference.FACTOR
    assert models[0].constant == pytest.approx(9)
    assert (models[0].median_error, models[0].worst_error) == pytest.approx((0, 0))
    assert models[0].describes
    assert models[0].n == 6
    assert not models[-1].describes


def test_a_time_per_round_trip_is_told_from_one_per_operation():
    published = [value + 800 * trips for value, trips in zip(MEASURED, TRIPS, strict=True)]
    result = by_difference(published)
    assert result[Difference.ROUND_TRIP].constant == pytest.approx(800)
    assert result[Difference.ROUND_TRIP].worst_error == pytest.approx(0)
    # 150 + 2 x 800 published, 150 + 800 modelled.
    assert result[Difference.OPERATION].worst_error == pytest.approx(800 / 1750)
    assert next(iter(result)) == Difference.ROUND_TRIP
    # The middle two of the ratios are those of 80 and 150 us.
    factor = result[Difference.FACTOR].constant
    assert factor == pytest.approx((880 / 80 + 1750 / 150) / 2)
    assert result[Difference.FACTOR].worst_error == pytest.approx(factor * 1200 / 2800 - 1)


def test_with_one_round_trip_each_there_are_two_models():
    result = by_difference([value + 800 for value in MEASURED], [1] * 6)
    assert list(result) == [Difference.OPERATION, Difference.FACTOR]


def test_a_source_that_no_model_describes():
    published = [600.0, 7000.0, 100.0, 2000.0, 150.0, 90_000.0]
    result = by_difference(published)
    assert not any(model.describes for model in result.values())


def test_a_faster_source_has_a_constant_below_zero():
    assert by_difference([value - 20 for value in MEASURED])[Difference.OPERATION].constant == -20


@pytest.mark.parametrize("left", [0, 5])
def test_few_means_fit_nothing(left: int):
    assert fit_latency_models(MEASURED[:left], MEASURED[:left], TRIPS[:left]) == []


def of_means(published: list[float], trips: list[int] = TRIPS) -> SimpleNamespace:
    """The analysis of these means of reads and updates of Redis and Memcached under A and C."""
    keys = [
        *[["redis", "a", SETTING, "read"], ["memcached", "a", SETTING, "read"]],
        *[["redis", "c", SETTING, "read"], ["memcached", "c", SETTING, "read"]],
        *[["redis", "a", SETTING, "update"], ["memcached", "a", SETTING, "update"]],
    ]
    numbers = zip(published, MEASURED, trips, strict=True)
    rows = [
        [*key, 2, number, present, here, *[present] * len(MODELLED)]
        for key, (present, here, number) in zip(keys, numbers, strict=True)
    ]
    table = SEPARATION.frame(rows)
    parts = {"separation": table, "separation_models": models(table)}
    return SimpleNamespace(**parts, separation_orders=ORDERS.frame())


def plotted(published: list[float] | None = None, trips: list[int] = TRIPS) -> pd.DataFrame:
    """What the figure shows; of a source that needs 800 us more per round trip."""
    present = [here + 800 * number for here, number in zip(MEASURED, trips, strict=True)]
    return small.figure("separation").rows(
        small.run(analysis=of_means(published or present, trips))
    )


def run(tmp_path: Path, added: float = 800.0, **changes: object) -> SimpleNamespace:
    """Redis and Memcached under A and C; the source needs ``added`` us more per round trip.

    An update of Redis takes two round trips.
    """
    of = small.study()
    values, published = [], []
    for (store, workload), latencies in LATENCIES.items():
        operations = ["read", "update"][: len(latencies)]
        for operation, latency in zip(operations, latencies, strict=True):
            trips = 2 if (store, operation) == ("redis", "update") else 1
            key = ["small", "T", store, workload, operation]
            published.append([*key, "latency_mean", "us", latency + added * trips])
            for repetition, chance in (("1", 0.9), ("2", 1.1)):
                key = [store, workload, SETTING, repetition, "run", operation]
                values.append([*key, "latency_mean", "us", chance * latency])
                values.append([*key, "operations", "count", 10])
        speed = 1e6 / (sum(latencies) / len(latencies))
        published.append(["small", "T", store, workload, "overall", "throughput", "ops/s", speed])
        for repetition in ("1", "2"):
            key = [store, workload, SETTING, repetition, "run", "overall", "throughput"]
            values.append([*key, "ops/s", speed])
    file = tmp_path / "published.csv"
    pd.DataFrame(published, columns=COLUMNS).to_csv(file, index=False)
    columns = [*["store", "workload", "parameters", "repetition", "phase", "operation"]]
    table = pd.DataFrame(values, columns=[*columns, "metric", "unit", "value"])
    cells = {
        f"{store}/{workload}": SimpleNamespace(
            store=store, workload=workload, parameters=SETTING, threads=1
        )
        for store, workload in LATENCIES
    }
    stores = {name: SimpleNamespace(counts_requests=True) for name in small.TITLES}
    example = {"study": of, "own_values": table, "planned": cells, "stores": stores}
    example |= {"study_file": tmp_path / "study.yaml", "probes": probes(), "scale": 1.0}
    return small.run(**example | changes)


def probes(**more: dict[str, float]) -> Probes:
    """Commands per operation of each step of Redis and Memcached."""
    counted = {
        ("redis", "read"): {"HGETALL": 1.0, "INFO": 0.0002},
        ("redis", "update"): {"GET": 1.0, "SET": 1.0},
        ("memcached", "read"): {"cmd_get": 1.0},
        ("memcached", "update"): {"cmd_set": 1.0},
    }
    rows = [
        {"store": store, "step": step, "kind": "command", "name": name, "value": value}
        for (store, step), commands in counted.items()
        for name, value in (more.get(f"{store}_{step}") or commands).items()
    ]
    return Probes(pd.DataFrame(rows).assign(reason=""))


def test_each_published_mean_stands_beside_the_measured_and_the_modelled(tmp_path: Path):
    output = separation(run(tmp_path))
    assert len(output) == 6
    row = output.set_index(["store", "workload", "operation"]).loc["redis", "a", "update"]
    assert (row["n"], row["round_trips"]) == (2, 2)
    assert row["measured"] == pytest.approx(120)
    assert row["published"] == pytest.approx(1720)
    assert row[MODELLED[Difference.ROUND_TRIP]] == pytest.approx(1720)
    assert row[MODELLED[Difference.OPERATION]] == pytest.approx(920)
    best = models(output).iloc[0]
    assert best["model"] == "round-trip"
    assert best["constant"] == pytest.approx(800)
    assert best["n"] == 6


def test_orders_are_those_of_the_same_threads_with_longer_operations(tmp_path: Path):
    of = run(tmp_path)
    result = orders(of, separation(of)).set_index("workload")
    # An operation of A takes Redis 110 us here, half of them two round trips more.
    assert result.loc["a", ["one", "other"]].tolist() == ["redis", "memcached"]
    assert result.loc["a", "measured"] == pytest.approx(65 / 110)
    assert result.loc["a", "modelled"] == pytest.approx((65 + 800) / (110 + 1200))
    assert result.loc["c", "modelled"] == pytest.approx((60 + 800) / (100 + 800))


def test_a_factor_leaves_the_orders_as_they_are(tmp_path: Path):
    of = run(tmp_path)
    file = tmp_path / "published.csv"
    rows = pd.read_csv(file)
    means = rows["metric"] == "latency_mean"
    rows.loc[means, "value"] = [9 * each for of in LATENCIES.values() for each in of]
    rows.to_csv(file, index=False)
    result = separation(of)
    assert models(result).loc[0, "model"] == "factor"
    both = orders(of, result)
    assert both["modelled"].tolist() == pytest.approx(both["measured"].tolist())


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": 0.01},
        {"probes": Probes(PROBES.frame())},
        {"stores": {name: SimpleNamespace(counts_requests=False) for name in small.TITLES}},
        # Half of the updates took one request more.
        {"probes": probes(redis_update={"GET": 1.0, "SET": 0.5})},
    ],
)
def test_nothing_is_said_without_six_means_of_which_the_round_trips_are_known(
    changes: dict, tmp_path: Path
):
    of = run(tmp_path, **changes)
    result = separation(of)
    assert result.empty
    assert models(result).empty
    assert orders(of, result).empty
    assert list(result) == SEPARATION.columns


def test_nothing_is_said_of_a_source_without_values(tmp_path: Path):
    of = run(tmp_path)
    (tmp_path / "published.csv").unlink()
    assert separation(of).empty


def labels(table: pd.DataFrame) -> list[str]:
    """The lines in the legend of the chart."""
    plot = plot_of(small.figure("separation"), small.as_csv(table), small.looked())
    return [look.title for look in plot.legend if look.line is not None]


def test_the_figure_has_a_line_for_the_factor_and_for_each_number_of_round_trips():
    factor = (880 / 80 + 1750 / 150) / 2
    by, once, twice = f"{factor:.1f} times measured", "measured + 800\u202fµs", ""
    twice = "measured + 2 times 800\u202fµs"
    assert labels(plotted()) == [by, once, twice]


def test_a_source_that_is_faster_needs_less():
    table = plotted([value - 20 for value in MEASURED], [1] * 6)
    assert labels(table)[1] == "measured, less 20.0\u202fµs"


def test_its_lines_pass_through_the_means_that_they_describe():
    table = small.as_csv(plotted())
    figure = small.painted(small.figure("separation"), table, small.looked())
    (ax,) = figure.axes
    (line,) = (line for line in ax.lines if line.get_label() == "measured + 800\u202fµs")
    at, values = line.get_data()
    assert values == pytest.approx(at + 800)
    drawn = {float(y) for line in ax.lines if line.get_marker() != "None" for y in line.get_ydata()}
    assert drawn == set(table["published"])
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
    assert sorted(float(y) for line in hollow for y in line.get_ydata()) == [1750, 2800]


def test_only_a_study_whose_source_has_mean_latencies_has_the_figure():
    studies = {name: load_study(STUDIES / name / "study.yaml") for name in ("petrov2014", "aa")}
    studies["jedlicka2024"] = load_study(STUDIES / "jedlicka2024" / "study.yaml")
    having = {name for name, study in studies.items() if study.figures_of("separation")}
    assert having == {"jedlicka2024"}


NAMES = DisplayNames.of(small.study(), small.TITLES, [])


def test_the_text_is_told_which_model_describes_the_means():
    present = [here + 800 * number for here, number in zip(MEASURED, TRIPS, strict=True)]
    facts = separation_facts(of_means(present), NAMES, never)
    assert (facts.n, facts.best.model, facts.best.describes) == (6, "round-trip", True)
    assert facts.best.constant == pytest.approx(800)
    assert (facts.low, facts.high) == pytest.approx((2800 / 1200, 860 / 60))
    assert facts.several == [("Redis", "update", 2), ("Memcached", "update", 2)]
    assert facts.factor.model == "factor"
    assert not facts.factor.describes


def test_the_text_is_told_that_none_does():
    facts = separation_facts(
        of_means([600.0, 7000.0, 100.0, 2000.0, 150.0, 90_000.0]), NAMES, never
    )
    assert not facts.best.describes


def test_the_text_is_told_nothing_without_means():
    empty = SimpleNamespace(separation=SEPARATION.frame())
    assert separation_facts(empty, NAMES, never) is None


def test_pairs_stand_in_the_order_of_the_source():
    """Redis over Memcached: published 0.5, measured 2, modelled 0.95, so it is turned and near."""
    facts = separation_facts(with_orders(), NAMES, never)
    assert (facts.pairs, facts.as_modelled, facts.as_measured) == (2, 2, 1)
    (pair,) = facts.turned
    assert (pair.first, pair.second, pair.workload) == ("Memcached", "Redis", "A")
    assert (pair.published, pair.measured) == (2.0, 0.5)
    assert facts.near == [pair]


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch):
    """The section of the report on these facts, in a language."""
    monkeypatch.chdir(ROOT)
    figure = SimpleNamespace(name="separation")
    study = SimpleNamespace(
        figures_of=lambda kind: [figure] if kind == "separation" else [],
        tables_of=lambda kind: [SimpleNamespace(name="machine")] if kind == "machine" else [],
        choices=["Another order."],
    )
    floats = SimpleNamespace(
        ref=lambda item: item.name, figure=lambda item: "", mark=str, section=lambda label: label
    )
    reply = {"study": study, "floats": floats, "source": SimpleNamespace(machine=["CPU"])}

    def text(analysis: SimpleNamespace, language: str = "en") -> str:
        run = SimpleNamespace(separation=separation_facts(analysis, NAMES, doubted))
        macros = SimpleNamespace(sep=lambda loop: "" if loop.last else ", ")
        with using(language):
            values = {**reply, "run": run, "m": macros}
            return fill(ROOT / "report/text", "separation.md.j2", values)

    return text


def with_orders() -> SimpleNamespace:
    analysis = of_means([here + 800 * times for here, times in zip(MEASURED, TRIPS, strict=True)])
    rows = [
        ["a", SETTING, "redis", "memcached", 0.5, 2.0, 0.95],
        ["c", SETTING, "redis", "memcached", 3.0, 2.0, 4.0],
    ]
    analysis.separation_orders = ORDERS.frame(rows)
    return analysis


CASES = {
    "round trips": with_orders(),
    "operations": of_means([value + 800 for value in MEASURED], [1] * 6),
    "a factor": of_means([9 * value for value in MEASURED]),
    "a faster source": of_means([value - 20 for value in MEASURED], [1] * 6),
    "none": of_means([600.0, 7000.0, 100.0, 2000.0, 150.0, 90_000.0]),
}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            "round trips",
            [
                r"So 800.µs more per round trip describes the means best",
                r"2 for update on Redis, 2 for update on Memcached, 1 for all others",
                r"Only 2 of the means have more than one, and only they distinguish",
                r"1 of the means is among .* inconsistent \(audit\)\.",
                r"2 of the source's 2 pairwise orderings .*; without it, 1\.",
                r"Memcached over Redis in A \(published 2\.00, measured here 0\.500, mod",
                r"1 of the pairs is within 10 % .*; the closest is Memcached over Redis",
                r"worst 0\.0.%",
            ],
        ),
        ("operations", [r"So 800.µs more per operation describes", r": 1 for each\."]),
        ("a factor", [r"So a factor of 9\.00 describes the means best", r"9\.00 to 9\.00 times"]),
        (
            "a faster source",
            [r"the measured mean minus 20\.0.µs", r"So 20\.0.µs less per operation"],
        ),
        (
            "none",
            [r"None of the models describes the means: the best one, .* has a median error of \d"],
        ),
    ],
)
def test_the_section_says_what_describes_the_means(texts, case: str, words: list[str]):
    text = re.sub(r"\\(?=\W)", "", texts(CASES[case]))
    for pattern in words:
        assert re.search(pattern, text), text
    assert "do not show the cause" in text


@pytest.mark.parametrize("case", CASES)
def test_the_section_has_the_same_numbers_in_czech(texts, case: str):
    check_numbers(texts(CASES[case]), texts(CASES[case], "cs"), "cs")


def test_there_is_no_section_without_a_model(texts):
    empty = SimpleNamespace(separation=SEPARATION.frame())
    assert not texts(empty).strip()


def test_the_constant_without_the_inconsistent_means():
    facts = separation_facts(with_orders(), NAMES, doubted)
    assert (facts.beyond, facts.doubted, facts.undoubted) == (2, 1, None)
    means = of_means([here + 800 * times for here, times in zip(MEASURED, TRIPS, strict=True)])
    more = pd.concat([means.separation, means.separation.assign(workload="b")], ignore_index=True)
    analysis = SimpleNamespace(
        separation=more, separation_models=models(more), separation_orders=ORDERS.frame()
    )
    facts = separation_facts(analysis, NAMES, lambda store, workload, *rest: workload == "a")
    assert (facts.n, facts.beyond, facts.doubted) == (12, 4, 4)
    assert facts.undoubted.constant == pytest.approx(800)
