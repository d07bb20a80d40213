"""Faults of an archive: broken on its way, packed by somebody else, or forged."""

from __future__ import annotations

import contextlib
import json
import stat
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from kvstudy.errors import DataError, InputError
from kvstudy.share.archive.checks import check_packed
from kvstudy.share.archive.unpack import extract, opened

from tests.faults.finished import scene_of
from tests.faults.scene import at_most, says
from tests.unit.packed_run import Files, as_new, repacked, sums_of

# A report is built again in one of the tests.
LONG = 600
GOOD = Path("small.zip")
BAD = Path("bad.zip")
CELL = "results/small/raw/pretend/a/r1000_o2000_t2/rep1"
STUDY = "config/studies/small/study.yaml"
FACTS = "archive.json"


# --- what happens to the file itself


def flipped(name: str) -> Callable[[bytes], bytes]:
    """One byte in the middle of an entry's content is another one."""

    def change(content: bytes) -> bytes:
        with zipfile.ZipFile(GOOD) as file:
            entry = file.getinfo(name)
        middle = entry.header_offset + 30 + len(name) + entry.compress_size // 2
        return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]

    return change


def with_entry(name: str, text: str = "evil", link: bool = False) -> Callable[[bytes], bytes]:
    """A further entry of that name."""

    def change(content: bytes) -> bytes:
        BAD.write_bytes(content)
        entry = zipfile.ZipInfo(name)
        entry.external_attr = ((stat.S_IFLNK if link else stat.S_IFREG) | 0o777) << 16
        with pytest.MonkeyPatch.context() as patch, zipfile.ZipFile(BAD, "a") as file:
            patch.setattr(warnings, "warn", lambda *given, **more: None)
            file.writestr(entry, text)
        return BAD.read_bytes()

    return change


def central(offset: int, value: bytes) -> Callable[[bytes], bytes]:
    """Other bytes in the record of a log in the zip's directory, which is its end."""

    def change(content: bytes) -> bytes:
        at = content.rindex(f"{CELL}/run.out".encode()) - 46 + offset
        return content[:at] + value + content[at + len(value) :]

    return change


