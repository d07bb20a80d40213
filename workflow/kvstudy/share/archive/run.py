"""The runs that are here."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.load import STUDIES
from kvstudy.study.naming import did_you_mean
from kvstudy.study.run_names import Run, parse_name

RESULTS = Path("results")


def find_run(name: str) -> Run:
    """The run of that name, or of that folder below results/; KvstudyError for no run."""
    name = Path(name).name
    if not (RESULTS / name).is_dir():
        there = sorted(path.name for path in RESULTS.glob("*") if parse_name(path.name))
        hint = did_you_mean(name, there) if there else "; the project here has no results"
        raise KvstudyError(f"{RESULTS / name}: no such run{hint}")
    if run := parse_name(name):
        return run
    raise KvstudyError(
        f"{RESULTS / name}: is of no study in {STUDIES}; put the folder of its study there"
    )
