"""What a verification finds without making the numbers again, and archives that are refused."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import stat
import subprocess
import zipfile
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.errors import KvstudyError
from kvstudy.share.archive import rebuild as rebuilding
from kvstudy.share.archive import unpack
from kvstudy.share.archive import verify as verification
from kvstudy.share.archive.checks import (
    CheckSection,
    Verified,
    as_text,
    check_audit_trail,
    check_measured,
    check_packed,
    check_plan,
    out_of_order,
)
from kvstudy.share.archive.contents import contents_of
from kvstudy.share.archive.pack import pack
from kvstudy.share.archive.rebuild import differing, rebuild
from kvstudy.share.archive.unpack import extract, opened, read_facts
from kvstudy.share.archive.verify import verify
from kvstudy.study.load import load_study
from kvstudy.study.run_names import find_name

from tests.project import edit
from tests.unit.packed_run import RUN, cells, planned, put, repacked, sums_of, write_cell, write_run

ARCHIVE = Path("small.zip")


@pytest.fixture
def run(pretend_study):
    write_run()
    return find_name("small")


@pytest.fixture
def archive(run) -> Path:
    pack(contents_of(run), ARCHIVE)
    return ARCHIVE


def packed(path: Path) -> CheckSection:
    folder = Path("unpacked")
    with opened(path) as file:
        damaged = extract(file, folder)
    with contextlib.chdir(folder):
        return check_packed(damaged)


def refused(path: Path, message: str) -> None:
    with pytest.raises(KvstudyError, match=message), opened(path):
        pass


def course(run) -> CheckSection:
    return check_audit_trail(run, planned())


def completeness(run, declared=()) -> CheckSection:
    return check_plan(run, load_study(run.study_file), planned(), declared)


@pytest.mark.parametrize("report", ["report/small.pdf", "report/small-cs.pdf"])
def test_numbers_are_made_anew_in_the_languages_that_were_packed(
    run, tmp_path, monkeypatch, report
):
    requests = []

    def workflow(folder, *arguments, say=None):
        requests.append(arguments[-1])
        named = "" if "--summary" not in arguments else "results/small/cells.csv" + 5 * "\t-"
        return subprocess.CompletedProcess(arguments, 0, named)

    monkeypatch.setattr(rebuilding, "compose", lambda *arguments: None)
    monkeypatch.setattr(rebuilding, "snakemake", workflow)
    put(Path(report), "%PDF")
    result = rebuilding.check_numbers(run, Path(), Path(), Path())
    assert result.faults == []
    languages = ["en", "cs"] if "cs" in report else ["en"]
    assert requests == [f"language={each}" for each in languages for _step in range(2)]


# --- the archive as a file


def test_an_archive_as_it_was_packed(archive):
    part = packed(archive)
    assert part.faults == []
    assert "are as they were packed" in part.facts[0]


def test_each_edited_missing_and_added_file_is_named(archive):
    log = f"results/small/raw/{cells()[0].path}/load.out"

    def edit(files: dict[str, bytes]) -> None:
        files[log] += b"!"
        files["results/small/new.csv"] = b"1"
        del files["results/small/gaps/unbound.json"]

    assert packed(repacked(archive, edit)).faults == [
        "results/small/gaps/unbound.json: is missing; it was there when the archive was packed",
        "results/small/new.csv: was added after the archive was packed",
        f"{log}: was changed after the archive was packed",
    ]


def test_a_checksum_list_that_was_made_anew_contradicts_the_metadata(archive):
    def edit(files: dict[str, bytes]) -> None:
        files["results/small/summary.csv"] = b"mean\n99\n"
        files["SHA256SUMS"] = sums_of(files)

    assert packed(repacked(archive, edit)).faults == [
        "results/small/summary.csv: ro-crate-metadata.json gives another checksum than SHA256SUMS"
    ]


def test_an_archive_without_its_list(archive):
    part = packed(repacked(archive, lambda files: files.pop("SHA256SUMS")))
    assert part.faults == ["SHA256SUMS: is missing, so nothing shows what was packed"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_cut_off_archive_is_refused(archive, share):
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    refused(archive, r"small\.zip: no zip file, or cut off")


def test_a_damaged_file_in_an_archive_is_named(archive):
    name = f"results/small/raw/{cells()[0].path}/manifest.json"
    with zipfile.ZipFile(archive) as file:
        entry = file.getinfo(name)
        middle = entry.header_offset + 30 + len(name) + entry.compress_size // 2
    content = bytearray(archive.read_bytes())
    content[middle] ^= 0xFF
    archive.write_bytes(content)
    part = packed(archive)
    assert [fault.split(":")[0] for fault in part.faults] == [name]
    with pytest.raises(KvstudyError, match=r"is damaged in the archive"):
        rebuild(archive, Path("out"))
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/etc/evil", "a\\..\\evil", "C:/evil", "a\nb", "a//../../x"]
)
def test_an_entry_outside_of_the_folder_is_refused(archive, name):
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(name, "evil")
    refused(archive, "do not unpack it")


def test_links_and_doubles_are_refused(archive):
    shutil.copy(archive, "link.zip")
    link = zipfile.ZipInfo("a-link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile("link.zip", "a") as file:
        file.writestr(link, "/etc/passwd")
    refused(Path("link.zip"), "a-link is a link")
    with zipfile.ZipFile(archive, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("README.md", "another")
    refused(archive, r"two entries README\.md")


def test_what_unpacks_to_far_more_than_its_size_is_refused(archive, monkeypatch):
    monkeypatch.setattr(unpack, "ALWAYS", 10**7)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("results/small/raw/zeros", bytes(10**8))
    refused(archive, r"small.zip: unpacks to \d+ files of 0.1 GB, from 0")


def test_a_million_members_are_refused(archive, monkeypatch):
    monkeypatch.setattr(unpack, "FILES", 80)
    with opened(archive):
        pass
    with zipfile.ZipFile(archive, "a") as file:
        for number in range(80):
            file.writestr(f"results/small/raw/{number}", "")
    refused(archive, r"small.zip: unpacks to \d+ files")


@pytest.mark.parametrize("name", ["archive.json", "SHA256SUMS", "ro-crate-metadata.json"])
def test_a_list_that_fills_the_memory_is_refused(archive, name):
    changed = repacked(archive, lambda files: files.update({name: bytes(5 * 10**6)}))
    refused(changed, f"{name} is too large")


def test_a_disk_without_room_is_named_before_anything_is_unpacked(archive, monkeypatch):
    free = shutil.disk_usage(".")._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: free)
    for action in (lambda: verify(str(archive)), lambda: rebuild(archive, Path("new/one"))):
        with pytest.raises(KvstudyError, match="GB left; free some space"):
            action()
    assert not Path("new").exists()


def test_a_verification_says_how_far_it_is(archive, monkeypatch):
    monkeypatch.setattr(verification, "check_numbers", lambda *arguments: CheckSection("Numbers"))
    said = []
    verify(str(archive), say=said.append)
    assert re.match(r"unpacking small.zip: \d+% of 0 MB", said[0])
    assert "unpacking small.zip: 100% of 0 MB" in said
    assert "checksums of small.zip" in said
    assert said[-1].startswith("making every number again")


def test_a_zip_that_is_no_archive(tmp_path):
    path = tmp_path / "holiday.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("photo.jpg", "x")
    refused(path, "was not packed by 'kvstudy archive'")


def test_what_is_no_archive_and_no_run_is_named(archive):
    with pytest.raises(KvstudyError, match=r"other\.zip: no such file"):
        verify("other.zip")
    with pytest.raises(KvstudyError, match=r"results/other: no such run; known are: small"):
        verify("other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "has format 2"),
        ({"run": "../../x", "study": "../../x"}, "is not that of its study"),
        ({"run": "other"}, "is not that of its study"),
        ({"scale": "much"}, "cannot be read"),
    ],
)
def test_facts_that_cannot_be_are_refused(archive, changes, message):
    def edit(files: dict[str, bytes]) -> None:
        facts = json.loads(files["archive.json"])
        files["archive.json"] = json.dumps(facts | changes).encode()

    with opened(repacked(archive, edit)) as file, pytest.raises(KvstudyError, match=message):
        read_facts(file)


def test_programs_are_unpacked_as_such_only_on_request(archive):
    with opened(archive) as file:
        extract(file, Path("safe"))
        extract(file, Path("ready"), executable=True)
    assert not Path("safe/envs/setup").stat().st_mode & stat.S_IXUSR
    assert Path("ready/envs/setup").stat().st_mode & stat.S_IXUSR


# --- what was measured


def test_raw_logs_as_they_were_measured(run):
    part = check_measured(RUN)
    assert part.faults == []
    assert part.facts == ["12 raw files of 6 cells and 0 probes are as they were measured"]


def test_an_edited_a_missing_and_an_added_raw_file(run):
    first, second, third = (RUN / "raw" / cell.path for cell in sorted(cells(), key=str)[:3])
    (first / "load.out").write_text("faster")
    (second / "load.out").unlink()
    (third / "note.txt").write_text("x")
    assert sorted(fault.split(": ")[1] for fault in check_measured(RUN).faults) == [
        "is missing; the cell had it when measured",
        "was added after the cell was measured",
        "was edited or cut off after it was measured",
    ]


def test_a_plan_that_is_complete(run):
    part = completeness(run)
    assert part.faults == []
    assert part.facts == ["6 of 12 planned cells are measured"]
    assert part.notes[0].startswith("6 cells not measured (unbound/")
    assert part.notes[0].endswith("no server")


def test_a_removed_cell_is_a_fault_unless_the_archive_says_so(run):
    path = cells()[0].path
    shutil.rmtree(RUN / "raw" / path)
    message = f"results/small/raw/{path}: the planned cell is missing, with no reason"
    assert completeness(run).faults == [message]
    assert completeness(run, declared=["another"]).faults == [message]
    declared = completeness(run, declared=[path])
    assert declared.faults == []
    assert any("not finished, and says so: 1 planned cell" in note for note in declared.notes)


def test_a_failed_cell_has_its_reason(run):
    path = cells()[0].path
    shutil.rmtree(RUN / "raw" / path)
    put(RUN / "failed" / path / "20260301" / "failure.json", json.dumps({"reason": "it died"}))
    part = completeness(run)
    assert part.faults == []
    assert f"1 cell not measured ({path}): failed: it died" in part.notes


def test_logs_that_no_number_comes_from_are_named(run):
    shutil.copytree(RUN / "raw/pretend/a", RUN / "raw/pretend/b")
    assert sum("is not in the plan" in note for note in completeness(run).notes) == 2


def test_the_course_of_an_undisturbed_run(run):
    part = course(run)
    assert (part.notes, part.faults) == ([], [])
    assert part.facts[0].startswith("6 cells measured one at a time, in the planned random order")


def test_a_cell_that_was_measured_again_in_silence(run):
    again = cells()[1]
    write_cell(again, minutes=60)
    (fault,) = course(run).faults
    assert fault.startswith(f"results/small/raw/{again.path}: was started at ")
    assert "may have been measured again" in fault


@pytest.mark.parametrize(("kind", "word"), [("failed", "failed"), ("replaced", "measured again")])
def test_a_cell_that_was_measured_again_openly(run, kind, word):
    again = cells()[1]
    write_cell(again, minutes=60)
    put(RUN / kind / again.path / "20260301T120000" / "load.out", "earlier")
    part = course(run)
    assert part.faults == []
    assert part.notes == [
        f"results/small/{kind}: 1 attempt {word}, logs kept: {again.path}",
    ]


@pytest.fixture
def rates(pretend_study):
    """A run with open-loop cells under workload a, of 1000 ops/s in the trial cell."""
    edit(pretend_study, open_loop={"loads": [0.5], "workloads": ["a"]})
    write_run()
    (trial,) = (cell for cell in cells() if cell.sets_rate)
    opened = [cell for cell in cells() if cell.load]
    for cell in opened:
        write_at_rate(cell, trial)
    return find_name("small"), trial, opened


def write_at_rate(cell, trial, **changes) -> None:
    target = {"rate": 500, "load": 50, "trial": trial.path, "throughput": 1000.0}
    sums = hashlib.sha256((RUN / "raw" / trial.path / "SHA256SUMS").read_bytes()).hexdigest()
    write_cell(cell, target=target | {"sums": sums} | changes)


def test_rates_are_those_that_the_trial_cells_set(rates):
    run, trial, opened = rates
    part = course(run)
    assert part.faults == part.notes == []
    write_at_rate(opened[0], trial, rate=501)
    write_cell(opened[1], target={"rate": 500})
    assert course(run).faults == [
        f"results/small/raw/{opened[0].path}: its rate of 501 ops/s is not 50 % of 1000 ops/s, "
        "the throughput that it records of its trial cell",
        f"results/small/raw/{opened[1].path}: its manifest has no target of this version",
    ]


def test_a_trial_cell_that_was_changed_in_silence(rates):
    run, trial, opened = rates
    write_cell(trial, again=1)
    (fault,) = course(run).faults
    assert fault == (
        f"results/small/raw/{trial.path}: is not the trial cell that set the rate of "
        f"{opened[0].path}, {opened[1].path}, and no logs of an earlier one are on file"
    )


@pytest.mark.parametrize("openly", [True, False])
def test_a_trial_cell_that_was_measured_again_openly_or_is_gone(rates, openly):
    run, trial, _opened = rates
    if openly:
        write_cell(trial, minutes=60)
        put(RUN / "replaced" / trial.path / "20260301T120000" / "load.out", "earlier")
    else:
        shutil.rmtree(RUN / "raw" / trial.path)
    part = course(run)
    assert part.faults == []
    assert "is not the trial cell that set the rate" in part.notes[-1]
    # That it is missing is said by the plan.
    missing = [fault for fault in completeness(run).faults if trial.path in fault]
    assert len(missing) == (not openly)


def test_a_trial_cell_that_was_measured_after_its_cells(rates):
    run, trial, opened = rates
    write_cell(trial, minutes=60)
    for cell in opened:
        write_at_rate(cell, trial)
    (fault,) = course(run).faults
    assert fault.startswith(f"results/small/raw/{trial.path}: was started at ")


def write_second_store(minutes: float) -> None:
    for cell in planned():
        if cell.store == "unbound":
            write_cell(cell, minutes)


def test_a_store_that_was_measured_later_is_a_note(run):
    write_second_store(600)
    part = course(run)
    assert part.faults == []
    assert part.notes == ["stores were measured apart from each other: pretend; unbound"]


def test_a_cell_that_was_measured_again_after_another_store(run):
    write_second_store(0)
    assert course(run).faults == []
    first, *_, last = cells()
    write_cell(last, minutes=600)
    write_cell(first, minutes=601)
    assert f"results/small/raw/{first.path}" in [
        fault.split(":")[0] for fault in course(run).faults
    ]


def test_cells_at_one_time(run):
    first, second = cells()[:2]
    write_cell(second, minutes=5 / 60 - planned().index(second) + planned().index(first))
    assert (
        f"results/small/raw: {first.path} and {second.path} were measured at one time"
        in course(run).faults
    )


def test_cells_of_another_run_or_way_of_measuring(run):
    first, second = cells()[:2]
    write_cell(first, run="small-scale0.1")
    write_cell(second, protocol=2)
    assert course(run).faults == [
        f"results/small/raw/{first.path}: was measured for the run 'small-scale0.1' and put here",
        "results/small/raw: its cells were measured in different ways: protocols 1, 2",
    ]


def test_a_study_that_was_changed_since_is_a_note(run):
    write_cell(cells()[0], minutes=40, position=41)
    part = course(run)
    assert part.faults == []
    assert "1 cell had another place in the plan" in part.notes[0]


@given(st.lists(st.integers(0, 6), max_size=7))
def test_the_fewest_cells_are_called_late(times):
    late = out_of_order(times)
    kept = [time for index, time in enumerate(times) if index not in late]
    assert kept == sorted(kept)
    fewer = combinations(range(len(times)), len(times) - len(late) + 1)
    assert not any(
        [times[i] for i in chosen] == sorted(times[i] for i in chosen) for chosen in fewer
    )


# --- comparing, and the page

OF_PANDOC_2 = (
    "\\hypertarget{terms}{%\n\\section{Terms}\\label{terms}}\n\nRedis's is faster: 12.5\\,kops/s.\n"
)
OF_PANDOC_3 = (
    "\\section{Terms}\\label{terms}\n\nRedis\\textquotesingle s is faster: 12.5\\,kops/s.\n"
)


@pytest.mark.parametrize(
    ("name", "packed", "again", "said"),
    [
        ("a.csv", "x,mean\na,1\n", "x,mean\na,1\n", ""),
        ("a.csv", "x,mean\na,1.0000000001\n", "x,mean\na,1\n", ""),
        ("a.csv", "x,mean\na,1.001\n", "x,mean\na,1\n", "line 2, mean: is '1.001', from the raw"),
        ("a.csv", "x,mean\nb,1\n", "x,mean\na,1\n", "line 2, x: is 'b', from the raw logs"),
        ("a.csv", "x,mean\n", "x,mean\na,1\n", "has 1 lines, from the raw logs follow 2"),
        ("a.csv", "x,mean\na\n", "x,mean\na,1\n", "line 2 is 'a', from the raw logs follows 'a 1'"),
        ("a.csv", "", "x\n", "has 0 lines"),
        ("a.tex", "1 & 2 \\\\", "1 & 3 \\\\", "line 1: is '2', from the raw logs follows '3'"),
        ("a.json", '[{"a":214.1520895757026,"b":1}]', '[{"a":214.1520895757024,"b":1}]', ""),
        ("a.json", '[{"a": 214.15}, 2]', '[{"a": 214.16}, 2]', "line 1: is '214.15', from the raw"),
        ("body.tex", OF_PANDOC_2, OF_PANDOC_3, ""),
        ("body.tex", OF_PANDOC_2, OF_PANDOC_3.replace("12.5", "12.6"), "line 2: is '12.5', from"),
        ("body.tex", OF_PANDOC_2, OF_PANDOC_3.replace("faster", "slower"), "line 2: is 'faster'"),
        ("a.json", '{"a":"b c"}', '{"a":"b d"}', "line 1: is 'c\"', from the raw"),
    ],
)
def test_where_two_files_differ(tmp_path, name, packed, again, said):
    first, second = tmp_path / name, tmp_path / "again" / name
    second.parent.mkdir()
    first.write_text(packed)
    second.write_text(again)
    result = differing(first, second)
    assert result.startswith(said)
    assert bool(result) is bool(said)


def test_another_version_is_compared_in_the_columns_of_both(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "again" / "a.csv"
    second.parent.mkdir()
    first.write_text("x,old,mean\na,7,1\n")
    second.write_text("x,mean,new\na,1,8\n")
    assert differing(first, second)
    assert differing(first, second, shared=True) == ""
    second.write_text("x,mean,new\na,2,8\n")
    assert differing(first, second, shared=True).startswith("line 2, mean: is '1'")


def test_the_page_is_short_and_ends_with_the_verdict():
    good, bad = (
        CheckSection("Good", facts=["fine"]),
        CheckSection("Bad", faults=[f"x{i}" for i in range(50)]),
    )
    page = as_text(Verified("small", ["Archive: a"], [good, bad]))
    assert "## Good: holds" in page
    assert "## Bad: FAULT" in page
    assert "- FAULT: ... 42 more (--output has all)" in page
    assert "**50 faults: it does not hold.**" in page
    assert "- FAULT: x49" in as_text(Verified("small", [], [bad]), every=True)
    assert "**All holds.**" in as_text(Verified("small", [], [good]))
