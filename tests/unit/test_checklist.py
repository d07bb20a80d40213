"""The published rules: all are there, and verdicts follow from the run's files."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.tidy.reviews import ReviewRecord
from kvstudy.documents.report import checklist
from kvstudy.documents.report.checklist import RULES, RuleVerdict


def places(letter: str) -> set[str]:
    """What the rules name of one list."""
    of = [part.split(" ", 1) for rule in RULES for part in rule.places.split("; ")]
    return {
        place for name, *rest in of if name == letter for text in rest for place in text.split(", ")
    }


def test_every_rule_of_the_numbered_lists_is_judged():
    heiser = {"A": 3, "B": 5, "C": 3, "D": 4, "E": 3}
    assert places("H") == {f"{key}{n}" for key, last in heiser.items() for n in range(1, last + 1)}
    assert places("HB") == set(map(str, range(1, 13)))
    assert places("S") == set(map(str, range(1, 23)))
    assert len({rule.text for rule in RULES}) == len(RULES)


def facts(**of) -> SimpleNamespace:
    return SimpleNamespace(**of)


def data(**of) -> SimpleNamespace:
    return facts(data=SimpleNamespace(**of))


def study(**of) -> SimpleNamespace:
    return data(study=SimpleNamespace(**of))


@pytest.mark.parametrize(
    ("repetitions", "verdict"),
    [(1, RuleVerdict.BROKEN), (2, RuleVerdict.PART), (3, RuleVerdict.KEPT)],
)
def test_one_repetition_has_no_spread(repetitions, verdict):
    assert checklist._variability(study(repetitions=repetitions)).verdict == verdict


@pytest.mark.parametrize(
    ("records", "threads", "verdict"),
    [
        ([1], [4], RuleVerdict.BROKEN),
        ([1, 2], [4], RuleVerdict.PART),
        ([1, 2], [1, 4], RuleVerdict.KEPT),
    ],
)
def test_sizes_are_varied_or_not(records, threads, verdict):
    cells = [SimpleNamespace(records=r, threads=t) for r in records for t in threads]
    planned = {str(place): cell for place, cell in enumerate(cells)}
    assert checklist._sizes(data(planned=planned)).verdict == verdict


@pytest.mark.parametrize("until", [None, object()])
def test_undecided_comparisons_are_counted_with_a_remedy(until):
    """Which a study that is measured until all is decided has already."""
    pairs = pd.DataFrame({"decision": ["faster", "undecided", "equal"]})
    study = SimpleNamespace(repetitions=3, until=until)
    of = data(study=study, headline_analysis=SimpleNamespace(pairs=pairs))
    finding = checklist._trials(of)
    assert finding.verdict == RuleVerdict.PART
    assert "1 of 3 comparisons" in finding.why
    assert ("{from: 3, to: 12}" in finding.why) == (until is None)


@pytest.mark.parametrize(
    ("p", "verdict"),
    [(None, RuleVerdict.NOT_APPLICABLE), (0.2, RuleVerdict.KEPT), (0.001, RuleVerdict.PART)],
)
def test_normality_is_judged_by_its_test(p, verdict):
    table = pd.DataFrame({"p": [] if p is None else [p]})
    of = data(analysis=SimpleNamespace(normality=table))
    assert checklist._normality(of).verdict == verdict


@pytest.mark.parametrize(
    ("short", "unsteady", "verdict"),
    [(0, 0, RuleVerdict.KEPT), (1, 1, RuleVerdict.PART), (3, 0, RuleVerdict.BROKEN)],
)
def test_warm_up(short, unsteady, verdict):
    course = SimpleNamespace(runs=3, short=short, unsteady=unsteady)
    assert checklist._warm(facts(course=course)).verdict == verdict


def record(*outcomes: str) -> ReviewRecord:
    comparisons = [{"outcome": outcome} for outcome in outcomes]
    return ReviewRecord("0", "run", "A", "2026-11-29", "1", 5, [], comparisons)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ([], RuleVerdict.NOT_APPLICABLE),
        (["not tried", "undecided here"], RuleVerdict.NOT_APPLICABLE),
        (["confirmed here"], RuleVerdict.KEPT),
        (["confirmed here", "not confirmed here"], RuleVerdict.PART),
        (["not confirmed here"], RuleVerdict.BROKEN),
    ],
)
def test_reviews_by_others_count(outcomes, verdict):
    assert checklist._reviewed(facts(reviews=[record(*outcomes)])).verdict == verdict
    assert checklist._reviewed(facts(reviews=[])).verdict == RuleVerdict.NOT_APPLICABLE


def test_imported_logs_do_not_show_their_procedure(monkeypatch):
    monkeypatch.setattr(checklist, "RULES", [rule for rule in RULES if rule.procedure])
    judged = checklist.checklist(facts(imports={"folder": "x"}))
    assert not judged[RuleVerdict.KEPT]
    assert {rule.finding.why for rule in judged[RuleVerdict.PART]} == {
        "the imported logs do not say"
    }
