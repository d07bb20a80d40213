"""``kvstudy plan``: what a study takes, foretold from what was measured."""

import json
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure.planning.costs import (
    OTHER,
    SAME,
    SIZES,
    Estimator,
    PhaseCost,
    read_cost,
    read_costs,
)
from kvstudy.measure.planning.progress import Progress, duration, size
from kvstudy.stores import process
from kvstudy.study.cells import find_cell, plan
from kvstudy.study.load import load_study

from tests.project import SLUG, edit, kvstudy, measure

RAW = Path("results/small/raw")
CALIBRATED = Path("results/calibration/raw")


def show(*arguments: str) -> str:
    """The screen, which fits an 80-column terminal."""
    text = kvstudy("plan", *arguments, "--provider", "native").stdout
    # A path that is longer stays whole.
    assert max(len(line) for line in text.splitlines() if " " in line) <= 80
    return text


def words(text: str) -> str:
    return " ".join(text.split())


def line(text: str, name: str, after: str = "") -> list[str]:
    """The cells of the table's row ``name``, which is below ``after``."""
    part = text[text.index(f"\n{after}") :]
    (matches,) = re.findall(rf"^ *{name} +(\d+/\d+ .*)$", part, re.M)[:1]
    return matches.replace(" m", "m").replace(" s", "s").replace(" kB", "kB").split()


def test_before_anything_was_measured_it_says_how_to_find_out(pretend_study):
    text = show("small")
    assert line(text, "pretend") == ["0/6", *"???????"]
    assert "12 cells planned; 6 cells here, 0 done" in words(text)
    assert "Not measured here: unbound. Why: kvstudy has no YCSB binding" in words(text)
    assert "kvstudy plan small --calibrate" in text
    assert "The required number of repetitions is unknown" in text
    assert not Path("results").exists()


def test_measured_cells_foretell_the_others(have):
    have()
    have("pretend/insert/r1000_o0_t2/rep1")
    text = show("small")
    assert "6 cells here, 2 done" in words(text)
    assert line(text, "a")[0] == "1/2"
    left = line(text, "pretend")[-2]
    # Four cells; of workload c nothing was measured.
    assert line(text, "c")[-2].startswith("~")
    assert left.startswith("~")
    assert "~: estimated from another workload" in text
    done = read_cost(RAW / f"pretend/a/{SLUG}/rep1")
    estimate = Estimator([done])(done.cell)
    assert estimate.likeness == SAME
    assert estimate.run == pytest.approx(done.phases["run"].seconds)
    assert estimate.load == pytest.approx(done.phases["load"].seconds)
    assert estimate.bytes == pytest.approx(done.bytes, rel=0.01)


def test_of_timed_cells_the_seconds_are_known_before_anything_was_measured(pretend_study):
    sizes = {"records": 1000, "operations": 2000, "threads": 2, "seconds": 120}
    edit(pretend_study, stores=["pretend"], parameters=sizes)
    text = show("small")
    # Two workloads with a run, two repetitions each.
    assert line(text, "pretend") == ["0/6", "?", "?", "8m", "?", "?", ">8m", "?"]
    assert line(text, "insert") == ["0/2", *"???????"]
    assert "4 timed cells with known run time only" in words(text)
    assert "left: at least 8 min" in words(text)


def test_an_earlier_scale_of_the_study_counts(have):
    have()
    text = show("small", "--scale", "2")
    assert "results/small-scale2" in text
    assert "?" not in line(text, "a")
    assert "Estimated from smaller cells than the study's" in text


def test_calibration_measures_short_cells_once_for_all_studies(pretend_study):
    text = show("small", "--calibrate")
    cells = sorted(path.parent for path in CALIBRATED.rglob("SHA256SUMS"))
    # One to see how fast it loads; a and c once; a twice more for the spread.
    assert len(cells) == 5
    assert {path.parent.parent.name for path in cells} == {"a", "c"}
    assert not RAW.exists()
    assert "?" not in line(text, "all") if "\nall" in text else line(text, "pretend")
    assert "Whole study:" in text
    show("small", "--calibrate")
    assert sorted(path.parent for path in CALIBRATED.rglob("SHA256SUMS")) == cells


