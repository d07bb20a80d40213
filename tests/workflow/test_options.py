"""Arguments that an option of a store adds to its server, when they change between cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError

from tests.project import CELL, edit, kvstudy, measure, parse
from tests.workflow.conftest import CELLS, jobs, measure_all, measured

STORE = "envs/stores/pretend/store.yaml"
OTHER = CELL.replace("rep1", "rep2")


def durability(arguments: list[str]) -> dict:
    option = {"description": "When is a write on disk?", "default": "never"}
    choices = {"never": {"title": "never"}, "always": {"title": "always", "arguments": arguments}}
    return {"durability": option | {"choices": choices}}


USES = [{"store": "pretend", "options": {"durability": "always"}}]


def test_cells_with_a_changed_argument_are_measured_again(workflow):
    workflow.edit(STORE, lambda s: s.update(options=durability(["--flush", "always"])))
    study = {"stores": USES, "workloads": ["c"], "tables": [], "figures": []}
    workflow.edit("config/studies/small/study.yaml", lambda s: s.update(study))
    assert measured(measure_all(workflow)) == ["pretend_c_rep1", "pretend_c_rep2"]
    assert jobs(workflow.snakemake("-n", CELLS)) == {}
    workflow.edit(STORE, lambda s: s.update(options=durability(["--flush", "sometimes"])))
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    # Of no store is an operation known to do the same then.
    assert jobs(done) == {"measure": 2, "parse_cells": 1, "probe_store": 1}
    manifests = (workflow.folder / "results/small/raw").glob("*/*/*/*/manifest.json")
    commands = [json.loads(path.read_text())["server"]["command"] for path in manifests]
    assert [command[-2:] for command in commands] == 2 * [["--flush", "sometimes"]]


@pytest.fixture
def flushed(pretend_study: Path) -> None:
    """A study of one store, whose option adds arguments."""
    edit(Path(STORE), options=durability(["--flush", "always"]))
    edit(pretend_study, stores=USES)


def test_repetitions_with_other_arguments_are_never_counted_together(flushed):
    measure()
    edit(Path(STORE), options=durability(["--flush", "sometimes"]))
    with pytest.raises(KvstudyError, match="rep1: measured with other parameters: arguments was"):
        measure(OTHER)
    with pytest.raises(KvstudyError) as refused:
        parse()
    assert str(refused.value) == (
        f"results/small/raw/{CELL}: measured with other options than {STORE} has now: arguments "
        "was --flush always, is now --flush sometimes. Put that file back, or remove SHA256SUMS in "
        "that folder to measure it again"
    )


def test_a_changed_argument_after_all_cells_is_seen_too(flushed):
    measure()
    cells, _ = parse()
    assert cells.status["pretend/a/rep1"] == "measured"
    edit(Path(STORE), options=durability([]))
    with pytest.raises(KvstudyError, match="was --flush always, is now none"):
        parse()


def test_a_probe_with_other_arguments_is_refused(flushed):
    kvstudy("probe", "pretend", "--study", "config/studies/small/study.yaml", "--provider=native")
    edit(Path(STORE), options=durability(["--flush", "sometimes"]))
    with pytest.raises(KvstudyError, match="results/small/probes/pretend: measured with other"):
        parse()


def test_a_server_that_says_other_settings_than_before_is_refused_before_it_is_loaded(flushed):
    verbs = Path("envs/stores/pretend/verbs.py")
    text = verbs.read_text()
    settings = "\n\ndef settings(host, port):\n    return {'flush': '%s', 'port': str(port)}\n"
    verbs.write_text(text + settings % "always")
    measure()
    measure(OTHER)
    raw = Path("results/small/raw")
    assert json.loads((raw / CELL / "settings.json").read_text()) == {"flush": "always"}
    verbs.write_text(text + settings % "never")
    with pytest.raises(KvstudyError) as refused:
        measure(CELL.replace("/a/", "/c/"))
    assert "settings of pretend: settings.json (" in str(refused.value)
    assert "its cells were not measured under the same conditions" in str(refused.value)
    cells, _ = parse()
    assert cells.status["pretend/a/rep2"] == "measured"
    data = json.loads(Path("results/small/environment.json").read_text())["stores"]["pretend"]
    assert data["arguments"] == ["--flush", "always"]
    assert data["settings"] == {"flush": "always"}
