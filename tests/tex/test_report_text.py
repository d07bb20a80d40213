"""Escaping, strictness and the numbers of the report's text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kvstudy.documents.report.document import OPTIONS, convert
from kvstudy.documents.report.markdown import (
    as_kops,
    as_range,
    code,
    fill,
    for_markdown,
    listed,
)
from kvstudy.errors import KvstudyError
from kvstudy.language.current import using
from kvstudy.layout.numbers import latency
from kvstudy.render.latex import LONGEST_WORD, ZERO_WIDTH_SPACE

FILTER = Path(__file__).parents[2] / "report/templates/latex.lua"
ODD = r"_a_ 50% & #1 \ <b> $x$ ~y~ ^z^ {w} *v* `u` [t](s) @r !q | -- 'p' ... 1. \alpha"


def plain(markdown: str) -> str:
    """What a reader of the converted text sees."""
    command = ["pandoc", OPTIONS[0], "--to=plain", "--wrap=none"]
    done = subprocess.run(command, input=markdown, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def latex_of(markdown: str) -> str:
    return convert(markdown, ["--to=latex", "--natbib"], Path("x.md"), [FILTER], {})


def filled(tmp_path: Path, text: str, **context: object) -> str:
    (tmp_path / "text.md.j2").write_text(text, encoding="utf-8")
    return fill(tmp_path, "text.md.j2", context)


def test_strings_mean_only_themselves_in_markdown() -> None:
    assert plain(for_markdown(ODD)) == ODD


@pytest.mark.parametrize("start", ["# no heading", "- no list", "1. no list", "> no quote", ": x"])
def test_a_string_at_the_start_of_a_line_is_no_block(start: str) -> None:
    assert plain(for_markdown(start)) == start


def test_latex_of_an_odd_string_has_no_active_character() -> None:
    latex = latex_of(for_markdown(ODD))
    for raw in (" & ", " #1", "50% ", "$x$", "_a_", r"\alpha", " {w}"):
        assert raw not in latex, raw
    assert r"\&" in latex
    assert r"\textbackslash" in latex


def test_a_number_stays_on_one_line() -> None:
    assert for_markdown(" from\n10\u202f000  on ") == "from 10\u202f000 on"
    assert listed(["1\u202f000", "2"]) == "1\u202f000 and 2"


def test_long_words_get_places_to_break() -> None:
    path = "results/a-study/raw/" + "x" * 60
    escaped = for_markdown(path).replace("\\", "")
    assert max(map(len, escaped.split(ZERO_WIDTH_SPACE))) <= LONGEST_WORD
    assert escaped.replace(ZERO_WIDTH_SPACE, "") == path


def test_code_with_backticks() -> None:
    assert plain(code("a `` b")) == "a `` b"


def test_a_value_is_escaped_and_a_whole_number_grouped(tmp_path: Path) -> None:
    text = filled(tmp_path, "{{ name }}: {{ n }}", name="a_b *c*", n=1_000_000)
    assert text == "a\\_b \\*c\\*: 1\u202f000\u202f000"


def test_an_undefined_name_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"text\.md\.j2:3: 'nothing' is undefined"):
        filled(tmp_path, "one\n\n{{ nothing }}\n")


def test_an_undefined_attribute_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "part.md.j2").write_text("\n{{ study.titel }}\n", encoding="utf-8")
    with pytest.raises(KvstudyError, match=r"part\.md\.j2:2: .*titel"):
        filled(tmp_path, "{% include 'part.md.j2' %}", study=ODD)


def test_a_bare_float_must_say_how_it_is_printed(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"text\.md\.j2:1: 4801\.036\d+ \(float\)"):
        filled(tmp_path, "{{ x }}", x=4801.0366666)


def test_none_is_not_printed(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"None \(NoneType\) is not text"):
        filled(tmp_path, "{{ x }}", x=None)


def test_a_syntax_error_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"text\.md\.j2:2: "):
        filled(tmp_path, "\n{% if %}\n")


def test_a_missing_template_is_named(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"gone\.md\.j2: no such template"):
        filled(tmp_path, "{% include 'gone.md.j2' %}")


def test_pandoc_refuses_what_it_warns_about() -> None:
    with pytest.raises(KvstudyError, match=r"x\.md: pandoc refused the text: .*twice"):
        latex_of("# A {#twice}\n\n# B {#twice}\n")


@pytest.mark.parametrize(
    ("write", "values", "text"),
    [
        (as_kops, [4801.0366], "4.80 kops/s"),
        (as_kops, [123.4], "0.123 kops/s"),
        (as_range, [765_000.0, 1_073_000.0], "765\N{EN DASH}1 073 kops/s"),
        (latency, [68.396], "68.4 µs"),
        (latency, [999.0], "999 µs"),
        (latency, [1000.0], "1.00 ms"),
        (latency, [1234567.0], "1 235 ms"),
    ],
)
def test_values_with_units(write, values: list[float], text: str) -> None:
    assert write(*values).replace("\u202f", " ") == text


def test_lists() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(["a_", "b", "c"]) == r"a\_, b and c"
    with pytest.raises(ValueError, match="empty"):
        listed([])


def test_values_in_a_sentence_are_written_as_elsewhere(tmp_path: Path) -> None:
    sentence = "{% trans store, count, share=0.5 | as_percent %}\n{{ store }} takes 95 % of\n"
    text = f"{sentence}{{{{ count }}}} in {{{{ share }}}}.\n{{% endtrans %}}\nNext.\n"
    assert filled(tmp_path, text, store="a_b", count=1234) == (
        "a\\_b takes 95 % of 1\u202f234 in 50\u202f%.\nNext.\n"
    )
    with pytest.raises(KvstudyError, match=r"text\.md\.j2:\d+: .*store"):
        filled(tmp_path, text, count=1)


def test_a_sentence_is_in_the_language_and_in_english_where_it_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    text = (
        "{{ _('All runs') }}: {% trans count=n %}{{ count }} cell{% pluralize %}{{ count }} cells"
    )
    text += "{% endtrans %}{% trans %}; not a text of the report{% endtrans %}"
    english = "; not a text of the report"
    for language, n, words in (
        ("en", 1, "All runs: 1 cell"),
        ("en", 2, "All runs: 2 cells"),
        ("cs", 2, "Všechny běhy: 2 buňky"),
        ("cs", 5, "Všechny běhy: 5 buněk"),
        ("de", 1, "Alle Läufe: 1 Zelle"),
    ):
        with using(language):
            assert filled(tmp_path, text, n=n) == words + english
