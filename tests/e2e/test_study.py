"""Whole studies from real servers to a PDF whose text is read."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import ratio_of
from kvstudy.analyse.run import find_run
from kvstudy.analyse.tidy.resources import DISTURBING
from kvstudy.documents.report.build import build_pdf
from kvstudy.layout.numbers import significant
from kvstudy.share.trace.chain import Address, chain
from openpyxl import load_workbook

from tests.cell_texts import check_formats
from tests.e2e.pipeline import ROOT, programs_in, snakemake
from tests.formats_support import numbers, numbers_of_pdf, plain, text_of
from tests.project import edit
from tests.unit.languages import check_numbers


@pytest.fixture(scope="module")
def thesis(clone: Path) -> Path:
    """The thesis study at a hundredth, measured twice and natively; returns its results."""
    edit(
        clone / "config/studies/jedlicka2024/study.yaml", lambda study: study.update(repetitions=2)
    )
    snakemake(clone, "scale=0.01", "provider=native")
    assert programs_in(clone) == []
    return clone / "results" / "jedlicka2024-scale0.01"


def test_redis_and_memcached_are_measured(thesis):
    cells = pd.read_csv(thesis / "cells.csv", keep_default_na=False)
    status = cells.groupby("store").status.unique().map(list).to_dict()
    assert status == {
        "redis": ["measured"],
        "memcached": ["measured"],
        "riak": ["not measured"],
        "aerospike": ["not measured"],
        # The noise floor and the client ceiling.
        "redis-again": ["measured"],
        "client-ceiling": ["measured"],
    }
    assert (cells[cells.status == "measured"].invalid == "").all()
    assert (cells[cells.status == "not measured"].reason != "").all()


def test_every_run_did_all_its_operations_on_all_its_records(thesis):
    values = pd.read_csv(thesis / "measurements.csv").query("operation == 'overall'")
    done = values[values.metric == "operations"].groupby(["workload", "phase"]).value.unique()
    assert done["a", "run"].tolist() == [10_000]
    assert done["a", "load"].tolist() == [1_000]
    # A million at full size is ten thousand here.
    assert sorted(done["insert", "load"]) == [1_000, 10_000]
    assert (values[values.metric == "failed"].value == 0).all()


def test_a_cell_keeps_all_that_is_needed_to_judge_it(thesis):
    cell = thesis / "raw/redis/a/r1000_o10000_t4/rep1"
    names = {path.name for path in cell.iterdir()}
    assert names >= {"load.INSERT.hdr", "run.READ.hdr", "run.UPDATE.hdr", "server.log"}
    manifest = json.loads((cell / "manifest.json").read_text())
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["server"]["version"])
    assert any(name.startswith("core-0.17.0") for name in manifest["client"]["jars"])
    assert "[READ: Count=" in (cell / "run.err").read_text()
    assert {"load.gc.log", "run.gc.log", "processes.csv", "machine.csv"} <= names
    check = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=cell)
    assert check.returncode == 0


def kvstudy(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["kvstudy", *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
    return done


@pytest.fixture(scope="module")
def archive(thesis: Path, clone: Path) -> Path:
    """The finished run as one file."""
    for name in ("CITATION.cff", "LICENSE", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, clone)
    kvstudy(clone, "archive", thesis.name)
    return clone / f"{thesis.name}.zip"


def test_an_archive_holds_what_a_reviewer_asks(archive, clone):
    """Checksums, plan, the order and times of real cells, and every number again."""
    done = kvstudy(clone, "verify", archive.name, "--output", "page.md")
    assert "measured one at a time, in the planned random order" in done.stdout
    assert "36 of 56 planned cells are measured" in done.stdout
    assert "with numbers (tidy data, analysis, tables" in done.stdout
    assert "**All holds.**" in done.stdout
    assert (clone / "page.md").read_text() == done.stdout
    # Of minutes without a word nobody knows whether they end.
    assert re.search(r"^making every number again: \d+ of \d+ steps", done.stderr, re.M)


def test_the_same_data_makes_a_czech_report(clone, thesis):
    english = clone / "report" / f"{thesis.name}.pdf"
    before = english.read_bytes(), (thesis / "cells.csv").stat().st_mtime_ns
    target = f"report/{thesis.name}-cs.pdf"
    printed = snakemake(clone, "scale=0.01", "provider=native", "language=cs", target=target)
    assert "measure_" not in printed
    assert before == (english.read_bytes(), (thesis / "cells.csv").stat().st_mtime_ns)
    words = " ".join(text_of(clone / target).split())
    for said in ("Tvrzení zdroje", "Tabulka 2:", "Obrázek 2:", "Literatura", "kops/s"):
        assert said in words
    order = r"Podle geometrického průměru propustnosti je pořadí \w+ \(\d+,\d+ kops/s\)"
    assert re.search(order, words)
    assert "??" not in words
    texts = [thesis / part / f"{thesis.name}.md" for part in ("report", "cs/report")]
    check_numbers(*(text.read_text() for text in texts), "cs")


def test_the_pdf_tells_what_was_measured(thesis, clone):
    text = text_of(clone / "report" / "jedlicka2024-scale0.01.pdf")
    words = " ".join(text.split())
    # The first page says that this is not the study's own size.
    first = " ".join(text.split("\f")[0].split())
    assert "0.01" in first
    # The published throughput of Redis under workload A, as in the thesis's table 4.2.
    assert re.search(r"4.801\.0", words)
    assert "not measured" in words
    # Nothing of it runs over a margin or lacks a letter.
    assert "warning" not in (thesis / "logs" / "build-pdf.log").read_text()
    assert "no program riak-of-no-machine on this machine" in words
    for number in range(2, 6):
        assert f"Table 4.{number}" in words
    for number in range(1, 15):
        assert f"Figure 4.{number}" in words
    assert "??" not in words


def test_all_formats_have_the_same_numbers(thesis, clone):
    """What is in the page is in the Word file as often, and in the PDF."""
    report = clone / "report"
    page = Counter(numbers(plain(report / "jedlicka2024-scale0.01.html")))
    word = Counter(numbers(plain(report / "jedlicka2024-scale0.01.docx")))
    assert len(page) > 200
    # The Word file has its contents, with section numbers, in the text.
    sections = {re.sub(r"\.0$", "", f"{a}.{b}") for a in range(1, 12) for b in range(12)}
    more = set(word - page) - sections
    assert not more, f"not on the page, or not as often: {more}"
    # Its first lines, with the date, are no part of the text.
    missing = {number for number in page - word if number not in page_front(report)}
    assert not missing, f"not in the Word file, or not as often: {missing}"
    pdf = numbers_of_pdf(report / "jedlicka2024-scale0.01.pdf")
    assert not set(page) - pdf, f"not in the PDF: {set(page) - pdf}"


def page_front(report: Path) -> list[str]:
    """The numbers of the page before its text."""
    page = (report / "jedlicka2024-scale0.01.html").read_text(encoding="utf-8")
    return numbers(re.sub("<[^>]+>", " ", page[page.index("<header") : page.index("</header")]))


def test_the_first_page_is_one_page(thesis, clone):
    pages = text_of(clone / "report" / "jedlicka2024-scale0.01.pdf").split("\f")
    first = " ".join(pages[0].split())
    assert "Question: Which of four key-value stores" in first
    assert "This study repeats its measurements on another machine." in first
    assert "Contents" in pages[0] + pages[1]


def test_the_pdf_tells_what_one_operation_means(thesis, clone):
    words = " ".join(text_of(clone / "report" / "jedlicka2024-scale0.01.pdf").split())
    assert "They shrink records on Memcached, so later operations" in words
    # Wherever a page ends in it.
    assert re.search(r"Records of Redis keep\b.*?\btheir size \(within 5", words)
    assert "No store answers OK to a read of a key that is not there" in words
    assert re.search(r"Insert HSET 1\.00, ZADD 1\.00", words)
    assert re.search(r"Update, one field cmd_set 1\.00 1.239 → 20\d NOT_FOUND", words)
    assert "Riak KV: not probed no program riak-of-no-machine on this machine" in words
    table = pd.read_csv(thesis / "tables" / "operations.csv").set_index(["store", "step"])
    assert table.loc[("memcached", "read-missing"), "misses"] == 1


def test_numbers_in_the_pdf_are_those_of_the_summary(thesis, clone):
    summary = pd.read_csv(thesis / "summary.csv")
    # Of the inserts, the tables show those of the source's number of records.
    summary = summary[summary["parameters"].str.startswith("r1000_")]
    summary = summary.set_index(["store", "workload", "operation", "metric"])
    # Digits may be grouped by a thin space.
    digits = re.sub(
        r"(?<=\d)[\s\u2009\u202f](?=\d{3}\b)",
        "",
        text_of(clone / "report" / "jedlicka2024-scale0.01.pdf"),
    )
    for store in ("redis", "memcached"):
        for workload in ("a", "b", "c", "insert"):
            mean = summary.loc[(store, workload, "overall", "throughput"), "mean"]
            assert f"{mean:.1f}" in digits, f"{store}/{workload}"


def test_figures_come_as_pdf_svg_png_and_data(thesis, clone):
    figures = clone / "figures" / "jedlicka2024-scale0.01"
    for name in ("throughput", "latency-percentiles-a", "spectrum", "ratios"):
        for form in ("pdf", "svg", "png", "csv"):
            assert (figures / f"{name}.{form}").stat().st_size > 0
    data = pd.read_csv(figures / "throughput.csv")
    assert set(data.store) == {"redis", "riak", "aerospike", "memcached"}


@pytest.mark.parametrize(
    ("name", "mark", "words"), [("thesis", ".", "95 % interval"), ("thesis-czech", ",", "až")]
)
def test_the_example_thesis_has_the_measured_numbers(
    thesis, clone, tmp_path, monkeypatch, name, mark, words
):
    monkeypatch.chdir(clone)
    shutil.copytree(thesis / "export", tmp_path / "export")
    main = tmp_path / "export" / "example" / f"{name}.tex"
    # It fails on undefined references, citations and numbers; lines that are too long are told.
    assert build_pdf(main, main.parent, tmp_path / "thesis.pdf") == []
    text = text_of(tmp_path / "thesis.pdf")
    run = find_run(thesis.name)
    digits = re.sub(r"(?<=\d)[\s\u2009\u202f](?=\d{3}\b)", "", text)
    values = run.analysis.intervals.query("workload == 'a' and metric == 'throughput'")
    for value in values["value"]:
        assert f"{float(f'{value:.3g}'):.0f}" in digits
    (pair,) = run.analysis.pairs.query("workload == 'a'").itertuples()
    assert significant(ratio_of(pair, "redis")[0]).replace(".", mark) in digits
    assert words in " ".join(text.split())
    assert "not measured" in text


def test_every_exported_table_goes_into_a_document(thesis, tmp_path):
    shutil.copytree(thesis / "export", tmp_path / "export")
    packages: dict[str, None] = {}
    body = []
    for path in sorted((tmp_path / "export" / "tables").glob("*.tex")):
        first, *_ = text = path.read_text().splitlines()
        packages |= dict.fromkeys(re.search(r"usepackage\{(.*)\}", first)[1].split(", "))
        table = rf"\input{{export/tables/{path.stem}}}"
        if not any("begin{longtable}" in line for line in text):
            table = rf"\begin{{table}}\caption{{{path.stem}}}\centering{table}\end{{table}}"
        body += [table, r"\clearpage"]
    main = tmp_path / "tables.tex"
    lines = [r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage[czech]{babel}"]
    # Those over several pages cannot be scaled; the example has narrower lines.
    lines += [r"\usepackage[a4paper, textwidth=16cm]{geometry}"]
    lines += [rf"\usepackage{{{', '.join(packages)}}}\begin{{document}}", *body]
    main.write_text("\n".join([*lines, r"\end{document}"]))
    assert build_pdf(main, tmp_path / "build", tmp_path / "tables.pdf") == []


def test_the_commands_of_every_cell_are_told(thesis):
    text = (thesis / "commands.txt").read_text()
    cells = pd.read_csv(thesis / "cells.csv")
    names = cells.store + "/" + cells.workload + "/" + cells.parameters
    names += "/rep" + cells.repetition.astype(str)
    matches = re.findall(r"^# \d+\. (\S+)$", text, re.M)
    assert sorted(matches) == sorted(names[cells.status == "measured"])


def test_the_notebook_was_run_and_exported(thesis, clone):
    page = (clone / "report" / "jedlicka2024-scale0.01-analysis.html").read_text()
    assert 'class="dataframe' in page
    assert "<img" in page or "<svg" in page
    assert "Traceback" not in page


def test_the_notebook_goes_on_in_jupyter(thesis):
    book = json.loads((thesis / "analysis.ipynb").read_text())
    assert [cell for cell in book["cells"] if cell.get("outputs")]


def test_the_workbook_has_the_means_as_formulas_over_the_runs(thesis):
    path = thesis / "jedlicka2024-scale0.01.xlsx"
    summary = pd.read_csv(thesis / "summary.csv").query("metric == 'throughput'")
    books = [load_workbook(path, data_only=carried) for carried in (True, False)]
    rows = [book["Averages and spread"].values for book in books]
    head = next(rows[0])
    next(rows[1])
    store, quantity, mean = map(head.index, ("Store", "Quantity", "Mean"))
    result = [
        (values[mean], formulas[mean])
        for values, formulas in zip(*rows, strict=True)
        if (values[store], values[quantity]) == ("Redis", "Throughput")
    ]
    expected = summary[summary["store"] == "redis"]["geometric"]
    assert sorted(value for value, _ in result) == pytest.approx(sorted(expected))
    assert all(formula.startswith("=GEOMEAN('Redis'!") for _, formula in result)


def test_every_table_shows_the_same_in_each_format(thesis):
    assert "grid" in check_formats(thesis / "tables", thesis / "jedlicka2024-scale0.01.xlsx")


def test_nothing_is_left_to_do(thesis, clone):
    before = {path: path.stat().st_mtime_ns for path in thesis.rglob("*")}
    assert "Nothing to be done" in snakemake(clone, "scale=0.01", "provider=native")
    assert before == {path: path.stat().st_mtime_ns for path in thesis.rglob("*")}


def test_every_value_of_a_workload_leads_to_its_lines(thesis, clone, monkeypatch):
    monkeypatch.chdir(clone)
    run = find_run(thesis.name)
    rows = run.summary.query("store == 'redis' and workload == 'a'")
    assert len(rows) > 25
    for row in rows.itertuples():
        address = Address(row.store, row.workload, row.parameters, row.operation, row.metric)
        result = chain(run, address)
        assert result.problems == []
        counts = [each.counts for each in result.repetitions]
        # A short run may have too little CPU time to show what disturbed it.
        assert counts == [True] * 2 or (row.metric in DISTURBING and sum(counts) == row.n)
        assert all(value.sources for each in result.repetitions for value in each.made_of)


def test_provenance_has_the_checksums_of_the_cells(thesis):
    data = json.loads((thesis / "provenance.json").read_text())
    cells = data["tables"]["ratios"]["cells"]
    assert "redis-again/a/r1000_o10000_t4/rep1" in cells
    for path in cells:
        sums = thesis / "raw" / path / "SHA256SUMS"
        present = hashlib.sha256(sums.read_bytes()).hexdigest() if sums.is_file() else ""
        assert data["cells"][path]["sums"] == present
    assert data["figures"]["transcript-run"]["cells"] == ["redis/a/r1000_o10000_t4/rep1"]


def test_snakemakes_own_report_has_captions_and_needs_no_network(thesis, clone, tmp_path):
    page = tmp_path / "report.html"
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    snakemake(clone, "scale=0.01", "provider=native", "--report", str(page), **nowhere)
    text = page.read_text()
    assert "Which of four key-value stores has the highest" in text
    assert "Pairwise throughput ratios" in text
    assert "kvstudy trace table:NAME" in text
    assert "no measurement of the stores" in text


def derived(folder: Path) -> dict[str, str]:
    """The sha256 of all that is made of raw logs in ``folder``, by its path."""
    result = {}
    for place in ("results", "figures", "report"):
        for path in sorted((folder / place).rglob("*")):
            parts = path.relative_to(folder / place).parts
            # Raw facts, what a step says, and TeX's own notes, which have paths in them.
            if {"raw", "probes", "gaps", "logs", "build"} & set(parts) or not path.is_file():
                continue
            result[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return result


def test_an_archive_is_built_again_to_the_same_bytes(thesis, clone, archive, tmp_path):
    """Elsewhere, with another time zone, locale, order of hashes and number of cores."""
    other = tmp_path / "another place"
    rebuild = ("rebuild", str(archive), "--output", str(other))
    done = kvstudy(
        tmp_path,
        *rebuild,
        **{"TZ": "Pacific/Auckland", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "77"},
        **{"KVSTUDY_STATE": str(tmp_path / "state"), "HOME": str(tmp_path)},
    )
    assert done.stdout.splitlines()[-1] == str(other / "report" / f"{thesis.name}.pdf")
    assert "measure_" not in done.stdout + done.stderr
    here, present = derived(clone), derived(other)
    run = f"/{thesis.name}"
    present = {name: digest for name, digest in present.items() if run in name}
    # The Czech report of another test is not made here.
    czech = re.compile(r"/cs/|-cs\.")
    here = {name: of for name, of in here.items() if run in name and not czech.search(name)}
    assert here.keys() == present.keys()
    assert len(here) > 100
    assert [name for name in here if here[name] != present[name]] == []
    again = subprocess.run(["kvstudy", *rebuild], capture_output=True, text=True)
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_the_smoke_study_needs_no_server_and_takes_an_official_distribution(clone, tmp_path):
    """A folder that is laid out as YCSB's distribution; BasicDB is in YCSB's own core."""
    library = tmp_path / "ycsb-0.17.0" / "lib"
    library.mkdir(parents=True)
    for jar in (clone / "workflow/bindings/target/lib").glob("*.jar"):
        if jar.name.startswith(("core-", "htrace-", "jackson-")):
            shutil.copy(jar, library)
    path = f"{Path(shutil.which('snakemake')).parent}:/usr/bin:/bin"
    environment = {"PATH": path, "YCSB_HOME": str(library.parent)}
    snakemake(clone, "study=smoke", target="report/smoke.pdf", **environment)
    manifest = json.loads(next(clone.glob("results/smoke/raw/**/manifest.json")).read_text())
    assert manifest["client"]["kind"] == "ycsb.home"
    assert manifest["client"]["db"] == "site.ycsb.BasicDB"
    words = " ".join(text_of(clone / "report" / "smoke.pdf").split())
    assert "YCSB basic" in words
    # It stores nothing and says OK to everything.
    assert "A read of a key that is not there counts as OK on YCSB basic" in words
