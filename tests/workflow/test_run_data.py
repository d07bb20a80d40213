"""A run's data as frames, as a data package, and as a notebook for questions."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from pathlib import Path

import kvstudy as package
import pandas as pd
import papermill
import pytest
from kvstudy.analyse.run import find_run
from kvstudy.analyse.tidy.files import HISTOGRAMS
from kvstudy.errors import KvstudyError
from kvstudy.share.data.notebook import write_questions

from tests.project import kvstudy
from tests.workflow.test_notebook import ROOT, RUN, edited, several_sizes_and_odd_names, write_run

HISTOGRAM = "redis,a,r100000_o1000000_t1,1,run,read,10 12 99,5 6 1\n"


@pytest.fixture(scope="module")
def project_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in ("config", "envs/stores", "workloads", "report", "workflow/notebooks"):
        shutil.copytree(ROOT / name, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        edited(several_sizes_and_odd_names)
        write_run({("redis", "a"), ("riak", "a")})
        path = HISTOGRAMS.path(RUN)
        path.write_text(path.read_text() + HISTOGRAM)
    return folder


@pytest.fixture
def inside(project_folder, monkeypatch) -> Path:
    monkeypatch.chdir(project_folder)
    return project_folder


def test_frames_are_of_the_cells_that_count(inside, monkeypatch):
    data = package.load("jedlicka2024")
    assert set(data.measurements["store"]) == {"redis", "riak"}
    assert set(data.cells["store"]) > {"redis", "riak"}
    assert data.pairs["ratio"].min() >= 1
    assert data.summary.query("operation == 'overall'")["n"].eq(3).all()
    rows = data.histograms[["store", "operation", "latency", "count"]].to_numpy().tolist()
    assert rows == [["redis", "read", 10, 5], ["redis", "read", 12, 6], ["redis", "read", 99, 1]]
    # By its path, and from a folder below.
    assert len(package.load(RUN).summary) == len(data.summary)
    monkeypatch.chdir(RUN)
    assert len(package.load("jedlicka2024").summary) == len(data.summary)


def test_a_run_that_is_not_there_is_named(inside):
    with pytest.raises(KvstudyError, match="results/nothing: no such run"):
        package.load("nothing")


def test_a_cell_that_does_not_count_is_in_no_frame_of_values(inside, tmp_path):
    folder = shutil.copytree(RUN, tmp_path / "run")
    cells = pd.read_csv(folder / "cells.csv", dtype=str, keep_default_na=False)
    cells.loc[cells["store"] == "redis", "invalid"] = "too many operations failed"
    cells.to_csv(folder / "cells.csv", index=False)
    data = package.load(folder)
    assert set(data.measurements["store"]) == {"riak"}
    assert data.histograms.empty


def test_the_package_says_what_is_in_its_files(inside, tmp_path):
    output = tmp_path / "data"
    assert kvstudy("data", "jedlicka2024", "--output", output).output == f"{output}\n"
    described = json.loads((output / "datapackage.json").read_text())
    assert {path.name for path in output.iterdir()} == {
        "datapackage.json",
        *(resource["path"] for resource in described["resources"]),
    }
    for resource in described["resources"]:
        if resource["format"] == "csv":
            content = (output / resource["path"]).read_bytes()
            assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            assert resource["bytes"] == len(content)
            frame = pd.read_csv(output / resource["path"], dtype=str, keep_default_na=False)
            fields = {field["name"]: field for field in resource["schema"]["fields"]}
            assert [*fields] == [*frame.columns]
            for name, field in fields.items():
                if field["type"] != "string":
                    pd.to_numeric(frame[name].replace("", None))
                if "constraints" in field:
                    assert set(frame[name]) <= set(field["constraints"]["enum"])
            keys = resource["schema"].get("primaryKey", [])
            assert not keys or not frame.duplicated(keys).any()
            parquet = pd.read_parquet(output / f"{resource['name']}.parquet")
            assert len(parquet) == len(frame)
    with pytest.raises(KvstudyError, match="is there already"):
        kvstudy("data", "jedlicka2024", "--output", output)


def test_the_questions_have_answers_and_stay_the_users(inside, monkeypatch, tmp_path):
    """And the notebook is opened in the Jupyter that is there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(KvstudyError, match="no Jupyter is here to open it"):
        kvstudy("open", "jedlicka2024")
    path = RUN / "questions.ipynb"
    program = tmp_path / "jupyter-notebook"
    program.write_text('#!/bin/sh\necho "$1" > "$0.opened"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    path.write_text(path.read_text().replace("## Yours", "## Mine"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    kvstudy("open", "jedlicka2024")
    assert (tmp_path / "jupyter-notebook.opened").read_text() == f"{path}\n"
    assert "## Mine" in path.read_text()


def test_the_notebook_runs_from_its_folder(inside):
    path = write_questions(find_run("jedlicka2024"), Path("workflow/notebooks/questions.ipynb"))
    book = papermill.execute_notebook(
        path, None, progress_bar=False, kernel_name="python3", cwd=str(RUN)
    )
    text = json.dumps(book)
    assert "redis / riak in each repetition" in text
    assert "image/png" in text
