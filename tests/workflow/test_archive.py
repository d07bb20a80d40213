"""What was changed in an archive, or in a run, is found without a server."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.project import ROOT
from tests.workflow.conftest import Workflow, make_workflow

SUMMARY = "results/small/summary.csv"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Workflow:
    """The study ``small``, finished and packed as small.zip; its servers are taken away then."""
    workflow = make_workflow(tmp_path_factory.mktemp("archive"))
    for name in ("CITATION.cff", "LICENSE", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, workflow.folder)
    done = workflow.snakemake()
    assert done.returncode == 0, done.stderr
    packed = kvstudy(workflow, "archive", "small")
    assert packed.returncode == 0, packed.stderr
    workflow.environment["PATH"] = workflow.environment["PATH"].split(":", 1)[1]
    return workflow


def kvstudy(workflow: Workflow, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["kvstudy", *arguments],
        cwd=workflow.folder,
        env=workflow.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def forged(workflow: Workflow, name: str, change) -> Path:
    """A copy of the archive with edited files whose checksums were all made anew."""
    with zipfile.ZipFile(workflow.folder / "small.zip") as file:
        files = {entry.filename: file.read(entry) for entry in file.infolist()}
    change(files)
    data = json.loads(files["ro-crate-metadata.json"])
    for entity in data["@graph"]:
        if "sha256" in entity:
            entity["sha256"] = hashlib.sha256(files[entity["@id"]]).hexdigest()
    files["ro-crate-metadata.json"] = json.dumps(data).encode()
    files["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {each}\n"
        for each, content in files.items()
        if each != "SHA256SUMS" and not each.endswith("/")
    ).encode()
    path = workflow.folder / name
    with zipfile.ZipFile(path, "w") as file:
        for each, content in files.items():
            file.writestr(each, content)
    return path


def test_numbers_that_do_not_follow_from_the_logs(finished):
    """Also where whoever changed them made all checksums anew, and asks for measurements."""
    trap = finished.folder / "trap"

    def forge(files: dict[str, bytes]) -> None:
        lines = files[SUMMARY].decode().splitlines(keepends=True)
        column = lines[0].strip().split(",").index("mean")
        cells = lines[1].split(",")
        cells[column] = str(float(cells[column]) * 1.01)
        files[SUMMARY] = "".join([lines[0], ",".join(cells), *lines[2:]]).encode()
        config = files["config/config.yaml"].replace(b"measure: false", b"measure: true")
        files["config/config.yaml"] = config
        evil = f"from pathlib import Path\nPath({str(trap)!r}).touch()\n".encode()
        for name in (
            "envs/stores/pretend/verbs.py",
            "workflow/Snakefile",
            "workflow/kvstudy/cli.py",
        ):
            files[name] = evil + files[name]

    forged(finished, "forged.zip", forge)
    done = kvstudy(finished, "verify", "forged.zip")
    assert done.returncode == 1
    assert f"FAULT: {SUMMARY}: line 2, mean: is " in done.stdout
    assert "**1 fault: it does not hold.**" in done.stdout
    assert "files of the workflow differ from those here" in done.stdout
    assert not trap.exists()


def test_a_run_is_verified_in_its_folder(finished):
    path = finished.folder / "results/small/raw/pretend/a/r1000_o2000_t2/rep1/run.out"
    good = path.read_bytes()
    path.write_bytes(good + b"\n")
    try:
        done = kvstudy(finished, "verify", "results/small")
    finally:
        path.write_bytes(good)
    assert done.returncode == 1
    assert "Run: results/small" in done.stdout
    assert "rep1/run.out: was edited or cut off after it was measured" in done.stdout


def test_a_tampered_log_is_named_and_nothing_is_computed_from_it(finished):
    name = "results/small/raw/pretend/a/r1000_o2000_t2/rep1/run.out"
    forged(finished, "tampered.zip", lambda files: files.update({name: files[name] + b"\n"}))
    done = kvstudy(finished, "verify", "tampered.zip")
    assert done.returncode == 1
    assert f"FAULT: {name}: was edited or cut off after it was measured" in done.stdout
    assert "not made anew: the raw logs are not those that were measured" in done.stdout
