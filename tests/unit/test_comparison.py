"""The table that compares one store with another."""

import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import FLOOR as FLOOR_COLUMNS
from kvstudy.analyse.tidy.files import MEASUREMENTS
from kvstudy.analyse.tidy.results import Results, read_published
from kvstudy.analyse.tidy.summary import per_repetition, summarise
from kvstudy.study.model import Study
from kvstudy.study.parts import Imported

from . import small_results as small

STUDY = small.study(
    stores=[{"store": "riak", "name": "strong"}, {"store": "riak", "name": "eventual"}],
    workloads=["a", "insert"],
    repetitions=3,
    tables=[],
    figures=[],
)
TABLE = small.table("comparison", baseline="strong", store="eventual")
TITLES = {"strong": "Riak, strong", "eventual": "Riak, eventual"}
# Operations per second in the three repetitions.
SPEED = {
    ("strong", "a"): (1000, 1000, 1000),
    ("eventual", "a"): (1200, 1250, 1300),
    ("strong", "insert"): (500, 600, 700),
    ("eventual", "insert"): (500, 600, 700),
}


def results(
    absent: tuple[str, str] | None = None, runs: int = 3, published: str = "", tmp: Path = Path()
) -> Results:
    cells, values = [], []
    for (store, workload), speeds in SPEED.items():
        for repetition, speed in enumerate(speeds[:runs], start=1):
            gone = (store, workload) == absent
            key = [store, workload, f"p-{workload}", str(repetition)]
            status = ["not measured", "no server", ""] if gone else ["measured", "", ""]
            cells.append([*key, *status, "1", ""])
            if gone:
                continue
            phase = "load" if workload == "insert" else "run"
            values.append([*key, phase, "overall", "throughput", "ops/s", speed])
            operation = "insert" if workload == "insert" else "update"
            failed = 50 if (store, workload) == ("strong", "a") else 0
            values.append([*key, phase, operation, "operations", "count", 1000 - failed])
            values.append([*key, phase, operation, "failed", "count", failed])
    cells = pd.DataFrame(cells, columns=small.CELL_COLUMNS)
    values = pd.DataFrame(values, columns=MEASUREMENTS.columns)
    source = None
    if published:
        (tmp / "published.csv").write_text(
            "study,table,store,workload,operation,metric,unit,value\n" + published
        )
        source = read_published(tmp / "published.csv")
    return Results(
        summarise(values, cells, STUDY.store_names, STUDY.workload_names),
        cells,
        source,
        lambda: per_repetition(values, cells, STUDY.workload_names),
    )


FLOOR = FLOOR_COLUMNS.frame()


def run_of(result: Results, floor: pd.DataFrame = FLOOR, study: Study = STUDY) -> SimpleNamespace:
    analysis = SimpleNamespace(floor=floor)
    shown = {name: f"p-{name}" for name in STUDY.workload_names}
    values = {"values": result._repetitions(), "headline": shown}
    return small.run(study=study, results=result, analysis=analysis, titles=TITLES, **values)


def long_form(*values: object) -> pd.DataFrame:
    return TABLE.rows(run_of(*values))


def printed(*values: object) -> str:
    return small.both(small.grid_of(TABLE, run_of(*values)))[0]


def test_change_with_its_interval_and_the_share_of_failures():
    frame = long_form(results()).set_index("workload")
    a = frame.loc["a"]
    # Geometric means, of which the change is the ratio.
    assert a.repetitions == 3
    assert (a.baseline, a.store) == pytest.approx((1000, (1200 * 1250 * 1300) ** (1 / 3)))
    assert a.change == pytest.approx(a.store / a.baseline - 1)
    # The paired t interval alone goes from 13 to 38 %; the other workload's runs are all alike.
    assert 0.13 < a.low < 0.2 < 0.3 < a.high < 0.38
    assert (a.failed_operation, a.failed_baseline, a.failed_store) == ("update", 0.05, 0)
    same = frame.loc["insert"]
    assert (same.change, same.low, same.high) == pytest.approx((0, 0, 0), abs=0.01)


