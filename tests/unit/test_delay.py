"""The key ``delay`` of a store in a study."""

from __future__ import annotations

import pytest
from kvstudy.errors import InputError
from kvstudy.stores.definition import load_stores
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import changed_parameters

from tests.project import edit

SLOWER = {"store": "pretend", "name": "slower", "delay": 250}


def test_it_is_a_parameter_of_the_cells_and_in_the_title(pretend_study):
    edit(pretend_study, stores=["pretend", SLOWER])
    study = load_study(pretend_study)
    cells = {cell.store: cell for cell in plan(study)}
    assert (cells["pretend"].delay, cells["slower"].delay) == (None, 250)
    # The cells of runs that were measured before there were delays have no such key.
    assert "delay" not in cells["pretend"].as_json()
    assert [store.title for store in load_stores(study).values()] == [
        "Pretend",
        "Pretend (+250 µs)",
    ]
    measured = cells["slower"].as_json() | {"delay": 600}
    changes = changed_parameters(study, measured, cells["slower"])
    assert changes == "delay was 600, is now 250 (the study small)"
    assert "delay was not given" in changed_parameters(
        study, cells["pretend"].as_json() | {"store": "slower"}, cells["slower"]
    )


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ({"store": "pretend", "delay": -1}, "delay: must be 0 or more, but is -1"),
        ({"store": "pretend", "delay": 0.5}, "delay: must be a whole number, but is 0.5"),
        (
            {"store": "pretend", "delay": 2_000_000},
            "delay: must be 1000000 or less, but is 2000000",
        ),
        ({"store": "rocksdb", "delay": 1}, "RocksDB runs in the client's process"),
    ],
)
def test_a_delay_that_cannot_be_is_refused_with_its_place(pretend_study, use, said):
    edit(pretend_study, stores=[use])
    with pytest.raises(InputError, match=r"study\.yaml: stores") as refused:
        load_stores(load_study(pretend_study))
    assert said in str(refused.value)
