"""A run is packed as one file."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.share.archive import pack as packing
from kvstudy.share.archive.contents import contents_of
from kvstudy.study.config import configured
from kvstudy.study.run_names import find_name

from tests.project import kvstudy
from tests.unit.packed_run import RUN, cells, put, write_run


@pytest.fixture
def run(pretend_study) -> Path:
    write_run()
    return Path("small.zip")


def archive(*options: str, of: str = "small") -> str:
    return kvstudy("archive", of, *options).output


def names(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as file:
        return {name for name in file.namelist() if not name.endswith("/")}


def crate(path: Path) -> dict[str, dict]:
    with zipfile.ZipFile(path) as file:
        graph = json.loads(file.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def test_an_archive_holds_all_that_the_report_is_made_from_and_nothing_of_others(run):
    archive()
    packed = names(run)
    assert packed >= {
        *("README.md", "SHA256SUMS", "ro-crate-metadata.json", "archive.json", "CITATION.cff"),
        *("ARTIFACT.md", ".zenodo.json"),
        *("Snakefile", "workflow/Snakefile", "report/text/report.md.j2", "envs/setup"),
        *("config/config.yaml", "config/studies/small/study.yaml", "workloads/a"),
        *("envs/stores/pretend/store.yaml", "envs/stores/pretend/verbs.py"),
        *("report/small.pdf", "report/small-analysis.html", "figures/small/speed.csv"),
        *("results/small/summary.csv", "results/small/gaps/unbound.json"),
        *(f"results/small/raw/{cell.path}/load.out" for cell in cells()),
    }
    assert "report/small-partial.pdf" not in packed
    assert not any("jedlicka" in name or "redis" in name for name in packed)
    assert not any("__pycache__" in name or "measuring" in name for name in packed)


def test_a_lean_archive_holds_what_is_measured_and_numbers(run):
    name = find_name("small")
    whole, lean = contents_of(name).files, contents_of(name, lean=True).files
    assert set(whole) - set(lean) == {"report/small.pdf", "report/small-analysis.html"}
    assert "figures/small/speed.csv" in lean


def test_reports_in_other_languages_are_packed(run):
    for name in ("report/small-cs.pdf", "report/small-xx.pdf", f"{RUN}/cs/tables/a.tex"):
        put(Path(name), "text")
    for folder in (RUN, RUN / "cs"):
        put(folder / "report" / "build" / "small.aux", "what LaTeX leaves")
    archive()
    packed = names(run)
    assert packed >= {"report/small-cs.pdf", "results/small/cs/tables/a.tex"}
    assert not any(name.endswith(("xx.pdf", ".aux")) for name in packed)


def test_a_workload_may_be_called_like_a_folder_of_tools(run):
    shutil.copytree(RUN / "raw/pretend/a", RUN / "raw/pretend/build")
    shutil.copytree(RUN / "raw/pretend/a", RUN / "raw/pretend/target")
    archive()
    assert {name.split("/")[4] for name in names(run) if "/raw/pretend/" in name} >= {
        *("build", "target")
    }


def test_equal_files_give_equal_bytes(run):
    archive()
    first = run.read_bytes()
    for path in Path.cwd().rglob("*"):
        os.utime(path, (10**9, 10**9))
    archive("--output", "again/other.zip")
    assert Path("again/other.zip").read_bytes() == first


def test_its_checksums_can_be_checked_without_kvstudy(run, tmp_path):
    archive()
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(run) as file:
        file.extractall(folder)
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder)
    assert done.returncode == 0
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == names(run) - {"SHA256SUMS"}


def test_the_metadata_tell_what_was_run_when_and_by_whom(run):
    archive("--author", "Jana N., https://orcid.org/0000-0002-1825-0097", "--license", "CC-BY-4.0")
    entities = crate(run)
    root = entities["./"]
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert root["author"] == {"@id": "https://orcid.org/0000-0002-1825-0097"}
    assert root["datePublished"] == "2026-03-01"
    assert len(root["mentions"]) == 1 + len(cells())
    cell = cells()[0].path
    action = entities[f"#measure-{cell.replace('/', '-')}"]
    manifest = json.loads((RUN / "raw" / cell / "manifest.json").read_text())
    assert action["startTime"] == manifest["started"]
    assert action["endTime"] == manifest["started"].replace(":00+", ":10+")
    assert action["result"]["@id"] == f"results/small/raw/{cell}/"
    assert action["object"]["@id"] == f"workloads/{cell.split('/')[1]}"
    values = {each["name"]: each["value"] for each in entities.values() if "value" in each}
    assert values["server of pretend"] == "1.2.3"
    assert values["machine: CPU"] == "Fast, 2 cores"


def test_folders_of_persons_are_said(run):
    assert "names a folder of the machine that measured: /home/jana/kv (6 files)" in archive()


def test_a_run_that_is_not_finished_is_refused(run):
    shutil.rmtree(RUN / "raw" / cells()[2].path)
    with pytest.raises(KvstudyError, match=r"1 of 12 planned cells are not there .*make partial"):
        archive()
    assert not run.exists()


def test_a_partial_run_says_what_is_missing(run):
    missing = cells()[2].path
    shutil.rmtree(RUN / "raw" / missing)
    shutil.copytree(RUN, "results/small-partial", ignore=shutil.ignore_patterns("raw", "gaps"))
    shutil.copytree("figures/small", "figures/small-partial")
    assert "not finished: 1 planned cells" in archive(of="small-partial")
    packed = names(Path("small-partial.zip"))
    assert "report/small-partial.pdf" in packed
    assert "report/small.pdf" not in packed
    assert "results/small-partial/cells.csv" in packed
    assert "results/small/cells.csv" not in packed
    with zipfile.ZipFile("small-partial.zip") as file:
        assert json.loads(file.read("archive.json"))["missing"] == [missing]
        assert missing in file.read("README.md").decode()


def test_a_run_without_its_report_is_refused(run):
    Path("report/small.pdf").unlink()
    with pytest.raises(KvstudyError, match=r"report/small\.pdf: is missing.*study=small"):
        archive()


def test_the_wrong_name_of_a_run(run):
    with pytest.raises(KvstudyError, match="no such run; did you mean 'small'"):
        archive(of="smal")
    Path("results/other").mkdir()
    with pytest.raises(KvstudyError, match="of no study"):
        archive(of="other")


@pytest.mark.parametrize(
    ("name", "study", "scale", "source"),
    [
        ("jedlicka2024-scale0.01", "jedlicka2024", 0.01, "measured"),
        ("haverinen2018-published", "haverinen2018", 1, "published"),
        ("haverinen2018-published-cs", "haverinen2018", 1, "published"),
        ("results/riak-consistency/", "riak-consistency", 1, "measured"),
    ],
)
def test_a_run_is_found_by_its_name(project, name, study, scale, source):
    (project / "results" / Path(name).name).mkdir(parents=True)
    result = find_name(name)
    assert (result.study, result.scale, result.source) == (study, scale, source)


@pytest.mark.parametrize("parent", ["../two/results", "{}/two/results", "results/small", "report"])
def test_a_folder_of_another_clone_is_no_run_of_this_one(project, tmp_path, parent):
    (project / "results/smoke").mkdir(parents=True)
    name = f"{parent.format(tmp_path)}/smoke"
    with pytest.raises(KvstudyError, match=r"smoke: is not below .*/results; go to the clone"):
        find_name(name)
    assert find_name(f"{project}/results/smoke").name == "smoke"


def test_a_folder_that_is_no_clone_is_named_as_the_cause(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (lambda: find_name("smoke"), configured):
        with pytest.raises(KvstudyError, match="run the command in a clone of kvstudy"):
            command()


def test_a_full_disk_leaves_no_half_archive(run, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(packing, "_write", full)
    with pytest.raises(KvstudyError, match=r"small\.zip: the disk is full"):
        archive()
    assert list(Path().glob("small.zip*")) == []


def test_checksums_are_of_what_was_packed(run, monkeypatch):
    original = packing.metadata

    def edits(*arguments):
        (RUN / "summary.csv").write_text("another")
        return original(*arguments)

    monkeypatch.setattr(packing, "metadata", edits)
    archive()
    with zipfile.ZipFile(run) as file:
        digest = hashlib.sha256(file.read("results/small/summary.csv")).hexdigest()
        assert f"{digest}  results/small/summary.csv\n" in file.read("SHA256SUMS").decode()


@pytest.mark.parametrize("author", ["", "Jana, 0000-0002", ", https://orcid.org/1"])
def test_a_wrong_author_is_refused(run, author):
    with pytest.raises(KvstudyError, match="--author"):
        archive("--author", author)


def test_a_citation_file_without_authors_is_named(run):
    Path("CITATION.cff").write_text("title: x\n")
    with pytest.raises(KvstudyError, match=r"CITATION\.cff: must give"):
        archive()


def test_an_archive_tells_committees_what_it_costs_and_repositories_who_made_it(run):
    archive("--author", "Jana N, https://orcid.org/0000-0002-1825-0097", "--license", "CC-BY-4.0")
    with zipfile.ZipFile(run) as file:
        text = file.read("ARTIFACT.md").decode()
        zenodo = json.loads(file.read(".zenodo.json"))
    assert "# Artifact: A small study" in text
    assert "| a | pretend | 2 | 1.0 |" in text
    assert "In all 6 measurements, 3 minutes" in text
    assert "- CPU: Fast (2 cores)" in text
    assert "kvstudy review ARCHIVE.zip" in text
    assert zenodo["creators"] == [{"name": "Jana N", "orcid": "0000-0002-1825-0097"}]
    assert zenodo["license"] == "CC-BY-4.0"
