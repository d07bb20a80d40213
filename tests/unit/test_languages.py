"""Languages: complete catalogues, numbers and dates by locale, and what is refused."""

from __future__ import annotations

import ast
import re
import subprocess
from datetime import datetime
from math import inf
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from kvstudy.analyse.claims.file import load_claims
from kvstudy.analyse.claims.quantities import SHARE
from kvstudy.commands import translate as translation
from kvstudy.documents.report import markdown
from kvstudy.documents.report.document import OPTIONS, filters
from kvstudy.documents.report.markdown import FILTERS, as_time, listed
from kvstudy.errors import KvstudyError
from kvstudy.exhibits.claim_words import number
from kvstudy.exhibits.table import interval
from kvstudy.language.current import (
    FOLDER,
    _,
    current,
    ngettext,
    pgettext,
    read_catalogue,
    translation_note,
    using,
)
from kvstudy.language.locale import list_of, long_date
from kvstudy.language.reasons import reason, sentence, several
from kvstudy.layout.numbers import change, grouped, share, significant
from kvstudy.stores.definition import load_stores
from kvstudy.study.config import check_config
from kvstudy.study.load import load_study
from kvstudy.study.quotes import Quotes
from kvstudy.study.reading import read_yaml

from tests.project import ROOT, kvstudy
from tests.unit.languages import OTHER_LANGUAGES

TEXT = ROOT / "report" / "text"


