"""Faults between raw logs and report: files damaged, lost or edited, no programs, odd texts."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from kvstudy.errors import DataError, EnvironmentFault, KvstudyError
from kvstudy.study.raw import write_sums

from tests.faults.cells import CELL, OTHER, RAW, check_next, check_numbers, path_without
from tests.faults.finished import contents
from tests.faults.scene import MARK, Scene, processes_of, says
from tests.workflow.conftest import Workflow, jobs

STUDY = "config/studies/small/study.yaml"
RUN = Path("results/small")


# --- raw logs that are not as they were measured


@pytest.fixture
def two(scene: Scene) -> Scene:
    """Two cells are measured; the second one is harmed by no fault."""
    for cell in (CELL, OTHER):
        answer = scene.measure(cell)
        assert answer.code == 0, answer.text
    scene.guard(RAW / OTHER)
    return scene


def changed(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda cell: (cell / name).write_bytes(change((cell / name).read_bytes())) and None


def lost(name: str) -> Callable[[Path], None]:
    return lambda cell: (cell / name).unlink()


def doubled(content: bytes) -> bytes:
    return content.replace(b"4000.0", b"8000.0")


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def a_folder(name: str) -> Callable[[Path], None]:
    def change(cell: Path) -> None:
        (cell / name).unlink()
        (cell / name).mkdir()

    return change


# Each is noticed by the checksums: a failed cell.
EDITED: list[tuple[str, Callable[[Path], None], str]] = [
    ("a log, faster", changed("run.out", doubled), "differs from its checksum"),
    ("a log, a space more", changed("run.out", lambda text: text + b" "), "differs from its"),
    ("a log, cut off", changed("run.out", half), "differs from its checksum"),
    ("a log, empty", changed("load.out", lambda text: b""), "differs from its checksum"),
    ("a log, lost", lost("run.out"), r"run\.out"),
    ("a log, a folder", a_folder("run.out"), r"run\.out"),
    ("the status, cut off", changed("run.err", lambda text: text + b"x"), "differs from its"),
    ("the manifest, edited", changed("manifest.json", lambda t: t + b" "), "differs from its"),
    ("the manifest, lost", lost("manifest.json"), r"manifest\.json"),
    ("samples, lost", lost("processes.csv"), r"processes\.csv"),
]
LISTS: list[tuple[str, bytes]] = [
    ("empty", b""),
    ("of one file", b"0" * 64 + b"  server.log\n"),
    ("of noise", b"\xff\xfe\x00"),
    ("of words", b"all is well\n"),
]
# Each has checksums that fit, as a client or a disk could have left it: a failed cell.
WRITTEN_SO: list[tuple[str, Callable[[Path], None]]] = [
    ("a log of noise", changed("run.out", lambda text: b"\xff\xfe\x00")),
    ("a log of two runs", changed("run.out", lambda text: text + text)),
    ("a log cut off", changed("run.out", half)),
    ("a latency below 0", changed("run.out", lambda t: re.sub(rb"(Min\S+) \d+", rb"\1 -5", t))),
    ("an endless rate", changed("run.out", lambda t: t.replace(b"4000.0", b"Infinity"))),
    ("a status of noise", changed("run.err", lambda text: b"\xff 1 sec: 5 operations; \xfe\n")),
    (
        "a time that is none",
        changed("run.err", lambda text: b"2026-13-41 25:61:61:000 1 sec: 5 operations; \n"),
    ),
    (
        "a histogram of noise",
        lambda cell: (cell / "run.READ.hdr").write_bytes(b"\xff\x00") and None,
    ),
    ("a histogram cut off", lambda cell: (cell / "run.READ.hdr").write_text("HISTFAA") and None),
    ("no manifest", lost("manifest.json")),
    ("a manifest of noise", changed("manifest.json", lambda text: b"\xff\xfe")),
    ("a manifest that is no JSON", changed("manifest.json", half)),
    ("a manifest as a list", changed("manifest.json", lambda text: b"[]")),
    ("a manifest of nothing", changed("manifest.json", lambda text: b"{}")),
    ("no results", lost("run.out")),
]
SAMPLES = ["processes.csv", "machine.csv"]


@pytest.mark.parametrize(("name", "harm", "message"), EDITED, ids=[row[0] for row in EDITED])
def test_an_edited_cell(two, name, harm, message):
    harm(RAW / CELL)
    refused(two, message)


@pytest.mark.parametrize(("name", "content"), LISTS, ids=[row[0] for row in LISTS])
def test_a_list_of_checksums(two, name, content):
    (RAW / CELL / "SHA256SUMS").write_bytes(content)
    changed("run.out", doubled)(RAW / CELL)
    refused(two, "SHA256SUMS")


def refused(scene, message: str) -> None:
    """The cell failed; its reason is told, and the other one has its numbers."""
    files = contents(Path(), f"{RAW / CELL}/*")
    answer = scene.kvstudy("parse", scene.study.parent.name)
    says(answer, rf"(?s){CELL}.*({message})")
    row = scene.results().loc["pretend/a/1"]
    assert row.status == "failed"
    assert re.search(message, row.reason)
    # Nothing is lost: somebody may want to know what happened to it.
    (kept,) = (RUN / "failed" / CELL).iterdir()
    after = contents(Path(), f"{kept}/*")
    assert {Path(name).name for name in files} < {Path(name).name for name in after}
    assert set(files.values()) < set(after.values())
    check_numbers(scene, OTHER)
    check_next(scene)


@pytest.mark.parametrize(("name", "harm"), WRITTEN_SO, ids=[row[0] for row in WRITTEN_SO])
def test_a_cell_that_cannot_be_read(two, name, harm):
    harm(RAW / CELL)
    (RAW / CELL / "SHA256SUMS").unlink()
    write_sums(RAW / CELL)
    refused(two, "")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("content", [b"", b"a,b\n1,x\n", b"\xff\xfe\x00", b"second\nNaN\n"])
def test_samples_that_cannot_be_read(two, name, content):
    """They are next to the measurement, but no traceback follows."""
    (RAW / CELL / name).write_bytes(content)
    (RAW / CELL / "SHA256SUMS").unlink()
    write_sums(RAW / CELL)
    answer = two.kvstudy("parse", two.study.parent.name)
    says(answer, CELL if answer.code else "")
    check_numbers(two, OTHER)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"reason": 7}'])
@pytest.mark.parametrize("kind", ["failed", "gap"])
def test_a_reason_that_cannot_be_read(two, kind, content):
    other = "pretend/c/r1000_o2000_t2/rep1"
    path = RUN / "failed" / other / "20260101T000000.000000" / "failure.json"
    if kind == "gap":
        path = RUN / "gaps" / "unbound.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    answer = two.kvstudy("parse", two.study.parent.name)
    says(answer, f"{re.escape(str(path))}" if answer.code else "")
    path.unlink()
    check_numbers(two, CELL, OTHER)


# --- results that are lost or edited


LOST = [
    *("cells.csv", "measurements.csv", "summary.csv", "histograms.csv", "environment.json"),
    *("analysis/intervals.csv", "tables/workload-a.tex", "provenance.json", "small.xlsx"),
    *("commands.txt", "report/small.md"),
]
FIGURES = ["throughput.pdf", "throughput.csv"]


@pytest.mark.parametrize(
    "name",
    [
        *(f"results/small/{name}" for name in LOST),
        *(f"figures/small/{name}" for name in FIGURES),
        *(f"report/small.{form}" for form in ("pdf", "html", "docx")),
        "report/small-analysis.html",
    ],
)
def test_a_lost_file_is_made_again(copy, name, record_property):
    raw = contents(copy.folder, "results/small/raw/**/*")
    (copy.folder / name).unlink()
    done = copy.snakemake("-n")
    assert done.returncode == 0, done.stderr
    assert "Nothing to be done" not in done.stdout + done.stderr
    assert "measure" not in jobs(done)
    finish(copy, raw, record_property)


@pytest.mark.parametrize("name", ["cells.csv", "summary.csv"])
def test_the_same_numbers_come_again(copy, name, record_property):
    raw = contents(copy.folder, "results/small/raw/**/*")
    before = contents(copy.folder, "results/small/*.csv", "results/small/tables/*")
    (copy.folder / "results/small" / name).unlink()
    done = run(copy)
    assert done.returncode == 0, done.stderr
    assert contents(copy.folder, "results/small/*.csv", "results/small/tables/*") == before
    finish(copy, raw, record_property)


def test_an_edited_summary_is_not_taken(copy, record_property):
    """It is made again, or refused by name; no table shows the number."""
    raw = contents(copy.folder, "results/small/raw/**/*")
    path = copy.folder / "results/small/summary.csv"
    path.write_bytes(path.read_bytes().replace(b"4000.0", b"4321.0"))
    done = run(copy)
    assert "Traceback" not in done.stdout + done.stderr
    if done.returncode:
        assert "summary.csv" in done.stdout + done.stderr
    else:
        assert b"4321" not in path.read_bytes()
    tables = contents(copy.folder, "results/small/tables/*")
    assert not [name for name, text in tables.items() if b"4.321" in text or b"4321" in text]
    finish(copy, raw, record_property)


def finish(workflow: Workflow, raw: dict, record_property) -> None:
    left = processes_of(workflow.folder)
    after = contents(workflow.folder, "results/small/raw/**/*")
    record_property("left", len(left))
    record_property("lost", sum(after.get(name) != text for name, text in raw.items()))
    Scene.end(left)
    assert left == []
    assert after == raw


def run(workflow: Workflow, *arguments: str, **environment: str):
    return workflow.snakemake(*arguments, **{MARK: str(workflow.folder)} | environment)


# --- what the report is built with


def without(path: str) -> Callable[[Path], object]:
    return lambda folder: (folder / path).unlink()


def holding(path: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / path).write_bytes(content)


# What a program of TeX or pandoc refuses is EnvironmentFault, what kvstudy misses DataError.
BUILD: list[tuple[str, str, Callable[[Path], object], str, type[KvstudyError]]] = [
    ("no text", "html", without("results/small/report/small.md"), r"small\.md", DataError),
    ("no text", "docx", without("results/small/report/small.md"), r"small\.md", DataError),
    ("no text", "pdf", without("results/small/report/small.tex"), r"small\.tex", DataError),
    (
        "a command that is none",
        "pdf",
        holding("results/small/report/body.tex", b"\\nonsense"),
        "nonsense|[Uu]ndefined",
        EnvironmentFault,
    ),
    ("no figure", "html", without("figures/small/throughput.svg"), "throughput", DataError),
    ("no figure", "pdf", without("figures/small/throughput.pdf"), "throughput", DataError),
    ("no figure", "docx", without("figures/small/throughput.png"), "throughput", EnvironmentFault),
    (
        "a figure of noise",
        "pdf",
        holding("figures/small/throughput.pdf", b"\xff\xfe"),
        "the PDF was not built",
        EnvironmentFault,
    ),
    (
        "a chart that ends",
        "html",
        holding("figures/small/throughput.vl.json", b'{"data": {}}'),
        r"throughput\.vl\.json",
        DataError,
    ),
    ("no table", "html", without("results/small/tables/machine.html"), "machine", EnvironmentFault),
    ("no table", "docx", without("results/small/tables/machine.html"), "machine", EnvironmentFault),
    ("no table", "pdf", without("results/small/tables/machine.tex"), "machine", EnvironmentFault),
    (
        "no provenance",
        "html",
        holding("results/small/provenance.json", b"{"),
        "provenance",
        DataError,
    ),
]
PROGRAMS = [("pandoc", "html"), ("pandoc", "docx"), ("latexmk", "pdf"), ("pdflatex", "pdf")]


def build(workflow: Workflow, form: str, path: str, monkeypatch):
    monkeypatch.chdir(workflow.folder)
    monkeypatch.setenv("PATH", path)
    scene = Scene(workflow.folder, monkeypatch)
    answer = scene.kvstudy(f"build-{form}", "small")
    assert scene.left() == []
    return answer


@pytest.mark.parametrize(
    ("name", "form", "harm", "message", "kind"), BUILD, ids=[f"{row[1]}: {row[0]}" for row in BUILD]
)
def test_what_is_built(copy, monkeypatch, name, form, harm, message, kind):
    (copy.folder / f"report/small.{form}").unlink()
    harm(copy.folder)
    answer = build(copy, form, os.environ["PATH"], monkeypatch)
    says(answer, message)
    assert answer.code == kind.status, answer.text
    assert not (copy.folder / f"report/small.{form}").exists()


@pytest.mark.parametrize(("program", "form"), PROGRAMS)
def test_a_missing_program(copy, monkeypatch, tmp_path, program, form):
    (copy.folder / f"report/small.{form}").unlink()
    answer = build(copy, form, path_without(tmp_path / "bin", program), monkeypatch)
    says(answer, f"{program}.*|make setup|install")
    assert answer.code == EnvironmentFault.status, answer.text
    monkeypatch.undo()
    answer = build(copy, form, os.environ["PATH"], monkeypatch)
    assert answer.code == 0, answer.text


@pytest.mark.parametrize("form", ["pdf", "html", "docx"])
def test_a_place_that_is_none(copy, monkeypatch, form):
    shutil.rmtree(copy.folder / "report")
    (copy.folder / "report").write_text("")
    answer = build(copy, form, os.environ["PATH"], monkeypatch)
    says(answer, "report")
    assert answer.code == EnvironmentFault.status, answer.text


# --- texts that a user may write


TEXTS = {
    "emoji, Hebrew and Chinese": "Stores 🚀 שלום 键值 ¿?",
    "markup of three languages": "<b>a</b> $x_1$ \\input{/etc/passwd} {{ 7*7 }} & % # ~ ^ | *c*",
    "one word without end": "x" * 400,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_odd_texts(copy, text, record_property):
    raw = contents(copy.folder, "results/small/raw/**/*")
    copy.edit(STUDY, lambda study: study.update(title=text, question=text))
    copy.edit(STUDY, lambda study: study["figures"][0].update(caption=text))
    done = run(copy, *(f"report/small.{form}" for form in ("pdf", "html", "docx")))
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert done.returncode == 0, said
    assert (copy.folder / "report/small.pdf").read_bytes()[:4] == b"%PDF"
    finish(copy, raw, record_property)
