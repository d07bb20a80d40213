"""Trial cells show how many clients a store needs; what is not needed is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.study.cells import Cell, plan
from kvstudy.study.controls import clients_of_trial
from kvstudy.study.load import load_study
from kvstudy.study.raw import is_gap, raw_directory

from tests.project import kvstudy, measure


def planned(study: Path) -> list[Cell]:
    return [
        cell
        for cell in plan(load_study(study))
        if cell.workload == "a" and cell.store.startswith("pretend")
    ]


@pytest.mark.parametrize(
    ("client", "needed", "left_out"),
    [
        # Each client more is as fast as the first.
        ("", 4, set()),
        ("busy", 1, {6, 7, 8, 9, 10}),
    ],
)
def test_as_many_clients_as_a_store_needs(pretend_study, monkeypatch, client, needed, left_out):
    monkeypatch.setenv("PRETEND_CLIENT", client)
    text = pretend_study.read_text()
    pretend_study.write_text(text.replace("threads: 2}", "threads: 4, clients: auto}"))
    cells = planned(pretend_study)
    trials = [cell for cell in cells if clients_of_trial(cell.store)]
    selected = [cell for cell in cells if cell.store == "pretend"]
    with pytest.raises(KvstudyError, match="20 of its trial cells are not measured"):
        measure(selected[0].path)
    for cell in [*trials, *selected]:
        measure(cell.path)
    assert {cell.repetition for cell in trials if is_gap("small", cell)} == left_out
    for cell in selected:
        manifest = json.loads((raw_directory("small", cell) / "manifest.json").read_text())
        assert 1 + len(manifest["phases"]["run"]["others"]) == needed
    kvstudy("parse", "small")
    values = pd.read_csv("results/small/measurements.csv")
    number = values[(values["store"] == "pretend") & (values["metric"] == "clients")]
    assert set(number["value"]) == {needed}
    # One client, too: YCSB's own run time has the connecting in it, and is no match for theirs.
    timed = values[(values["workload"] == "a") & (values["metric"] == "shared_time")]
    assert {"pretend", "pretend-1-client", "pretend-2-clients"} <= set(timed["store"])
    rows = pd.read_csv("results/small/cells.csv").set_index("repetition")
    of_most = rows[(rows["store"] == "pretend-4-clients") & (rows["workload"] == "a")]
    reasons = {} if left_out == set() else dict(of_most["reason"].map(sentence))
    assert reasons == dict.fromkeys(sorted(left_out), "1 client is enough")


def test_all_repetitions_have_the_number_of_the_first(pretend_study):
    text = pretend_study.read_text()
    pretend_study.write_text(text.replace("threads: 2}", "threads: 2, clients: auto}"))
    cells = planned(pretend_study)
    trials = [cell for cell in cells if clients_of_trial(cell.store)]
    first, second, *_ = (cell for cell in cells if cell.store == "pretend")
    for cell in [*trials, first]:
        measure(cell.path)
    # Without the trials nobody would know.
    for cell in trials:
        for file in raw_directory("small", cell).iterdir():
            file.unlink()
    measure(second.path)
    manifest = json.loads((raw_directory("small", second) / "manifest.json").read_text())
    assert manifest["cell"]["clients"] == 2
    assert Path("results/small/raw", second.path, "run-2.out").is_file()