def test_the_mean_of_the_workloads_is_taken_within_each_repetition():
    mean = long_form(results()).set_index("workload").loc["mean"]
    # Plain over the workloads, geometric over the runs.
    both = [math.prod(means) ** (1 / 3) for means in ((750, 800, 850), (850, 925, 1000))]
    assert [mean.baseline, mean.store] == pytest.approx(both)
    ratios = [850 / 750, 925 / 800, 1000 / 850]
    assert mean.change == pytest.approx(math.prod(ratios) ** (1 / 3) - 1)
    # 150 of 3000 updates.
    assert (mean.failed_operation, mean.failed_baseline) == ("update", 0.05)


def test_a_table_of_the_source_has_plain_means_and_says_so():
    of_source = small.table("comparison", baseline="strong", store="eventual", source="T 1")
    row = of_source.rows(run_of(results())).set_index("workload").loc["a"]
    assert (row.baseline, row.store) == (1000, 1250)
    assert row.change == pytest.approx(long_form(results()).set_index("workload").loc["a"].change)
    selected, source = (
        " ".join(table.grids(table.rows(run_of(results())), run_of(results()))[0].notes)
        for table in (TABLE, of_source)
    )
    geometric = (
        "Mean throughputs are geometric over runs and arithmetic over workloads, as in the source."
    )
    assert geometric in selected
    assert "Mean throughputs are arithmetic, as in the source." in source


def test_published_values_stand_below_those_measured_here(tmp_path):
    published = (
        "two,Slides,strong,mean,overall,throughput,ops/s,1371.5\n"
        "two,Slides,eventual,mean,overall,throughput_change,%,22.6\n"
        "two,Slides,strong,mean,update,failed_share,%,5\n"
    )
    lines = printed(results(published=published, tmp=tmp_path)).splitlines()
    (line,) = (line for line in lines if "published" in line and "&" in line)
    assert r"1\,372" in line
    assert r"+22.6\,\%" in line
    assert r"5.0\,\%" in line


def test_one_repetition_has_no_interval():
    frame = long_form(results(runs=1))
    assert frame["change"].notna().all()
    assert frame["low"].isna().all()
    text = printed(results(runs=1))
    assert r"+20.0\,\%" in text
    assert "nan" not in text
    assert "one run each" in text
    assert "95" not in text.split("midrule")[1]


def test_a_store_without_values_leaves_dashes_and_the_reason():
    text = printed(results(absent=("eventual", "insert")))
    assert "Not measured" in text or "No server" in text
    frame = long_form(results(absent=("eventual", "insert")))
    assert frame.set_index("workload").loc[["insert", "mean"], "change"].isna().all()
    assert "nan" not in text


def test_a_fall_has_a_minus_that_latex_knows(monkeypatch):
    monkeypatch.setitem(SPEED, ("eventual", "a"), (900, 880, 910))
    text = printed(results())
    assert r"\textminus{}10.3\,\%" in text
    assert text.isascii()


def test_a_change_that_is_not_above_the_noise_floor_is_named():
    floor = pd.DataFrame(
        [
            ["a", "p", "strong", 3, 1.3, 1.2, 1.4, 0.01, 0.01, 1.3],
            ["insert", "p", "strong", 3, 1.3, 1.2, 1.4, 0.01, 0.01, 1.3],
        ],
        columns=FLOOR_COLUMNS.columns,
    )
    assert long_form(results(), floor).set_index("workload").loc["a", "floor"] == 1.3
    assert "Within the noise floor: Workload A, Insert, Mean of the workloads." in printed(
        results(), floor
    )
    assert "noise floor" not in printed(results())


def test_repetitions_of_imported_logs_are_not_paired():
    study = STUDY.model_copy(update={"imported": Imported()})
    here, present = (
        long_form(results(), FLOOR, each).set_index("workload").loc["insert"]
        for each in (STUDY, study)
    )
    # Both stores have the same values; side by side they do not differ at all.
    assert (here.low, here.high) == pytest.approx((0, 0), abs=0.01)
    assert present.low < -0.2 < 0.2 < present.high
    grid = small.grid_of(TABLE, run_of(results(), FLOOR, study))
    assert "unpaired" in str(grid.notes[0])