@pytest.fixture
def czech():
    with using("cs"):
        yield


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_every_text_is_translated(language, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert translation.problems(language) == []


def test_a_translation_has_the_numbers_of_its_text():
    """Whatever the decimal mark: no digit may be lost or mistyped on the way."""
    # Not the number of a placeholder: {0}.
    digits = re.compile(r"(?<!\{)\d+")
    folders = ("workflow/kvstudy/language", "report/text", "config/studies/*", "envs/stores/*")
    files = [path for each in folders for path in ROOT.glob(f"{each}/*.po")]
    assert len({path.parent.parent for path in files}) == len(folders)
    for path in files:
        with path.open("rb") as file:
            entries = list(read_po(file))
        for entry in entries:
            text = entry.id if isinstance(entry.id, str) else entry.id[-1]
            forms = [entry.string] if isinstance(entry.string, str) else entry.string
            for form in filter(None, forms) if text else []:
                wanted = sorted(digits.findall(text))
                assert sorted(digits.findall(form)) == wanted, f"{path}: {text}"


def test_all_marked_texts_of_the_code_are_found():
    """The extractor does not look into f-strings: a text that is marked there would be lost."""
    present = translation.package_texts()
    for path in sorted((ROOT / "workflow" / "kvstudy").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(node, "func", None), "id", "")
            if name not in translation.KEYWORDS or not isinstance(node.args[0], ast.Constant):
                continue
            words = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            result = (
                present.get(words[1], words[0]) if name == "pgettext" else present.get(words[0])
            )
            assert result is not None, f"{path}: {words}"


def catalogue(*texts: str | tuple[str, str]) -> Catalog:
    result = Catalog()
    for text in texts:
        result.add(text)
    return result


def written(folder: Path, text: str) -> Path:
    path = folder / "cs.po"
    forms = '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);\\n"'
    path.write_text(f'msgid ""\nmsgstr ""\n{forms}\n\n{text}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not translated: Hello {}"),
        ('msgid "Hello {}"\nmsgstr ""\n', "not translated: Hello {}"),
        ('#, fuzzy\nmsgid "Hello {}"\nmsgstr "Ahoj {}"\n', "fuzzy, look at it: Hello {}"),
        ('msgid "Hello {}"\nmsgstr "Ahoj"\n', "other places to fill in ({}) than: Hello {}"),
        (
            'msgid "Hello {}"\nmsgstr "Ahoj {}"\n\nmsgid "Old"\nmsgstr "Staré"\n',
            "no text of kvstudy any more: Old",
        ),
        ('msgid "Hello {}"\nmsgstr "Ahoj {}"\n', None),
    ],
)
def test_what_is_wrong_with_a_catalogue_is_said(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(translation, "wanted", lambda: {tmp_path: catalogue("Hello {}")})
    path = written(tmp_path, text)
    assert translation.problems("cs") == ([f"{path}: {message}"] if message else [])


def test_a_plural_without_all_forms_is_not_translated(tmp_path, monkeypatch):
    wanted = catalogue(("{} run", "{} runs"))
    monkeypatch.setattr(translation, "wanted", lambda: {tmp_path: wanted})
    entry = 'msgid "{} run"\nmsgid_plural "{} runs"\n'
    written(tmp_path, entry + 'msgstr[0] "{} běh"\nmsgstr[1] "{} běhy"\nmsgstr[2] ""\n')
    assert "not translated: {} run" in translation.problems("cs")[0]


def test_a_missing_catalogue_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(translation, "wanted", lambda: {tmp_path: catalogue("a", "b")})
    assert translation.problems("cs") == [f"{tmp_path / 'cs.po'}: is missing, with 2 texts"]


def test_a_new_language_gets_catalogues_and_a_changed_text_is_fuzzy(tmp_path, monkeypatch):
    monkeypatch.setattr(translation, "wanted", lambda: {tmp_path: catalogue("The machine here")})
    assert translation.update("sk") == [tmp_path / "sk.po"]
    text = (tmp_path / "sk.po").read_text().replace('msgstr ""\n\n', "")
    assert 'msgid "The machine here"' in text
    path = tmp_path / "sk.po"
    path.write_text(path.read_text().replace('here"\nmsgstr ""', 'here"\nmsgstr "Stroj"'))
    monkeypatch.setattr(translation, "wanted", lambda: {tmp_path: catalogue("The machine there")})
    translation.update("sk")
    assert translation.problems("sk") == [f"{path}: fuzzy, look at it: The machine there"]
    before = path.read_bytes()
    translation.update("sk")
    assert path.read_bytes() == before


def test_a_fuzzy_translation_is_not_shown(tmp_path):
    path = written(tmp_path, '#, fuzzy\nmsgid "yes"\nmsgstr "no"\n')
    assert read_catalogue(path).gettext("yes") == "yes"


def test_a_file_that_is_no_catalogue_names_itself(tmp_path):
    path = tmp_path / "cs.po"
    path.write_text("nothing of the kind\n")
    with pytest.raises(KvstudyError, match=re.escape(f"{path}: not a catalogue")):
        read_catalogue(path)


def test_a_language_must_exist_to_be_translated():
    with pytest.raises(KvstudyError, match="klingon: not the code of a language"):
        kvstudy("translate", "klingon")


def test_numbers_have_the_decimal_mark_of_the_language(czech):
    assert grouped("1234567.5") == "1\u202f234\u202f567,5"
    assert significant(0.01234) == grouped(significant(0.01234)) == "0,0123"
    assert grouped(significant(12345.6)) == "12\u202f346"
    assert share(0.0123) == "1,2 %"
    assert change(-0.226) == "\N{MINUS SIGN}22,6 %"
    assert markdown.as_kops(13169) == "13,2\u202fkops/s"
    assert markdown.as_range(1500, 2500) == "1,50\N{EN DASH}2,50\u202fkops/s"
    assert markdown.FILTERS["as_percent"](0.001) == "0,1\u202f%"
    assert markdown.FILTERS["as_rough_percent"](0.0314) == "3,1\u202f%"
    assert FILTERS["rho"](-0.291) == "\N{MINUS SIGN}0,29"
    assert markdown.FILTERS["p_value"](0.001) == "< 0,01"
    assert markdown.as_duration(51.94) == "51,9\u202fs"
    assert sentence(reason("gib", size="15.6")) == "15,6 GiB"
    # A comma would not separate the two ends of an interval.
    assert number(1.05, 1.02, 1.08) == "1,05\u00a0[1,02;\u00a01,08]"


def test_numbers_in_english_are_as_ever():
    assert current() == "en"
    assert grouped("1234567.5") == "1\u202f234\u202f567.5"
    assert change(0.226) == "+22.6 %"
    assert number(1.05, 1.02, 1.08) == "1.05\u00a0[1.02,\u00a01.08]"
    assert as_time(datetime(2026, 11, 20, 19, 46)) == "20 November 2026, 19:46"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_an_interval_of_anything_fits_a_column():
    assert number(1.05, 1.2e-9, 3.4e12) == "1.05\u00a0[<0.001,\u00a0>1\u202f000]"
    assert number(inf, 2, inf) == "\N{INFINITY}\u00a0[2.00,\u00a0\N{INFINITY}]"
    assert number(3, 1, inf) == "3.00\u00a0[1.00,\u00a0\N{INFINITY}]"
    assert interval(2, 1e-9, 5, digits=4) == "<0.001 to 5.000"
    assert number(0, 0, 0.004, SHARE) == "0\u00a0[0,\u00a00.400] %"


def test_dates_lists_and_references_follow_the_language(czech):
    assert long_date(datetime(2026, 11, 20)) == "20. listopadu 2026"
    assert as_time(datetime(2026, 11, 20, 19, 46)) == "20. listopadu 2026, 19:46"
    assert list_of(["a", "b", "c"]) == "a, b a\u00a0c"
    assert FILTERS["numbers"]([2, 1, 3]) == "1, 2 a\u00a03"
    assert list_of(["a"]) == "a"
    # In any case of a sentence.
    assert [pgettext("reference", word) for word in ("Table", "Figure")] == ["tab.", "obr."]


@pytest.mark.parametrize(
    ("count", "word"),
    [(0, "běhů"), (1, "běh"), (2, "běhy"), (4, "běhy"), (5, "běhů"), (22, "běhů"), (101, "běhů")],
)
def test_plural_forms(czech, count, word):
    records = {"běh": "záznam", "běhy": "záznamy", "běhů": "záznamů"}[word]
    assert ngettext("{} record", "{} records", count).format(count) == f"{count} {records}"


def test_what_measuring_recorded_is_translated_where_it_is_shown(project, czech):
    assert sentence("not measured") == "nezměřeno"
    assert sentence(reason("busy-threads", n=2)) == "2 cizí vlákna"
    assert sentence(reason("busy-threads", n=7)) == "7 cizích vláken"
    assert sentence("nobody knows") == "nobody knows"
    assert sentence("Table 4.2") == "tabulka 4.2"
    load_stores(load_study(Path("config/studies/jedlicka2024/study.yaml")))
    # The remedy is in the store's file, its sentence in the code.
    remedy = "install Debian's package memcached, or use Docker"
    assert sentence(reason("no-program", program="memcached", remedy=remedy)) == (
        "na tomto stroji není program memcached: nainstalujte balíček Debianu memcached, "
        "nebo použijte Docker"
    )


def test_what_quotes_say_is_translated_as_a_whole_where_it_is_shown(project, czech):
    """Files of a run have the English text, which has parts that a pattern would fit."""
    folder = Path("config/studies/haverinen2018")
    load_study(folder / "study.yaml")
    result = read_yaml(folder / "quotes.yaml", Quotes).quotes[0]
    assert (result.place, result.says) == ("5.2, notes 2 to 4", "runs of one database of one size")
    assert sentence(result.place) == "5.2, poznámky 2 až 4"
    assert sentence(result.says) == "běhy jedné databáze jedné velikosti"
    assert sentence("6.5, paragraph 2") == "6.5, odstavec 2"


def test_reasons_are_sentences_in_english_too():
    assert sentence(reason("busy-threads", n=2)) == "2 other threads running"
    lost = reason("records-lost", held=98, stored=100, lost=2)
    failures = reason("failures", share="1.20%", operation="read", statuses="12 A", allowed="0.1%")
    both = sentence(reason("invalid", why=several([lost, failures])))
    assert both.startswith(
        "invalid: the server holds 98 records after the run, but 100 were stored"
    )
    assert both.endswith(
        "2 are lost; 1.20% of read operations failed (12 A), more than the 0.1% "
        "that the study allows"
    )


@pytest.mark.parametrize(
    "text",
    [
        "invalid of everything; no=code",
        "invalid why",
        "invalid why='it",
        "records-lost held=1; and then?",
        'java.io.IOException: it\'s "broken"',
        " ",
    ],
)
def test_the_text_of_an_error_is_no_reason(text):
    assert sentence(text) == text


def test_any_value_of_a_reason_comes_back():
    for value in ('it\'s "so"; invalid why=x', "a=b", "", "řeka # 5", "{n}"):
        assert sentence(reason("invalid", why=value)) == f"invalid: {value}"


def test_a_study_speaks_the_language_and_keeps_its_keys(project):
    path = Path("config/studies/jedlicka2024/study.yaml")
    english = load_study(path)
    with using("cs"):
        study = load_study(path)
        stores = load_stores(study)
        claims = load_claims(path.with_name("claims.yaml"), study)
        claim = sentence(claims[0].claim)
    assert study.title == "Redis, Riak KV, Aerospike a Memcached v testu YCSB"
    assert [use.title for use in study.workloads][0::3] == ["Zátěž A", "Pouze vkládání"]
    assert [use.name for use in study.workloads] == [use.name for use in english.workloads]
    captions = {table.name: table.caption for table in study.tables}
    assert captions["workload-a"] == "Výsledky zátěže A"
    assert captions["runs"] == "Běhy, ze kterých jsou hodnoty"
    # Values of published.csv are found by it.
    assert [table.source for table in study.tables] == [table.source for table in english.tables]
    assert stores["redis"].operations["read"] == "HGETALL slovníku (hash) záznamu"
    assert stores["riak"].title == "Riak KV"
    # claims.csv is one for all languages.
    assert claims[0].claim.startswith("Throughput falls in this order.")
    assert claim.startswith("Propustnost klesá v tomto pořadí.")
    assert load_study(path) == english


def test_several_authors_are_listed_in_the_language(project, czech):
    study = load_study(Path("config/studies/ascani2023/study.yaml"))
    assert study.source.author == "C. Ascani, L. Sopranzetti a L. Tiseni"


def test_a_study_without_a_catalogue_stays_english(project, czech):
    shipped, path = (Path(f"config/studies/{name}/study.yaml") for name in ("petrov2014", "own"))
    path.parent.mkdir()
    path.write_text(shipped.read_text().replace("name: petrov2014", "name: own"))
    study = load_study(path)
    assert study.title.startswith("MySQL and Redis")
    assert {table.name: table.caption for table in study.tables}["ratios"] == _(
        "Pairwise throughput ratios"
    )


def test_a_language_that_has_begun_says_what_is_still_english(monkeypatch):
    monkeypatch.chdir(ROOT)
    note = translation_note("de", FOLDER, TEXT)
    left, total = map(
        int, re.match(r"de: (\d+) of (\d+) texts are not translated yet", note).groups()
    )
    assert 0 < left < total
    assert sum(": not translated: " in line for line in translation.problems("de")) == left
    assert {translation_note(language, FOLDER, TEXT) for language in ("en", *OTHER_LANGUAGES)} == {
        ""
    }


def test_an_unknown_language_is_refused():
    with pytest.raises(
        KvstudyError,
        match=r"config/config\.yaml: language: unknown language 'xx'; there are cs, de, en, ",
    ):
        check_config({"study": "smoke", "language": "xx"})
    with pytest.raises(KvstudyError, match="unknown language 'xx'; there are cs, de, en"):
        kvstudy("draw", "--language", "xx")
    assert current() == "en"


def test_no_line_ends_within_a_number_or_before_its_unit_nor_a_czech_one_after_one_letter():
    command = ["pandoc", OPTIONS[0], "--to=plain", "--wrap=none"]
    command += [f"--lua-filter={path}" for path in filters(ROOT / "report/templates", "cs")]
    text = "Měření v tabulce (i 21. listopadu) a „k tomu“ `a b`: 100 000 za 5 s, `5 s`, 7 běhů."
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "Měření v\u00a0tabulce (i\u00a021.\u00a0listopadu) a\u00a0„k\u00a0tomu“ a b: "
        "100\u202f000 za 5\u202fs, 5 s, 7 běhů."
    )


def test_the_package_has_a_catalogue_for_each_language_with_a_text():
    texts = {path.stem for path in TEXT.glob("*.po")}
    assert {path.stem for path in FOLDER.glob("*.po")} == texts
