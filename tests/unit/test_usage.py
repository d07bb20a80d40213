"""How many cores there were, and how busy."""

from __future__ import annotations

from pathlib import Path

import pytest
from kvstudy.analyse.tidy.resources import usage
from kvstudy.logs.ycsb.parse import parse
from kvstudy.study.alike import usable_cores

LOG = Path(__file__).parents[1] / "data" / "ycsb" / "redis-workloada-run-r3.out"
HEADER = "phase,seconds,cpu_busy,cpu_idle,cpu_steal\n"


def cores(raw: Path, seconds: float, used: float, usable: int | None = None) -> float | None:
    (raw / "machine.csv").write_text(f"{HEADER}run,0,10,10,0\nrun,{seconds},{10 + used},10,0\n")
    log = parse(LOG.read_text(), LOG.name)
    return usage(raw, "run", 4, log, (1.0, seconds), usable=usable).get("machine_cores")


def test_short_samples_do_not_tell_how_many_cores_there_are(tmp_path):
    # On two cores, with ticks that came late.
    assert cores(tmp_path, 0.5, 0.51) is None
    assert cores(tmp_path, 2.0, 3.9) == 2


def test_what_the_manifest_says_comes_first(tmp_path):
    assert cores(tmp_path, 0.5, 0.51, usable=2) == 2
    assert cores(tmp_path, 10.0, 80.0, usable=2) == 2


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ([{"component": "CPU", "details": "cores-clock cores=1 threads=12 clock=2"}], 12),
        ([{"component": "CPU", "details": ""}], None),
        (None, None),
    ],
)
def test_usable_cores_of_a_manifest(environment, number):
    assert usable_cores({"environment": environment}) == number
