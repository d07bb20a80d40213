"""Whatever a run lacks, no sentence of its report has a hole where a value is missing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from kvstudy.analyse.run import Run
from kvstudy.documents.report import markdown, render
from kvstudy.documents.report.published import write_published
from kvstudy.language.current import ORIGINAL, using
from kvstudy.study.kinds import FIGURES
from kvstudy.study.raw import file_digest

from tests import made_up_run
from tests.made_up_run import METRICS, PARTS, SOURCE, STATES, STORES, WORKLOADS, MadeUp, every_key
from tests.project import ROOT
from tests.unit.languages import OTHER_LANGUAGES, check_numbers

# What no sentence has; of both languages where none is named.
HOLES = {
    "": [
        r" [.,;:!?](?= |$)",
        r"[.,;:] *[,;:.]",
        r"\( *\)|\( | \)|\[ *\]|\*\* *\*\*",
        r"\b(?:nan|NaN|NaT|None|inf|undefined|True|False)\b",
        r"^[,.;:)]",
        # A heading or an item that has no line of its own.
        r"\S #+ \w",
        r"[.;:] - ",
    ],
    "en": [
        r" (?:and|or|of|at most|at least|than|between|about|the|a|an) *[.;:)]",
        r" (?:of|at most|than|in) (?:of|in|and|than) ",
        r"\b0 of 0\b",
        r"\b0 (?:cells?|runs?|claims?|stores?|workloads?|records?|repetitions?|logs?)\b",
    ],
    "cs": [
        r" (?:a|nebo|nejvýše|nejvíce|aspoň|než|mezi|z|ze|od|asi|o|v|ve|na|u|se) *[.,;:)]",
        r"\b0 z 0\b",
        r"\b0 (?:buňk|buněk|běhů|běhy|tvrzení|úložišť|záznamů|opakování|protokolů)",
    ],
}


def holes(text: str, language: str) -> list[str]:
    """What looks like a value that is missing, with the words around it."""
    result = []
    blocks = list(_blocks(text))
    for block, following in zip(blocks, [*blocks[1:], ""], strict=True):
        for pattern in HOLES[""] + HOLES[language]:
            result += [
                f"{pattern}: ...{block[max(0, match.start() - 60) : match.end() + 30]}..."
                for match in re.finditer(pattern, block)
            ]
        if re.fullmatch(r"(?:-|\d+\.)?\W*", block):
            result.append(f"nothing in {block!r} before {following!r}")
        if block.endswith(":") and not following.startswith(("- ", "1.", "<")):
            result.append(f"nothing follows {block!r} but {following!r}")
    return result


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, items and headings, a line each, as a reader sees them; "<" is a table."""
    text = re.sub(r"(?ms)^(~~~+|```+).*?^\1$", "<code>", text)
    text = re.sub(r"(?ms)^::: \{#.*?^:::$", "<float>", text)
    text = re.sub(r"(?m)^:::.*$", "", text)
    # Links, code and citations are words; attributes are not seen.
    text = re.sub(r"\[[^\[\]]*\]\(<?[^()<>]*>?\)|(`+) .*? \1|`[^`]*`|\[@\w+\]", "X", text)
    text = re.sub(r"\{[#.][^{}]*\}|\{data-[^{}]*\}", "", text)
    # A list begins a block, even right below a line.
    text = re.sub(r"(?m)^(?=(?:-|\d+\.)(?: |$))", "\n", text)
    for block in re.split(r"\n\s*\n", text):
        # Not at no-break spaces, which are before a unit.
        if line := re.sub(r"[ \n]+", " ", re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", block)).strip():
            yield line


def test_holes_are_seen() -> None:
    assert not holes("At most 5 % of 3 runs (Redis) and more: so\n\n- it is.\n", "en")
    for text in (
        "It took at most .",
        "In Redis , that is",
        "Redis () is",
        "nan ms",
        "Redis and .",
        "These are:\n\nNothing.",
        "-\n",
        "**: **",
        "none of in A",
        "0 of 0 cells",
        "has ; and",
        "It was: .",
        "This one shows all.\n## Insert only\n",
        "It is so. - And so.",
    ):
        assert holes(text, "en"), text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project, and the text of its reports instead of their LaTeX source."""
    folder = tmp_path_factory.mktemp("holes")
    for name in ("config", "envs/stores", "workloads", "report"):
        shutil.copytree(ROOT / name, folder / name)
    before = Path.cwd()
    os.chdir(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "write_latex", lambda text, *_others: text)
        # The templates of tables are not asked here.
        patch.setattr(markdown, "_there", lambda *_where: None)
        yield folder
    os.chdir(before)


@st.composite
def made_up(draw: st.DrawFn) -> MadeUp:
    """Any run, with any of its parts missing."""
    some = st.lists(st.sampled_from([*STORES]), min_size=1, unique=True)
    stores = tuple(draw(some))
    workloads = tuple(draw(st.lists(st.sampled_from([*WORKLOADS]), min_size=1, unique=True)))
    repetitions = draw(st.sampled_from([1, 2, 3]))
    keys = st.sampled_from(every_key(stores, repetitions))
    source = draw(st.booleans())
    threads = draw(st.sampled_from([(4,), (1, 4)]))
    return MadeUp(
        stores=stores,
        workloads=workloads,
        threads=threads,
        repetitions=repetitions,
        states=tuple(draw(st.dictionaries(keys, st.sampled_from([*STATES]), max_size=6)).items()),
        lacks=draw(st.frozensets(st.sampled_from([*PARTS, *METRICS]))),
        controls=draw(st.booleans()),
        few=draw(st.booleans()),
        swept=len(threads) > 1 and draw(st.booleans()),
        spread=draw(st.sampled_from([0, 0.1, 1.0])),
        stalled=draw(st.booleans()),
        imported=draw(st.booleans()),
        source=source,
        values=source and draw(st.booleans()),
        claims=draw(st.booleans()),
        scale=draw(st.sampled_from([1.0, 1.0, 0.5])),
    )


def text_of(run: Run, language: str = ORIGINAL) -> str:
    """The report's text on one line, without what escapes its symbols."""
    with using(language):
        return " ".join(_blocks(render.render(run)))


def test_an_undecided_pair_whose_own_interval_excludes_1_is_explained(place: Path) -> None:
    run = MadeUp(workloads=("c",), controls=False, repetitions=3).run()
    pairs = run.analysis.pairs
    assert "comparisons" not in text_of(run)
    first = pairs.index[(pairs["faster"] == "redis") & (pairs["slower"] == "memcached")]
    numbers = {"ratio": 2.07, "low": 1.15, "high": 3.71, "p": 0.03, "p_adjusted": 0.06}
    undecided = numbers | {"decision": "undecided", "would_decide": 5}
    pairs.loc[first, [*undecided]] = [*undecided.values()]
    # It was read already.
    del vars(run)["headline_analysis"]
    text = text_of(run)
    # On the first page, with the workload, where the word is defined, and with all pairs.
    for words in (
        "after 3 runs (significant alone, but not after correction for 3 comparisons); about",
        "1.15 to 3.71; significant alone, but not after correction for 3 comparisons).",
        "corrected for the number of pairs (X), excludes 1. Otherwise they",
        "for the number of pairs, and so are undecided: Redis / Memcached (C).",
    ):
        assert words in text.replace("\u202f", " "), words
    assert text_of(run, "cs").lower().count("po opravě") == text.lower().count("after correction")


@pytest.mark.parametrize(
    ("recorded", "year", "words"),
    [
        ("this", 2026, "All claims were made before these measurements. The intervals"),
        ("other", 2020, "X was changed after 6 of 6 cells were measured, so claims may"),
        ("", 2020, "All claims were made before these measurements. The intervals"),
        ("", 2026, "It is not recorded whether all claims were made before these measurements."),
    ],
)
def test_the_report_says_whether_claims_were_made_before_the_cells(
    place: Path, monkeypatch: pytest.MonkeyPatch, recorded: str, year: int, words: str
) -> None:
    monkeypatch.setitem(SOURCE, "year", year)
    run = MadeUp(workloads=("c",), controls=False, source=True, claims=True).run()
    assert run.environment["measured"] == 6
    digest = file_digest(run.claims_file) if recorded == "this" else recorded
    if recorded:
        run.environment["claims"] = [{"sha256": digest, "cells": 6}]
    assert words in text_of(run)


def test_claims_of_a_study_without_a_source_have_their_list(place: Path) -> None:
    text = text_of(MadeUp(workloads=("c",), controls=False, claims=True).run())
    assert "Verdicts on 1 claim: 1" in text
    assert "source" not in text.partition("The claims in full")[2].partition("What one")[0]


def test_a_translation_that_has_begun_goes_on_in_english(place: Path) -> None:
    """The first page is German, the sections behind it are not yet."""
    run = MadeUp(source=True, values=True, claims=True).run()
    english, text = (text_of(run, language) for language in (ORIGINAL, "de"))
    glance, rest = text.split(":: glance")[-1].split("# Methode")
    assert "**Gemessen:** Redis" in glance
    assert "**Frage:** Which one?" in glance
    assert "It fills an empty store with records" in rest
    check_numbers(english, text, "de")


def test_published_values_of_sizes_that_are_not_measured_are_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "for sizes that this study does not measure; no table or figure shows them: "
    example = MadeUp(workloads=("a",), controls=False, source=True, values=True)
    assert words not in text_of(example.run())
    head, *rows = made_up_run.VALUES.splitlines()
    sized = [f"{head},threads", *(f"{row},{n}" for n, row in zip((4, 2, 8), rows, strict=True))]
    monkeypatch.setattr(made_up_run, "VALUES", "\n".join(sized))
    assert words + "2 threads; 8 threads." in text_of(example.run())


def test_imported_values_are_not_called_measured_here(place: Path) -> None:
    example = MadeUp(threads=(1, 4), imported=True, source=True, values=True)
    run = example.run()
    figure = FIGURES["curves"](
        **{"name": "x", "kind": "curves", "caption": "X", "over": "threads", "workloads": ["a"]}
    )
    titles = set(figure.rows(run)["panel"])
    assert titles == {"Throughput, imported", "Throughput, published"}
    assert "All of it is one machine" not in text_of(run)


EVERY = tuple(((store, use, "*"), "gone") for store in STORES for use in WORKLOADS)
NOTHING_BUT_TIMES = frozenset({*PARTS, *METRICS} - {"started"})


@given(made_up())
@example(MadeUp(few=True))
@example(MadeUp(threads=(1, 4), swept=True))
@example(MadeUp(states=EVERY))
@example(MadeUp(stores=("redis",), workloads=("c",), repetitions=1, controls=False))
@example(MadeUp(lacks=NOTHING_BUT_TIMES, source=True, claims=True))
@example(MadeUp(imported=True, lacks=frozenset([*PARTS, *METRICS])))
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.generate],
)
def test_no_sentence_has_a_hole(place: Path, made_up_run: MadeUp) -> None:
    run = made_up_run.run()
    texts = {}
    for language in (ORIGINAL, *OTHER_LANGUAGES):
        with using(language):
            texts[language] = render.render(run)
    for language, text in texts.items():
        assert not holes(text, language), language
        check_numbers(texts[ORIGINAL], text, language)


@pytest.mark.parametrize("claims", [True, False])
@pytest.mark.parametrize("values", [True, False])
def test_no_sentence_on_a_source_has_a_hole(place: Path, values: bool, claims: bool) -> None:
    study = MadeUp(source=True, values=values, claims=claims).run().study
    for language in (ORIGINAL, *OTHER_LANGUAGES):
        with using(language):
            text = write_published(Run("made-published", study, published_only=True))
        assert not holes(text, language), language
