"""The bibliography: any that BibTeX reads is read, and what lacks is said before measuring."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.study.bibliography import REFERENCES, bibliography_entries, check_citations
from kvstudy.study.load import load_study

from tests.project import edit, kvstudy

ROOT = Path(__file__).parents[2]
STUDY = Path("config/studies/jedlicka2024/study.yaml")
ONE_LINE = "@article{one, author={Omeone, S. and {The {K} Group}}, title={On {N{o}SQL}}, year=2020}"
ODD = f"""\
A text outside of all entries.
% A comment.
@comment{{jabref-meta: databaseType:bibtex;}}
@string{{press = "A Press"}}
{ONE_LINE} @book{{two, title = "A {{"}}quoted{{"}} title", year=2019, publisher = press # ", Brno"}}
@ARTICLE {{ Three:2021/a ,
  TITLE={{50\\% of x@y}} , year = {{2021}}
}}
@inproceedings{{four,title={{T}},
    year={{2022}},}}@preamble{{"\\newcommand{{\\x}}{{}}"}}
@online{{five, url={{https://x.org/a_b%20c}}, title={{{{All}} of it}}}}
"""


def test_entries_of_any_form_are_read_as_they_stand_there(tmp_path):
    path = tmp_path / "odd.bib"
    path.write_text(ODD)
    entries = bibliography_entries(path)
    assert list(entries) == ["", "one", "two", "Three:2021/a", "four", "five"]
    assert entries["one"] == ONE_LINE
    assert entries["two"].endswith('publisher = press # ", Brno"}')
    assert entries[""] == '@string{press = "A Press"}'
    # What the report is made of by pandoc has the same.
    command = ["pandoc", "--from=bibtex", "--to=csljson", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [key for key in entries if key and f'"id": "{key}"' not in printed] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@book{a, title={x}}\n@book{a, title={y}}\n", ":2: 'a' appears twice; keep one"),
        ("\n@book{a, title={x}, title={y}}\n", ":2: 'a' has title twice; keep one"),
        ("\n@book{a, title={x},\n\n@book{b, title={y}}\n", ":2: '@book{a, title={x},"),
        ("@book{title={x}}\n", ":1: '@book{title=' is no entry of BibTeX; write @type{key"),
    ],
)
def test_what_is_no_entry_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "bad.bib"
    path.write_text(text)
    with pytest.raises(KvstudyError) as error:
        bibliography_entries(path)
    assert str(error.value).startswith(f"{path}{message}")


def _refused() -> str:
    with pytest.raises(KvstudyError) as error:
        check_citations(STUDY, load_study(STUDY))
    return str(error.value)


def test_a_source_in_one_line_is_found(project):
    with REFERENCES.open("a") as file:
        file.write(ONE_LINE)
    edit(STUDY, lambda data: data["source"].update(key="one"))
    check_citations(STUDY, load_study(STUDY))


@pytest.mark.parametrize("command", [["plan"], ["measure", "redis/a/x/rep1", "--study"]])
def test_a_source_that_the_bibliography_lacks_is_refused_before_measuring(project, command):
    edit(STUDY, lambda data: data["source"].update(key="jedlicka2042"))
    with pytest.raises(KvstudyError) as error:
        kvstudy(*command, str(STUDY))
    line = STUDY.read_text().splitlines().index("  key: jedlicka2042") + 1
    assert str(error.value) == (
        f"{STUDY}: source.key: {REFERENCES} has no entry 'jedlicka2042'; add one; "
        f"did you mean 'jedlicka2024'? (line {line})"
    )


def test_what_the_text_cites_must_be_there(project):
    shutil.copytree(ROOT / "report" / "text", "report/text")
    check_citations(STUDY, load_study(STUDY))
    text = Path("report/text/rules.md.j2")
    text.write_text("Mail a@b.org.\nSee [@smyth2005; -@smyth2004, p. 3].\n")
    assert _refused() == (
        f"{text}:2: {REFERENCES} has no entry 'smyth2005'; add one; did you mean 'smyth2004'?"
    )


def test_what_pandoc_cannot_read_is_refused_with_its_line(project):
    before = REFERENCES.read_text()
    REFERENCES.write_text(f"{before}\n@book{{x, title = {{x}} year = 2020}}\n")
    line = len(before.splitlines()) + 2
    assert _refused().startswith(f"{REFERENCES}:{line}: cannot be read by pandoc: unexpected")
