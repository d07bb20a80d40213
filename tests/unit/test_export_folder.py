"""The folder for a thesis: what is in it, and that it is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.findings.pairs import PAIRS
from kvstudy.analyse.findings.repetitions import INTERVALS
from kvstudy.analyse.run import Run, find_run
from kvstudy.analyse.tidy.summary import summarise
from kvstudy.documents.export.bibliography import logs_digest
from kvstudy.documents.export.folder import FORMS, ready_for_input
from kvstudy.documents.export.folder import export as export_run
from kvstudy.errors import KvstudyError
from kvstudy.exhibits.tables.grid import COLUMNS as GRID

from . import small_results as small

ROOT = Path(__file__).parents[2]
RESULTS = Path("results/small")
BIBLIOGRAPHY = """\
@book{small,
  title = {Small {50} \\%},
}

@inproceedings{cooper2010, title = {YCSB},
}
"""
TITLE = r"Redis_%&#\<K>{V}$~^"


@pytest.fixture
def run(project: Path) -> Run:
    """The small study with made-up values; riak is not measured."""
    shutil.copytree(ROOT / "report/templates/export", "report/templates/export")
    path = Path("config/studies/small/study.yaml")
    path.parent.mkdir()
    content = small.study().model_dump(mode="json", exclude_unset=True)
    # Of a kind that every report has by itself.
    content["tables"] = [table for table in content["tables"] if table["kind"] != "grid"]
    content["title"] = TITLE
    path.write_text(yaml.safe_dump(content))
    (RESULTS / "analysis").mkdir(parents=True)
    of = find_run("small")
    study = of.study
    for folder in (of.tables, of.figures):
        folder.mkdir(parents=True)
    for table in study.tables:
        (of.tables / f"{table.name}.tex").write_text("\\toprule 1-2\n")
        (of.tables / f"{table.name}.csv").write_text(",".join(GRID) + "\n")
    for figure in study.drawn_figures:
        for form in FORMS:
            (of.figures / f"{figure.name}.{form}").write_text(form)
    plan = small.cells()
    plan["started"] = plan["status"].map({"measured": "2026-11-21T23:50:00+00:00"}).fillna("")
    plan.loc[0, "started"] = "2026-11-20T23:50:00+00:00"
    plan.to_csv(RESULTS / "cells.csv", index=False)
    names = study.store_names, study.workload_names
    summarise(small.measurements(plan), plan, *names).to_csv(RESULTS / "summary.csv")
    for name, columns in (("intervals", INTERVALS.columns), ("pairs", PAIRS.columns)):
        (RESULTS / f"analysis/{name}.csv").write_text(",".join(columns) + "\n")
    components = [{"component": "CPU", "name": "Fast & hot"}]
    stores = {"redis": {"versions": ["7.0.15"]}, "riak": {"versions": []}}
    known = {"components": components, "stores": stores}
    (RESULTS / "environment.json").write_text(json.dumps(known))
    Path("report/references.bib").write_text(BIBLIOGRAPHY)
    return of


def export() -> Path:
    """The folder, made again from the files that are there."""
    return export_run(find_run("small"), "en")


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_everything_is_there_and_the_same_every_time(run):
    first = files(export())
    study = run.study
    names = {f"tables/{table.name}.{form}" for table in study.tables for form in ("tex", "csv")}
    names |= {f"figures/{each.name}.{form}" for each in study.drawn_figures for form in FORMS}
    names |= {"numbers.tex", "references.bib", "README.txt"}
    assert set(first) == names | {"example/thesis.tex", "example/thesis-czech.tex"}
    (RESULTS / "export/mine.txt").write_text("of an older run")
    assert files(export()) == first
    assert [path.name for path in RESULTS.glob(".export*")] == []
    assert TITLE in first["README.txt"].decode()


def test_the_examples_speak_of_what_was_measured(run):
    export()
    text = (RESULTS / "export/example/thesis.tex").read_text()
    # An interval belongs to the geometric mean.
    for store in ("redis", "memcached"):
        assert rf"\kvgeo{{{store}}}{{a}}{{throughput}}" in text
        assert rf"\kvci{{{store}}}{{a}}{{throughput}}" in text
    assert r"\kvratioci{redis}{memcached}{a}" in text
    assert "riak" not in text
    assert r"\input{../tables/one}" in text
    assert r"\includegraphics[width=\linewidth]{../figures/speed}" in text
    assert numbers_of("thesis") == numbers_of("thesis-czech")
    # One run has no interval.
    summary = RESULTS / "summary.csv"
    lines = [line.replace(",2,", ",1,", 1) for line in summary.read_text().splitlines()]
    summary.write_text("\n".join(lines) + "\n")
    export()
    text = (RESULTS / "export/example/thesis.tex").read_text()
    assert not re.search("kvci|kvgeo|kvratioci", text)
    assert numbers_of("thesis") == numbers_of("thesis-czech")


def numbers_of(example: str) -> list[str]:
    """The macros of numbers in an example, in their order."""
    text = (RESULTS / f"export/example/{example}.tex").read_text(encoding="utf-8")
    return re.findall(r"\\kv\w*(?:\[\w+\])?(?:\{\w+\}){3}", text)


def test_the_bibliography_names_study_software_and_source(run):
    cell = run.raw / "redis/a/r10_o20_t1/rep1"
    cell.mkdir(parents=True)
    (cell / "SHA256SUMS").write_text("0  run.out\n")
    export()
    text = (RESULTS / "export/references.bib").read_text()
    escaped = (
        r"Redis\_\%\&\#\textbackslash{}\textless{}K\textgreater{}"
        r"\textbraceleft{}V\textbraceright{}\$\textasciitilde{}\textasciicircum{}"
    )
    assert f"  title = {{{{{escaped}}}}},\n" in text
    assert r"Measured 2026-11-20 to 2026-11-21 on Fast \& hot" in text
    assert logs_digest(run.raw) in text
    assert "Software, version 7.0.15" in text
    assert r"\url{https://redis.io}" in text
    assert BIBLIOGRAPHY.split("\n\n")[0] in text
    assert [line.split(",")[0] for line in text.splitlines() if line.startswith("@")] == [
        "@misc{measured-small",
        "@misc{software-kvstudy",
        "@misc{software-redis",
        "@misc{software-riak",
        "@misc{software-memcached",
        "@book{small",
        "@inproceedings{cooper2010",
    ]


def test_the_digest_of_the_logs_is_what_the_readme_says(tmp_path):
    for name in ("redis-again/a", "redis/a", "redis/b"):
        cell = tmp_path / name / "r1_o1_t1" / "rep1"
        cell.mkdir(parents=True)
        (cell / "SHA256SUMS").write_text(name)
    command = "LC_ALL=C sh -c 'sha256sum */*/*/rep*/SHA256SUMS' | sha256sum"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split()[0] == logs_digest(tmp_path)
    assert logs_digest(tmp_path / "nothing") == ""
    assert logs_digest(tmp_path) != hashlib.sha256().hexdigest()


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("results/small/tables/one.tex", "no such file; write it with 'kvstudy tabulate'"),
        ("figures/small/speed.png", "no such file; write it with 'kvstudy draw'"),
        ("results/small/environment.json", "cannot be read .* 'kvstudy parse'"),
        (
            "results/small/analysis/intervals.csv",
            "no such file; it is written by `kvstudy analyse`",
        ),
        ("report/references.bib", "no such file"),
    ],
)
def test_what_is_missing_is_named_and_the_old_folder_stays(run, missing, message):
    export()
    before = files(RESULTS / "export")
    Path(missing).unlink()
    with pytest.raises(KvstudyError, match=f"{re.escape(missing)}: {message}"):
        export()
    assert files(RESULTS / "export") == before


def test_a_source_that_no_bibliography_has_is_refused(run):
    Path("report/references.bib").write_text("@book{other,\n}\n")
    with pytest.raises(KvstudyError, match="has no entry 'small'; add one; known are: other"):
        export()


def test_an_entry_in_one_line_is_taken_with_the_abbreviations(run):
    line = "@article{small, author={O, S.}, title={On {S}}, journal=j, year=2020}"
    Path("report/references.bib").write_text(
        f'@string{{j = "J"}} {line} @misc{{cooper2010, title="Y"}}'
    )
    export()
    text = (RESULTS / "export/references.bib").read_text()
    assert text.endswith(f'@string{{j = "J"}}\n\n{line}\n\n@misc{{cooper2010, title="Y"}}\n')


def test_a_table_says_what_it_needs():
    text = ready_for_input("\\toprule \\textcolor{red}{\\textmu} @{}l\n", "x", "Two\nlines %")
    assert text.startswith("% Needs: \\usepackage{booktabs, graphicx, xcolor, textcomp}\n")
    assert "% Caption of the report: Two lines %\n" in text
    assert r"\resizebox{\linewidth}{!}{\begin{minipage}{16cm}" in text