OF_THE_FILE: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("nothing", lambda content: b"", "no zip file, or cut off"),
    ("one byte", lambda content: b"P", "no zip file, or cut off"),
    ("a page of the web", lambda content: b"<html>404</html>", "no zip file, or cut off"),
    ("noise", lambda content: bytes(range(256)) * 99, "no zip file, or cut off"),
    ("a tenth of it", lambda content: content[: len(content) // 10], "no zip file, or cut off"),
    ("half of it", lambda content: content[: len(content) // 2], "no zip file, or cut off"),
    ("all but the end", lambda content: content[:-9], "no zip file, or cut off"),
    ("without its begin", lambda content: content[1000:], r"bad\.zip|FAULT|damaged"),
    ("a flipped log", flipped(f"{CELL}/run.out"), r"FAULT: results\S+run\.out"),
    ("a flipped list", flipped("SHA256SUMS"), r"FAULT: SHA256SUMS"),
    ("flipped facts", flipped(FACTS), r"archive\.json"),
    ("locked", central(8, b"\x01\x00"), r"FAULT|damaged"),
    ("packed in another way", central(10, b"\x63\x00"), r"FAULT|damaged"),
    ("a wrong place", central(42, b"\xff\xff\xff\x7f"), r"bad\.zip|FAULT|damaged"),
    ("out of its folder", with_entry("../evil"), "outside of its folder; do not unpack it"),
    ("out of it further in", with_entry("a/../../evil"), "do not unpack it"),
    ("from the root", with_entry("/etc/evil"), "do not unpack it"),
    ("for Windows", with_entry("a\\..\\evil"), "do not unpack it"),
    ("a drive", with_entry("C:/evil"), "do not unpack it"),
    ("a name of two lines", with_entry("a\nb"), "do not unpack it"),
    ("a link", with_entry("link", "/etc/passwd", link=True), "is a link"),
    ("a file twice", with_entry("README.md"), r"two entries README\.md"),
    ("a file more", with_entry("results/small/new.csv"), "was added after the archive was packed"),
    ("a file as a folder", with_entry("Makefile/x"), "was added|cannot be unpacked"),
    ("a name too long", with_entry("x" * 5000), "was added|cannot be unpacked"),
]


@pytest.fixture
def scene(finished, monkeypatch, record_property, tmp_path_factory):
    """The finished run and its archive, which no fault may touch."""
    it = scene_of(finished, monkeypatch)
    temporary = Path(tempfile.mkdtemp(prefix="faults-"))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    it.guard(Path("results/small"), Path("report"))
    before = GOOD.read_bytes()
    with at_most(LONG):
        yield it
    BAD.unlink(missing_ok=True)
    record_property("left", len(it.left()))
    record_property("lost", len(it.lost()))
    assert it.left() == []
    assert it.lost() == []
    # What was unpacked is gone, and the good archive is as it was.
    assert list(temporary.iterdir()) == []
    temporary.rmdir()
    assert GOOD.read_bytes() == before
    folder = tmp_path_factory.mktemp("good")
    with opened(GOOD) as file:
        assert extract(file, folder) == {}
    with contextlib.chdir(folder):
        assert check_packed({}).faults == []


def refused(scene, message: str) -> None:
    answer = scene.kvstudy("verify", BAD)
    says(answer, message)
    # What cannot be read at all, or must not be unpacked, is no finding of the check.
    assert answer.code == (1 if "FAULT" in answer.text else DataError.status), answer.text
    assert "All holds" not in answer.text
    assert len(answer.text) < 10_000
    assert not Path("evil").exists()
    assert not Path("../evil").exists()


@pytest.mark.parametrize(
    ("name", "change", "message"), OF_THE_FILE, ids=[row[0] for row in OF_THE_FILE]
)
def test_the_file(scene, name, change, message):
    BAD.write_bytes(change(GOOD.read_bytes()))
    refused(scene, message)


# --- what is in it


def facts(**changes: object) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files[FACTS] = json.dumps(json.loads(files[FACTS]) | changes).encode()

    return change


def put(name: str, content: bytes | None) -> Callable[[Files], None]:
    def change(files: Files) -> None:
        files.pop(name, None)
        if content is not None:
            files[name] = content

    return change


def appended(name: str, content: bytes) -> Callable[[Files], None]:
    return lambda files: files.update({name: files[name] + content})


def faster(files: Files) -> None:
    """Throughput doubled in a log, with the cell's checksums made again too."""
    name = f"{CELL}/run.out"
    files[name] = files[name].replace(b"4000.0", b"8000.0").replace(b"ms), 500", b"ms), 250")
    files[f"{CELL}/SHA256SUMS"] = sums_of(files, f"{CELL}/")


def without_cell(files: Files) -> None:
    for name in [name for name in files if name.startswith(f"{CELL}/")]:
        del files[name]


def bomb(files: Files) -> None:
    """Half a gigabyte that takes half a megabyte in the archive."""
    files["results/small/big.csv"] = bytes(500_000_000)


IN_IT: list[tuple[str, Callable[[Files], None], str]] = [
    ("no list", put("SHA256SUMS", None), "SHA256SUMS: is missing"),
    ("an empty list", put("SHA256SUMS", b""), "was added after"),
    ("a list of noise", put("SHA256SUMS", b"\xff\xfe\x00"), "SHA256SUMS: cannot be read"),
    ("a list of words", put("SHA256SUMS", b"all is well\n"), "SHA256SUMS: cannot be read"),
    ("no facts", put(FACTS, None), r"has no archive\.json"),
    ("facts of noise", put(FACTS, b"\xff\xfe"), r"archive\.json: cannot be read"),
    ("facts that are no JSON", put(FACTS, b"{"), r"archive\.json: cannot be read"),
    ("facts as a list", put(FACTS, b"[1]"), r"archive\.json: cannot be read"),
    ("facts as a number", put(FACTS, b"7"), r"archive\.json: cannot be read"),
    ("nested facts", put(FACTS, b"[" * 100_000), r"archive\.json: cannot be read"),
    ("no format", put(FACTS, b"{}"), r"archive\.json: cannot be read"),
    ("a later format", facts(format=99), "has format 99"),
    ("another run", facts(run="other"), "is not that of its study"),
    ("a run elsewhere", facts(run="../../x", study="../../x"), "is not that of its study"),
    ("a run as a number", facts(run=7, study=7), r"archive\.json: cannot be read"),
    ("a scale of words", facts(scale="much"), r"archive\.json: cannot be read"),
    ("no finite scale", facts(scale=float("inf")), r"archive\.json"),
    ("no scale at all", facts(scale=float("nan")), r"archive\.json"),
    ("missing cells as a number", facts(missing=3), r"archive\.json: cannot be read"),
    ("metadata of noise", put("ro-crate-metadata.json", b"\xff"), r"ro-crate-metadata\.json"),
    ("metadata as a list", put("ro-crate-metadata.json", b"[]"), r"ro-crate-metadata\.json"),
    ("metadata nested", put("ro-crate-metadata.json", b"[" * 100_000), r"ro-crate-metadata\.json"),
    ("no metadata", put("ro-crate-metadata.json", None), r"ro-crate-metadata\.json: is missing"),
    ("an edited log", appended(f"{CELL}/run.out", b"\n"), r"run\.out: was changed after"),
    ("a log less", put(f"{CELL}/run.out", None), r"run\.out: is missing"),
    ("an edited summary", appended("results/small/summary.csv", b"x"), r"summary\.csv: was change"),
    ("a report less", put("report/small.pdf", None), r"small\.pdf: is missing"),
    ("gigabytes", bomb, r"big\.csv"),
    (
        "all made again, a log edited",
        as_new(appended(f"{CELL}/run.out", b"\n")),
        "was edited or cut",
    ),
    ("all made again, a log less", as_new(put(f"{CELL}/run.out", None)), r"run\.out: is missing"),
    ("all made again, a log more", as_new(put(f"{CELL}/x.log", b"x")), r"x\.log: was added after"),
    (
        "all made again, no sums of a cell",
        as_new(put(f"{CELL}/SHA256SUMS", b"")),
        "was added after",
    ),
    ("all made again, a cell less", as_new(without_cell), "the planned cell is missing"),
    (
        "all made again, no study",
        as_new(put(STUDY, None)),
        "the study cannot be read|no such study",
    ),
    ("all made again, no YAML", as_new(put(STUDY, b"a: [")), "the study cannot be read"),
    (
        "all made again, nested",
        as_new(put(STUDY, b"a: " + b"[" * 9999)),
        "the study cannot be read",
    ),
    ("all made again, no manifest", as_new(put(f"{CELL}/manifest.json", None)), r"manifest\.json"),
    ("all made again, faster", as_new(faster), "FAULT: results/small/"),
    (
        "all made again, a number of the summary",
        as_new(
            lambda files: files.update(
                {
                    "results/small/summary.csv": files["results/small/summary.csv"].replace(
                        b"4000.0", b"4100.0"
                    )
                }
            )
        ),
        r"FAULT: results/small/summary\.csv: line \d+",
    ),
]


@pytest.mark.parametrize(("name", "change", "message"), IN_IT, ids=[row[0] for row in IN_IT])
def test_its_files(scene, name, change, message):
    repacked(GOOD, change, BAD.name)
    refused(scene, message)


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_nothing_is_left_of_what_cannot_be_unpacked(scene, share, tmp_path):
    content = GOOD.read_bytes()
    BAD.write_bytes(content[: int(len(content) * share)])
    answer = scene.kvstudy("rebuild", BAD, "--output", tmp_path / "elsewhere")
    says(answer, "no zip file, or cut off")
    assert answer.code == DataError.status
    assert not (tmp_path / "elsewhere").exists()


def test_an_archive_is_not_unpacked_over_something(scene, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    answer = scene.kvstudy("rebuild", GOOD, "--output", tmp_path)
    says(answer, "already exists; remove it, or give --output")
    assert answer.code == InputError.status
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["nothing.zip", "nothing", "results", "results/other"])
def test_what_is_not_there(scene, name):
    answer = scene.kvstudy("verify", name)
    says(answer, "no such file|no such run")
    assert answer.code == InputError.status


def test_what_is_no_archive(scene):
    answer = scene.kvstudy("verify", "Makefile")
    says(answer, "no zip file")
    assert answer.code == DataError.status


def test_after_all_that_the_archive_holds_and_is_built_again(scene, tmp_path):
    answer = scene.kvstudy("verify", GOOD)
    says(answer, r"All holds\.")
    assert answer.code == 0
    elsewhere = tmp_path / "elsewhere"
    answer = scene.kvstudy("rebuild", GOOD, "--output", elsewhere)
    assert answer.code == 0, answer.text
    name = "results/small/summary.csv"
    assert (elsewhere / name).read_bytes() == Path(name).read_bytes()
