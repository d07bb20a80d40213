"""Percentiles over runs. Reference: numpy's inverted_cdf on the samples themselves."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.logs.ycsb.latencies import read_histogram
from kvstudy.stats.percentiles import merged, percentiles_over_runs, quantiles, samples_beyond

DATA = Path(__file__).parents[1] / "data" / "ycsb"
samples = st.lists(st.integers(0, 10_000), min_size=1, max_size=30)
percents = st.sampled_from([0, 1, 25, 50, 90, 95, 99, 99.9, 99.99, 100])


def histogram(values) -> pd.Series:
    return pd.Series(values).value_counts().sort_index()


@given(samples, percents)
def test_a_quantile_is_that_of_the_samples(values, percent):
    expected = np.percentile(values, percent, method="inverted_cdf")
    assert quantiles(histogram(values), [percent]) == [expected]


@given(st.lists(samples, min_size=1, max_size=5))
def test_merging_is_the_histogram_of_all_samples(runs):
    together = merged([histogram(values) for values in runs])
    assert together.equals(histogram([value for run in runs for value in run]))


@given(st.lists(samples, min_size=1, max_size=5), percents)
def test_the_merged_percentile_is_inside_the_range_of_the_runs(runs, percent):
    result = percentiles_over_runs([histogram(values) for values in runs], [percent])[0]
    assert result.low <= result.value <= result.high
    assert result.runs == len(runs)


def test_a_mean_of_percentiles_would_be_something_else():
    """One run of three stalls: 5 % of its operations take a second."""
    quick, stalled = histogram([100] * 1000), histogram([100] * 950 + [1_000_000] * 50)
    result = percentiles_over_runs([quick, quick, stalled], [99])[0]
    assert (result.value, result.low, result.high) == (1_000_000, 100, 1_000_000)
    assert percentiles_over_runs([quick, quick, stalled], [98])[0].value == 100


def test_real_runs():
    files = [DATA / f"redis-hdr-rep{number}.READ.hdr" for number in (1, 2, 3)]
    runs = [pd.Series(read_histogram(file)) for file in files]
    result = percentiles_over_runs(runs, [99.9])[0]
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