def test_a_workload_that_inserts_is_calibrated_by_operations(pretend_study):
    edit(pretend_study, workloads=["d", "e"], tables=[], figures=[])
    edit(pretend_study, parameters={"records": 100_000, "operations": 10**6, "threads": 2})
    show("small", "--calibrate")
    cells = {path.parent for path in CALIBRATED.rglob("SHA256SUMS")}
    assert len(cells) == 5
    costs = {read_cost(cell).cell for cell in cells}
    assert {cell.seconds for cell in costs} == {None}
    # A scan takes longer than an insert; the first cell knows no rate yet.
    most = {name: max(c.operations for c in costs if c.workload == name) for name in ("d", "e")}
    assert most["d"] >= 10 * most["e"] >= 10 * 2000
    show("small", "--calibrate")
    assert {path.parent for path in CALIBRATED.rglob("SHA256SUMS")} == cells


def test_a_store_that_fails_leaves_the_others_and_a_reason(pretend_study, monkeypatch):
    shutil.copytree("envs/stores/pretend", "envs/stores/broken")
    native = {"command": ["pretend-server", "no port"]}
    edit(
        Path("envs/stores/broken/store.yaml"),
        lambda data: data["native"].update(native),
        title="Broken",
        ready_seconds=1,
    )
    edit(pretend_study, stores=["broken", "pretend"])
    text = show("small", "--calibrate")
    assert "Not calibrated: Broken: basic" not in text
    assert re.search(r"Not calibrated: Broken: broken/\w+/", words(text))
    assert line(text, "broken") == ["0/6", *"???????"]
    assert line(text, "pretend")[-2] != "?"
    assert re.search(r"left: at least \d", words(text))


def test_repetitions_follow_from_the_spread(pretend_study, have):
    for repetition in (1, 2):
        have(f"pretend/a/{SLUG}/rep{repetition}")
    # The pretended client is always as fast; a real one is not.
    log = RAW / f"pretend/a/{SLUG}/rep2/run.out"
    log.write_text(
        log.read_text().replace("RunTime(ms), 500", "RunTime(ms), 550").replace("4000.0", "3636.4")
    )
    text = show("small")
    assert "over its repetitions: 6.7% (pretend); pooled 6.7%" in words(text)
    assert "few: the numbers below are rough" in words(text)
    assert re.search(r"to detect a difference of 10%: +10 repetitions", text)
    assert re.search(r" 2 repetitions detect a difference of +\S+%  \(this study\)", text)
    assert "noncentral t distribution" in words(text)
    edit(pretend_study, repetitions=1)
    assert "This study has one repetition: no interval" in words(show("small"))


def test_drift_that_stores_share_is_no_spread_between_them(pretend_study):
    shutil.copytree("envs/stores/pretend", "envs/stores/other")
    edit(pretend_study, stores=["pretend", "other"], workloads=["a"], tables=[], figures=[])
    for store in ("pretend", "other"):
        for repetition in (1, 2):
            measure(f"{store}/a/{SLUG}/rep{repetition}")
            log = RAW / f"{store}/a/{SLUG}/rep{repetition}/run.out"
            slow = 1.5 if repetition == 2 else 1
            # 2 % of their own, and half as fast the second time.
            selected = 1.02 if (store, repetition) == ("other", 2) else 1
            text = log.read_text()
            text = text.replace("RunTime(ms), 500", f"RunTime(ms), {500 * slow * selected:.0f}")
            log.write_text(text.replace("4000.0", str(4000 / slow / selected)))
    text = words(show("small"))
    assert re.search(r"pooled 29\.\d%", text)
    assert "Without shared drift the spread is 1.0%" in text


def test_a_plan_of_done_cells_has_nothing_left(pretend_study):
    edit(pretend_study, stores=["pretend"], workloads=["a"], tables=[], figures=[], repetitions=1)
    measure()
    text = show("small")
    assert line(text, "pretend")[0] == "1/1"
    assert "left: 0 s" in words(text)


