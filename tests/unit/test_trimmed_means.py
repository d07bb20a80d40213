"""Trimmed means in the tables of a study that asks for them."""

import pandas as pd
import pytest
from kvstudy.analyse.findings.intervals import trimmed
from kvstudy.analyse.tidy.files import MEASUREMENTS
from kvstudy.present.typeset.latex import DASH
from pydantic import ValidationError

from . import small_results as small

RUNS = [100.0, 104.0, 106.0, 110.0, 500.0]


def values(runs: list[float]) -> pd.DataFrame:
    rows = [
        ["redis", "a", "p", str(n), "run", "overall", "throughput", "ops/s", each]
        for n, each in enumerate(runs, start=1)
    ]
    return pd.DataFrame(rows, columns=MEASUREMENTS.columns)


def test_the_disturbed_run_is_dropped_and_the_plain_mean_stays_beside_it():
    (row,) = trimmed(values(RUNS)).itertuples()
    assert (row.n, row.mean) == (5, 184)
    assert row.trimmed == pytest.approx((104 + 106 + 110) / 3)
    assert row.low < row.trimmed < row.high
    study = small.study(repetitions=5, trimmed_mean=True)
    (grid,) = small.table("trimmed").grids(trimmed(values(RUNS)), small.run(study=study))
    (line,) = grid.lines
    assert line.cells[:2] == ["184.0", "106.7"]
    assert line.cells[3:] == [DASH] * 3


def test_fewer_than_five_runs_that_count_have_no_trimmed_mean():
    assert trimmed(values(RUNS[:4])).empty


def test_a_study_of_few_repetitions_cannot_ask_for_it():
    with pytest.raises(ValidationError, match="needs 5 repetitions or more, there are 2"):
        small.study(trimmed_mean=True)
    names = [table.name for table in small.study(repetitions=5, trimmed_mean=True).tables]
    assert "trimmed" in names
    assert "trimmed" not in [table.name for table in small.study().tables]
