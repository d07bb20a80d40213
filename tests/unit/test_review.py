"""The review of an archive: what is chosen, what each comparison comes to, and its record."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from kvstudy.analyse.tidy.reviews import (
    ReviewOutcome,
    ReviewRecord,
    read_record,
    words,
    write_record,
)
from kvstudy.errors import KvstudyError
from kvstudy.share.review import text
from kvstudy.share.review.judgement import Judgement, ReviewedPair, judge, outcome_of
from kvstudy.share.review.measurement import ReviewRun, write_study
from kvstudy.share.review.original import ArchivedPair, Original, read_original
from kvstudy.share.review.page import write_page
from kvstudy.share.review.selection import rounded, select
from kvstudy.stats.ratios import Decision
from kvstudy.study.load import load_study

from tests.project import ROOT, kvstudy
from tests.unit.packed_run import write_run

ARCHIVE = ROOT / "reference/jedlicka2024.zip"
MISSING = {"aerospike": "no program asd", "riak": "no program riak"}
PAIR = ArchivedPair("a", "r1_o1_t1", "x", "y", 3, 1.5, 1.4, 1.6, Decision.FASTER)
EQUAL = replace(PAIR, ratio=1.01, low=0.97, high=1.05, decision=Decision.EQUAL)


@pytest.fixture(scope="module")
def original() -> Original:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return read_original(ARCHIVE)


def test_the_archive_s_comparisons_and_claims_are_read(original):
    assert original.run.name == "jedlicka2024"
    pairs = {(pair.workload, pair.stores): pair for pair in original.pairs}
    faster = pairs["a", frozenset(("aerospike", "memcached"))]
    assert faster.faster == "aerospike"
    assert faster.low > 1
    assert "J1" in faster.claims
    assert {claim.id for claim in original.claims} >= {"J1", "J2"}
    assert original.titles["riak"] == "Riak KV"
    assert original.latencies["redis", "a", "read"] > 10
    assert original.foreign == {} or all(kind == "configured" for kind, _ in original.foreign)


def test_without_two_stores_the_others_are_chosen_and_the_reasons_are_said(original, monkeypatch):
    monkeypatch.chdir(ROOT)
    selection = select(original, "review-x", MISSING, 15 * 60)
    assert {use.name for use in selection.study.stores} == {"redis", "memcached"}
    assert all(pair.stores == {"redis", "memcached"} for pair in selection.pairs)
    reasons = {reason for _pair, reason in selection.not_tried}
    assert "Aerospike: no program asd" in reasons
    assert selection.seconds * 3 <= 15 * 60
    assert len(selection.pairs) + len(selection.not_tried) == len(original.pairs)
    # Of the same threads, and with the options of the archive.
    assert all(cell.threads == 4 for cell in selection.cells)
    of_memcached = next(cell for cell in selection.cells if cell.store == "memcached")
    assert dict(of_memcached.options) == {"client": "spymemcached"}


@pytest.mark.parametrize("minutes", [2, 5, 15, 120])
def test_what_is_chosen_fits_and_more_time_tries_no_less(original, monkeypatch, minutes):
    monkeypatch.chdir(ROOT)
    selection = select(original, "review-x", {}, minutes * 60)
    assert selection.study is None or selection.seconds * 3 <= minutes * 60
    longer = select(original, "review-x", {}, 2 * minutes * 60)
    assert len(longer.pairs) >= len(selection.pairs)


def test_no_time_is_said(original, monkeypatch):
    monkeypatch.chdir(ROOT)
    selection = select(original, "review-x", {}, 1)
    assert selection.study is None
    assert "Nothing of it can be measured here." in [*text.plan_lines(original, selection)]
    assert any("does not fit" in reason for _pair, reason in selection.not_tried)


def test_the_study_of_a_review_is_one_that_can_be_measured(original, monkeypatch, project):
    selection = select(original, "review-x", MISSING, 15 * 60)
    study = load_study(write_study(selection))
    assert study.until.first == 3
    assert study.store_names == [use.name for use in selection.study.stores]
    assert not study.noise_floor
    assert not study.client_ceiling


def test_a_workload_that_differs_is_not_tried(project):
    path = Path("workloads/a")
    path.write_text(path.read_text().replace("readproportion=0.5", "readproportion=0.6"))
    shutil.rmtree("envs/stores/riak")
    original = read_original(ARCHIVE)
    selection = select(original, "review-x", {}, 3600)
    reasons = {(pair.workload, pair.stores): reason for pair, reason in selection.not_tried}
    assert reasons["a", frozenset(("aerospike", "memcached"))] == (
        "workloads/a differs in this clone"
    )
    assert any(reason == "this clone has no store 'riak'" for reason in reasons.values())
    assert all(pair.workload != "a" for pair in selection.pairs)


@pytest.mark.parametrize(
    ("pair", "decision", "faster", "apart", "outcome"),
    [
        (PAIR, Decision.FASTER, "x", False, ReviewOutcome.CONFIRMED),
        # By how much is not what is confirmed: another machine has other ratios.
        (PAIR, Decision.FASTER, "x", True, ReviewOutcome.CONFIRMED),
        (PAIR, Decision.FASTER, "y", True, ReviewOutcome.NOT_CONFIRMED),
        (PAIR, Decision.FASTER, "y", False, ReviewOutcome.NOT_CONFIRMED),
        (PAIR, Decision.EQUAL, "x", True, ReviewOutcome.NOT_CONFIRMED),
        (PAIR, Decision.EQUAL, "x", False, ReviewOutcome.UNDECIDED),
        (PAIR, Decision.UNDECIDED, "y", True, ReviewOutcome.NOT_CONFIRMED),
        (PAIR, Decision.UNDECIDED, "y", False, ReviewOutcome.UNDECIDED),
        (EQUAL, Decision.EQUAL, "y", False, ReviewOutcome.CONFIRMED),
        (EQUAL, Decision.FASTER, "y", False, ReviewOutcome.UNDECIDED),
        (EQUAL, Decision.FASTER, "x", True, ReviewOutcome.NOT_CONFIRMED),
    ],
)
def test_outcomes(pair, decision, faster, apart, outcome):
    assert outcome_of(pair, decision, faster, apart) is outcome


def test_what_was_not_measured_is_not_tried(original, monkeypatch):
    monkeypatch.chdir(ROOT)
    selection = select(original, "review-x", MISSING, 15 * 60)
    path = selection.cells[0].path
    judgement = judge(original, selection, ReviewRun(failed={path: "the port is taken"}))
    assert {one.outcome for one in judgement.pairs} == {ReviewOutcome.NOT_TRIED}
    assert any(one.reason == "the port is taken" for one in judgement.pairs)
    assert judgement.model is None


def test_the_page_and_the_text_say_what_was_not_confirmed_first(original, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    pairs = [pair for pair in original.pairs if pair.decision is Decision.FASTER]
    reviewed = [
        ReviewedPair(pairs[0], ReviewOutcome.CONFIRMED, n=3, ratio=1.4, low=1.2, high=1.6),
        ReviewedPair(
            pairs[1], ReviewOutcome.NOT_CONFIRMED, "", 3, 0.5, 0.4, 0.6, True, "1 of 2 records"
        ),
        ReviewedPair(pairs[2], ReviewOutcome.NOT_TRIED, "no server <b>"),
        ReviewedPair(pairs[3], ReviewOutcome.UNDECIDED, "", 3, 1.1, 0.9, 1.3),
    ]
    judgement = Judgement(reviewed, None)
    lines = "\n".join(text.result_lines(original, ReviewRun(repetitions=3), judgement))
    lines = " ".join(lines.split())
    assert "1 not confirmed here, 1 confirmed here, 1 undecided here, 1 not tried" in lines
    assert lines.index("- not confirmed here") < lines.index("- confirmed here")
    assert "exclude each other" in lines
    path = tmp_path / "review.html"
    write_page(original, judgement, ["By nobody."], "One was not confirmed.", path)
    page = path.read_text()
    assert "no server &lt;b&gt;" in page
    assert original.digest in page
    assert "http" not in page


def record(**changes: object) -> ReviewRecord:
    content = {
        "archive": "0" * 64,
        "run": "small",
        "reviewer": "Jana",
        "date": "2026-11-29",
        "kvstudy": "0.1.0",
        "minutes": 15,
        "machine": [],
        "comparisons": [{"outcome": "confirmed here"}, {"outcome": "not tried"}],
    }
    return ReviewRecord(**content | changes)


def test_a_record_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "record.json"
    write_record(record(), path)
    assert words(read_record(path)) == "Jana, 2026-11-29: 1 confirmed here, 1 not tried"
    good = path.read_text()
    path.write_text(good.replace("not tried", "confirmed here"))
    with pytest.raises(KvstudyError, match="was changed after the review"):
        read_record(path)
    for broken in ("{", "[]", good.replace('"format": 1', '"format": 2'), good[:-30]):
        path.write_text(broken)
        with pytest.raises(KvstudyError, match="is no record of a review"):
            read_record(path)
    content = json.loads(good) | {"comparisons": [{"outcome": "surely"}]}
    path.write_text(json.dumps(content))
    with pytest.raises(KvstudyError, match="is no record"):
        read_record(path)


@pytest.mark.parametrize(("number", "expected"), [(4567, 4500), (12345, 12000), (5000, 5000)])
def test_sizes_are_round(number, expected):
    assert rounded(number) == expected


def test_an_archive_that_does_not_hold_is_not_reviewed(pretend_study, monkeypatch):
    write_run()
    kvstudy("archive", "small")
    content = Path("small.zip").read_bytes()
    Path("cut.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(KvstudyError, match=r"cut\.zip: no zip file, or cut off"):
        kvstudy("review", "cut.zip")