def test_control_cells_are_counted_by_themselves(pretend_study):
    """As on the report's pages, which speak of the study's cells and of control cells."""
    edit(pretend_study, noise_floor=True)
    text = words(show("small"))
    assert "18 cells (6 of them control cells) planned; 12 cells (6 of them control cells)" in text
    last = kvstudy("plan", "small", "--cells").stdout.splitlines()[-1]
    assert last == "18 cells (6 of them control cells) of small, 0 measured"
    progress = Progress("small", plan(load_study(pretend_study)))
    assert str(progress).startswith("0 of 18 cells (6 of them control cells) done")


def test_single_cells_in_their_order(pretend_study, have):
    have()
    listed = kvstudy("plan", "small", "--cells").stdout.splitlines()
    paths = [each.split()[-1] for each in listed[:-1]]
    assert paths == [cell.path for cell in plan(load_study(pretend_study))]
    assert [each.split()[1] for each in listed[:-1]].count("measured") == 1
    assert listed[-1] == "12 cells of small, 1 measured"


def test_study_by_name_path_folder_or_configuration(pretend_study):
    one = show("small")
    assert show(str(pretend_study)) == show(str(pretend_study.parent)) == one
    edit(Path("config/config.yaml"), study="small")
    assert show() == one


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["smal"], "unknown study 'smal'; did you mean 'small'?"),
        (["nowhere/study.yaml"], "nowhere/study.yaml: no such file"),
        (["small", "--scale", "0"], "scale: must be greater than 0"),
    ],
)
def test_wrong_arguments(pretend_study, arguments, message):
    with pytest.raises(KvstudyError) as error:
        kvstudy("plan", *arguments)
    assert message in str(error.value)


def test_logs_that_tell_no_times_are_left_out(have):
    have()
    cell = RAW / f"pretend/a/{SLUG}/rep1"
    manifest = json.loads((cell / "manifest.json").read_text())
    for broken in ("", "{", json.dumps(manifest | {"seconds": None}), "[]"):
        (cell / "manifest.json").write_text(broken)
        assert read_costs([RAW]) == []
    (cell / "manifest.json").write_text(json.dumps(manifest))
    (cell / "run.out").write_text("cut off")
    assert read_costs([RAW, Path("results/nowhere/raw")]) == []
    assert "?" in line(show("small"), "a")


def phase(seconds=2.0, runtime=1.0, count=1000, status: str = "", folder=Path()) -> PhaseCost:
    errors = folder / "run.err"
    errors.write_text(status)
    return PhaseCost(errors, seconds, runtime, count)


def test_waiting_for_the_cell_of_another_project_is_no_part_of_a_cell(pretend_study):
    cell = f"pretend/a/{SLUG}/rep1"
    other = process.measuring_alone()
    other.__enter__()
    command = ["kvstudy", "measure", cell, "--study", str(pretend_study), "--provider", "native"]
    waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert "is measuring" in waiting.stderr.readline()
    time.sleep(3)
    other.__exit__(None, None, None)
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert read_cost(RAW / cell).rest < 2.5


def test_more_operations_go_on_at_the_rate_of_a_warm_client(tmp_path):
    totals = [0, 100, 300, 1300, 2300, 3300, 4300, 4400]
    status = "".join(
        f"2026-01-01 00:00:{second:02}:000 {second} sec: {total} operations; 1 current ops/sec; \n"
        for second, total in enumerate(totals)
    )
    warm = phase(8.0, 7.0, 4400, status, tmp_path)
    assert warm.rate == pytest.approx(1000)
    assert warm.seconds_for(14_400) == pytest.approx(18)
    assert warm.seconds_for(2200) == pytest.approx(4.5)
    # Too short for status lines.
    assert phase(folder=tmp_path).seconds_for(11_000) == pytest.approx(12)


