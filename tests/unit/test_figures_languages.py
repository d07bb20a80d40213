"""Figures and charts in each language: other words, the same numbers and the same CSV."""

from __future__ import annotations

import json
import re

import pytest
from kvstudy.documents.report.context import in_few_words
from kvstudy.language.current import using
from kvstudy.layout.looks import StyleSheet
from kvstudy.render.page import scripts
from kvstudy.render.paper import use_style
from matplotlib.text import Text

from tests.unit.languages import OTHER_LANGUAGES

from . import small_results as small
from . import test_over_sizes
from .every_chart import Drawn, every_chart
from .languages import check_numbers

# Words within sentences, and labels of values.
ENGLISH = re.compile(r" (?:the|of|and|from|by|in|is|were|with|to|time|runs?|records?) ")
LABEL = re.compile(r'\{\\"([^"]+)\\": datum')
WORDS = {
    "speed": ["Zde změřeno: průměr 2 běhů", "nezměřeno"],
    "percentiles": ["95. percentil", "Publikováno (A. Nobody, 2020)"],
    "run-order": ["kontrolní buňky", "Místo v pořadí měření"],
    "ratios": ["Poměr propustností", "publikováno"],
    "time-a": ["Redis\nustálené: 2 z 2", "rozběh", "nezměřeno"],
    "spectrum": ["A: čtení", "Latence (µs)", "99,9 %"],
    "open": ["99,9 %", "doba obsluhy"],
    "scatter": ["Redis: propustnost (ops/s)"],
    "separation": ["změřené + 800\u202fµs", "Zdejší průměrná latence (µs)"],
    "lines": ["Vlákna klienta", "Latence: čtení, 99. percentil", "odtud nasyceno"],
    "map": ["Záznamy, operace", "bez hodnoty"],
    "box": ["neměřeno: aktualizace", "Latence operace (µs)"],
    "means": ["Medián", "Product read: 12 velikostí"],
    "relative": ["čtení, změřeno"],
    "break-even": ["Cena v ms", "Zde změřeno: 10\u202f000 záznamů"],
}


@pytest.fixture(scope="module")
def drawn():
    use_style()
    return every_chart()


def static(name: str, each: Drawn) -> list[str]:
    """All words and numbers of the drawing of ``each``."""
    looks = {"redis": each.styles["redis"]} if name == "run-order" else each.styles
    drawing = small.painted(each.figure, each.table, StyleSheet(each.study, looks))
    # The layout of a language must not choose other ticks than that of another.
    drawing.set_layout_engine("none")
    for ax in drawing.axes:
        ax.get_xticklabels(), ax.get_yticklabels()
    return [text.get_text() for text in drawing.findobj(Text) if text.get_visible()]


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
@pytest.mark.parametrize("name", WORDS)
def test_drawings_have_the_same_numbers_in_all_languages(drawn, name, language):
    english = static(name, drawn[name])
    with using(language):
        theirs = static(name, drawn[name])
    check_numbers(" | ".join(english), " | ".join(theirs), language)
    if language == "cs":
        assert set(WORDS[name]) <= set(theirs)
        assert not set(WORDS[name]) & set(english)


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
@pytest.mark.parametrize("name", WORDS)
def test_charts_have_the_same_numbers_in_all_languages(drawn, name, language):
    english = drawn[name].text
    with using(language):
        theirs = drawn[name].text
    check_numbers(english, theirs, language)
    # Captions, and names of workloads and stores, are in catalogues of their own.
    data = theirs.replace(json.loads(theirs)["description"], "")
    data = re.sub("Workload [A-Z]|A store with a very long name|the server died", "", data)
    assert not ENGLISH.findall(LABEL.sub("", data))
    labels = [set(LABEL.findall(text)) for text in (english, theirs)]
    assert labels[0]
    assert labels[0] & labels[1] <= {"Server"}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_the_csv_has_codes_in_all_languages(drawn, language):
    def tables() -> list[str]:
        over = test_over_sizes.swept_study()
        example = [
            small.bars(drawn["percentiles"].figure, small.study(), small.results()),
            test_over_sizes.lines_of(over, {("redis", "a", 3)}),
        ]
        return [table.to_csv() for table in example]

    english = tables()
    with using(language):
        assert tables() == english


def test_a_page_writes_numbers_as_its_language_does(monkeypatch):
    monkeypatch.setattr("kvstudy.render.page._vega", str)
    assert '"decimal": "."' in scripts()
    with using("cs"):
        text = scripts()
    assert '"decimal": ","' in text
    assert '"percent": "\\u00a0%"' in text


def test_amounts_of_a_machine_have_a_decimal_mark_and_versions_a_point():
    machine = [
        {"component": "OS", "name": "Debian 12.5", "details": ""},
        {"component": "Memory", "name": "gib size=23.5", "details": "swap size=2.0"},
    ]
    with using("cs"):
        reply = in_few_words([machine])
    assert reply[0] == "23,5 GiB (odkládací prostor 2,0 GiB)"
    assert reply[1] == "Debian 12.5"
