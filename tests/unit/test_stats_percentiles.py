"""Percentiles over runs. Reference: numpy's inverted_cdf on the samples themselves."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.stats.percentiles import Percentile, PooledRuns, quantiles, samples_beyond

DATA = Path(__file__).parents[1] / "data" / "ycsb"
samples = st.lists(st.integers(0, 10_000), min_size=1, max_size=30)
percents = st.sampled_from([0, 1, 25, 50, 90, 95, 99, 99.9, 99.99, 100])


def histogram(values) -> pd.Series:
    return pd.Series(values).value_counts().sort_index()


def pooled(runs: list[pd.Series], percent: float) -> tuple[PooledRuns, Percentile]:
    """The runs together, and one of their percentiles."""
    together = PooledRuns([percent])
    for run in runs:
        together.add(run.index.to_numpy(), run.to_numpy())
    (percentile,) = together.percentiles([percent])
    return together, percentile


@given(samples, percents)
def test_a_quantile_is_that_of_the_samples(values, percent):
    expected = np.percentile(values, percent, method="inverted_cdf")
    assert quantiles(histogram(values), [percent]) == [expected]


@given(st.lists(samples, min_size=1, max_size=5))
def test_merging_is_the_histogram_of_all_samples(runs):
    of_all, _ = pooled([histogram(values) for values in runs], 50)
    latencies, counts = of_all.together
    expected = histogram([value for run in runs for value in run])
    assert dict(zip(latencies, counts, strict=True)) == expected.to_dict()
    assert of_all.samples == expected.sum()


@given(st.lists(samples, min_size=1, max_size=5), percents)
def test_the_merged_percentile_is_inside_the_range_of_the_runs(runs, percent):
    _, result = pooled([histogram(values) for values in runs], percent)
    assert result.low <= result.value <= result.high
    assert result.runs == len(runs)


def test_a_mean_of_percentiles_would_be_something_else():
    """One run of three stalls: 5 % of its operations take a second."""
    quick, stalled = histogram([100] * 1000), histogram([100] * 950 + [1_000_000] * 50)
    _, result = pooled([quick, quick, stalled], 99)
    assert (result.value, result.low, result.high) == (1_000_000, 100, 1_000_000)
    assert pooled([quick, quick, stalled], 98)[1].value == 100


def test_real_runs():
    files = [DATA / f"redis-hdr-rep{number}.READ.hdr" for number in (1, 2, 3)]
    runs = [pd.Series(read_histogram(file)) for file in files]
    _, result = pooled(runs, 99.9)
    singles = [quantiles(run, [99.9])[0] for run in runs]
    assert (result.low, result.high) == (min(singles), max(singles))
    assert result.low < result.value < result.high
    samples = np.concatenate([np.repeat(run.index, run) for run in runs])
    assert result.value == np.percentile(samples, 99.9, method="inverted_cdf")
    assert result.beyond == len(samples) - int(np.ceil(len(samples) * 0.999))


@pytest.mark.parametrize(
    ("samples", "percent", "beyond"),
    [
        (100_000, 99.9, 100),
        (99_999, 99.9, 99),
        (10_000, 99, 100),
        (2_000, 95, 100),
        (1_000_000, 99.99, 100),
        (1_000, 99.9, 1),
        (100_000, 100, 0),
        (10, 0, 9),
    ],
)
def test_samples_beyond(samples, percent, beyond):
    assert samples_beyond(samples, percent) == beyond