def test_the_nearest_cell_foretells(tmp_path, have):
    have()
    known = read_cost(RAW / f"pretend/a/{SLUG}/rep1")

    def cost(seconds: float, **changed):
        cell = replace(known.cell, **changed)
        run = PhaseCost(Path("none"), seconds, seconds, cell.operations)
        return replace(known, cell=cell, phases=known.phases | {"run": run})

    read = tuple(sorted((dict(known.cell.properties) | {"updateproportion": "0"}).items()))
    costs = [cost(10), cost(20, threads=8), cost(40, properties=read, workload="c")]
    estimate = Estimator(costs)
    assert (estimate(known.cell).run, estimate(known.cell).likeness) == (10, SAME)
    more = replace(known.cell, threads=6, operations=4000)
    assert (estimate(more).run, estimate(more).likeness) == (40, SIZES)
    other = replace(known.cell, properties=(("readproportion", "0.3"),))
    assert estimate(other).likeness == OTHER
    timed = replace(known.cell, operations=10**9, seconds=30)
    assert estimate(timed).run == 30
    # At half of its rate it takes twice as long; time is no part of the rate.
    assert estimate(replace(known.cell, load=50, closed=SLUG)).run == pytest.approx(20)
    assert estimate(replace(known.cell, folder="unknown")) is None
    # Ten operations tell nothing of a million.
    assert estimate(replace(known.cell, operations=known.cell.operations * 101)) is None
    # Another repetition: the one in the middle.
    estimate.add(cost(30, repetition=2))
    assert estimate(known.cell).run == 20


def test_raw_latencies_are_a_part_of_the_disk(have):
    have()
    cost = read_cost(RAW / f"pretend/a/{SLUG}/rep1")
    properties = dict(cost.cell.properties) | {"measurementtype": "hdrhistogram+raw"}
    cell = replace(cost.cell, properties=tuple(sorted(properties.items())), operations=10**5)
    plain = replace(cost.cell, operations=10**5)
    estimate = Estimator([cost])
    # Three bytes each, as long as none were measured.
    assert estimate(cell).bytes - estimate(plain).bytes == pytest.approx(3e5)
    measured = Estimator([replace(cost, latency_bytes=5.0)])
    assert measured(cell).bytes - measured(plain).bytes == pytest.approx(5e5)


def test_progress_tells_done_elapsed_left_and_failed(pretend_study, have):
    now = [1000.0]
    cells = plan(load_study(pretend_study))
    wanted = [cell for cell in cells if cell.store == "pretend"]
    progress = Progress("small", wanted, clock=lambda: now[0])
    assert str(progress) == "0 of 6 cells done, time left not known yet, 0 failed"
    log = Path("results/small/logs/progress.log")
    assert not log.exists()
    progress.begin(log)
    have()
    now[0] += 75
    cost = read_cost(RAW / f"pretend/a/{SLUG}/rep1")
    estimate = Estimator([cost])
    left = sum(estimate(cell).seconds for cell in wanted[1:])
    line = str(progress)
    assert line.startswith("1 of 6 cells done, 75 s elapsed, about ")
    seconds = int(re.search(r"about (\d+) s left", line)[1])
    assert seconds == pytest.approx(left, abs=1 + 0.3 * left)
    assert log.read_text().count("\n") == 1
    assert str(progress) == line
    assert log.read_text().count("\n") == 1


def test_progress_names_what_failed_since_it_began(pretend_study, monkeypatch):
    (cell,) = [find_cell(plan(load_study(pretend_study)), f"pretend/a/{SLUG}/rep1")]
    monkeypatch.setenv("PRETEND_CLIENT", "exception-run")
    progress = Progress("small", [cell])
    progress.begin(Path("log"))
    with pytest.raises(KvstudyError):
        measure(cell.path)
    assert "1 failed" in str(progress)
    assert f"  {cell.path}" in progress.end().splitlines()
    later = Progress("small", [cell], clock=lambda: 1e12)
    later.begin(Path("log"))
    assert "0 failed" in str(later)
    monkeypatch.delenv("PRETEND_CLIENT")
    measure(cell.path)
    assert progress.end() == ""
    assert str(progress).startswith("1 of 1 cell done")
    assert str(progress).endswith("0 failed")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (99.4, "99 s"),
        (99.5, "2 min"),
        (3600, "60 min"),
        (5970, "1.7 h"),
        (90000, "25.0 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0.0 kB"), (9949, "9.9 kB"), (9950, "10 kB"), (2.5e9, "2.5 GB"), (3e12, "3.0 TB")],
)
def test_sizes(count, text):
    assert size(count) == text
