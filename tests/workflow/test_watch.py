"""A run, looked at from a second terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from docutils.core import publish_parts
from kvstudy.cli import cli
from kvstudy.logs.ycsb.status import last_status
from kvstudy.measure.planning.progress import Progress, duration
from kvstudy.measure.planning.watch import Watch, current, latest_run
from kvstudy.study.cells import find_cell, plan
from kvstudy.study.load import load_study
from kvstudy.study.run_names import parse_name
from kvstudy.workflow_plan import described, label

from tests.project import CELL, kvstudy
from tests.unit import small_results

YCSB = Path(__file__).parents[1] / "data" / "ycsb"
LINE = "2026-11-20 17:53:1{0}:340 {0} sec: {1} operations; {2} current ops/sec; est completion\n"


def working(phase: str, text: str) -> Path:
    folder = Path("results/small/measuring") / CELL
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{phase}.err").write_text(text)
    return folder


def watching(study: Path, goes_on=lambda: True, clock=lambda: 0.0) -> Watch:
    cells = [cell for cell in plan(load_study(study)) if cell.store == "pretend"]
    return Watch(Progress("small", cells, since=0.0), goes_on, clock)


def test_the_last_status_line_of_a_real_log():
    text = (YCSB / "redis-hdr-rep1.err").read_text()
    lines = [line for line in text.splitlines() if " operations; " in line]
    result = last_status(text)
    assert f" {result.operations} operations; " in lines[-1]
    assert result.rate is not None
    # A line that is still being written shows nothing.
    broken = last_status(text + "2026-11-20 17:53:10:340 9 sec: 99999999 operations; 1 cur")
    assert broken == result
    assert last_status("Starting test.\n") is None
    assert last_status((YCSB / "redis-czech.err").read_text()).rate is not None


def test_phase_rate_and_share_of_the_present_cell(pretend_study):
    watch = watching(pretend_study)
    assert watch.look()[1] == "0/6 cells, 0 failed, time left not known yet | between cells"
    Path("results/small/measuring", CELL).mkdir(parents=True)
    assert watch.look()[1].endswith(" | server starts, pretend/a rep1")
    working("load", "Starting test.\n")
    assert watch.look()[1].endswith(" | load, pretend/a rep1")
    working("load", LINE.format(1, 250, "250.5"))
    assert watch.look()[1].endswith(" | load 25 %, 250 ops/s, pretend/a rep1")
    working("run", LINE.format(1, 500, "500") + LINE.format(2, 1500, "1000"))
    assert watch.look()[1].endswith(" | run 75 %, 1000 ops/s, pretend/a rep1")


def test_a_timed_cell_is_told_by_its_time_and_two_clients_together(pretend_study):
    text = pretend_study.read_text()
    pretend_study.write_text(text.replace("threads: 2}", "threads: 2, clients: 2, seconds: 10}"))
    cells = {cell.path: cell for cell in plan(load_study(pretend_study))}
    (timed,) = [path for path in cells if path.startswith("pretend/a/") and path.endswith("rep1")]
    folder = Path("results/small/measuring") / timed
    folder.mkdir(parents=True)
    (folder / "run.err").write_text(LINE.format(5, 7, "7"))
    assert current(Path("results/small"), cells).share == 0.5
    (folder / "run-2.err").write_text(LINE.format(5, 7, "8"))
    assert current(Path("results/small"), cells).rate == 15


def test_finished_and_failed_cells_leave_a_line(pretend_study, monkeypatch, have):
    watch = watching(pretend_study)
    watch.look()
    have()
    (news,), line, _ = watch.look()
    assert news.startswith(f"done    {CELL}, 4000 ops/s, ")
    assert line.startswith("1/6 cells, 0 failed, about ")
    failed = Path("results/small/failed") / CELL.replace("rep1", "rep2") / "20261121T000000.0"
    failed.mkdir(parents=True)
    (failed / "failure.json").write_text('{"reason": "the disk\\n is full"}\n')
    (news,), line, _ = watch.look()
    assert news == f"FAILED  {CELL.replace('rep1', 'rep2')}: the disk is full"
    assert "1 failed" in line
    assert watch.look()[0] == []
    assert "5 of 6" not in watch.end()
    assert "1 of 6 cells done, 1 failed (results/small/failed/)" in watch.end()


def test_time_left_falls_while_a_cell_is_measured(pretend_study, have):
    have()
    now = [0.0]
    watch = watching(pretend_study, clock=lambda: now[0])
    (Path("results/small/measuring") / CELL.replace("rep1", "rep2")).mkdir(parents=True)
    state = watch.progress.look()
    path = CELL.replace("rep1", "rep2")
    whole, rest = sum(state.seconds.values()), state.seconds[path]
    # However long a cell takes, it cannot take more than itself off.
    assert state.time_left({path: 1e9}) == f"about {duration(whole - rest)} left"
    assert watch.look()[1].startswith(f"1/6 cells, 0 failed, {state.time_left()} | ")
    now[0] = rest
    assert watch.look()[1].startswith(f"1/6 cells, 0 failed, {state.time_left({path: rest})} | ")


def test_it_ends_when_nothing_works_on_the_run(pretend_study):
    now, works = [0.0], [True]
    watch = watching(pretend_study, lambda: works[0], lambda: now[0])
    working("load", "")
    assert watch.look()[2]
    works[0] = False
    # A cell that was killed leaves its folder.
    assert watch.look()[2]
    now[0] = 60.0
    assert not watch.look()[2]
    assert watch.end().endswith(
        "'snakemake --cores 4 --config study=small scale=1' goes on with what is left."
    )


def test_the_command_without_a_terminal(have):
    have()
    result = kvstudy("watch", "small")
    assert "\x1b" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("small: 1 of 6 cells done")


def test_which_run(pretend_study):
    none = CliRunner().invoke(cli, ["watch"]).exception
    assert "no run was begun here" in str(none)
    for run in ("small", "small-scale0.1"):
        log = Path("results") / run / "logs" / "progress.log"
        log.parent.mkdir(parents=True)
        log.write_text("")
    os.utime("results/small/logs/progress.log", (1, 1))
    published = Path("results/small-published/logs/progress.log")
    published.parent.mkdir(parents=True)
    published.write_text("")
    assert latest_run() == "small-scale0.1"
    working("load", "")
    assert latest_run() == "small"
    assert parse_name("small-scale0.1").scale == 0.1
    values = CliRunner().invoke(cli, ["watch", "small-published"]).exception
    assert "has no logs" in str(values)
    unknown = CliRunner().invoke(cli, ["watch", "nothing"]).exception
    assert "results/nothing: no such run" in str(unknown)


@pytest.mark.parametrize("title", [r"a_b_ *c* `d` |e| <f> \g 50 % & #1 http://x/", "*", "a\n\n- b"])
def test_captions_take_any_title(title):
    words = " ".join(title.split())
    caption = described(small_results.study(title=title), "small", 1)["title"]
    shown = publish_parts(caption, writer="pseudoxml")["whole"]
    assert " ".join(shown.split()).endswith(words)
    assert "<problematic" not in shown
    assert label("{run}") == "(run)"


def test_what_a_study_says_of_itself():
    result = described(small_results.study(), "small-scale0.1", 0.1)
    assert "2 repetitions" in result["measured"]
    assert "0.1 times" in result["measured"].replace("\\", "")
    assert "Nobody" in result["source"]
    only = described(small_results.study(), "small-published", 1, published_only=True)
    assert "nothing was measured" in only["measured"]


def test_the_present_cell_may_vanish(pretend_study):
    cells = plan(load_study(pretend_study))
    assert current(Path("results/small"), {}) is None
    working("run", "")
    cell = find_cell(cells, CELL)
    assert current(Path("results/small"), {cell.path: cell}).share is None
