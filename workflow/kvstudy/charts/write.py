"""Charts beside the static figures: each is made of the CSV of its figure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.charts.bars import averages_chart, bars_chart

# Columns with words; all others have numbers.
WORDS = [
    *["panel", "group", "store", "unit", "torn", "note", "workload", "parameters", "repetition"],
    *["operation", "strip", "verdict", "side", "metric", "saturated", "one", "other", "tied"],
    *["in_floor", "basis", "tied_with", "origin", "time"],
]


def read_figure(path: Path) -> pd.DataFrame:
    """What a figure shows, from its CSV; words that are missing are empty."""
    words = dict.fromkeys(WORDS, str)
    table = pd.read_csv(path, dtype=words, float_precision="round_trip")
    there = [name for name in WORDS if name in table]
    return table.fillna(dict.fromkeys(there, ""))
