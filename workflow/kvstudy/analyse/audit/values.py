"""The values of a source's tables, each with the room that rounding leaves it."""

from __future__ import annotations

from pathlib import Path

from kvstudy.analyse.audit.number import Number, half_unit
from kvstudy.analyse.tidy.published import read_published
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.parts import MEAN
from kvstudy.study.published import PRINTED, read_rows
from kvstudy.study.quotes import split_address

# What belongs together: all values of one run of the source.
CELL = ["store", "workload", *SIZES]


def read_values(path: Path, decimals: int) -> pd.DataFrame:
    """The published values (``read_published``) that are there, with a column ``number``.

    ``decimals`` are those that a whole number of the tables has left out.
    """
    frame = read_published(path)
    texts = pd.Series([row["value"] for row in read_rows(path)], dtype=str)
    # The file may say 208419.0 for a number without decimals.
    texts = texts.str.replace(r"\.0+$", "", regex=True)
    shown = frame[PRINTED].where(frame[PRINTED] != "", texts)
    frame["number"] = [
        Number.rounded(value, half_unit(text, value, decimals))
        for text, value in zip(shown, frame["value"], strict=True)
    ]
    return frame.dropna(subset="value").reset_index(drop=True)


def at(values: pd.DataFrame, address: str) -> list[Number]:
    """The numbers at ``address`` (see ``study.quotes``); KvstudyError where there is none.

    Any workload is none that is the mean of the others.
    """
    keys, _ = split_address(address)
    found = which(values, address)
    if not found.any():
        raise KvstudyError(f"published.csv has no value at '{address}'{_hint(values, keys)}")
    return list(values.loc[found, "number"])


def which(values: pd.DataFrame, address: str) -> pd.Series:
    """Whether each of the values is at ``address``."""
    keys, sizes = split_address(address)
    found = pd.Series(True, index=values.index)
    for name, wanted in keys.items():
        if wanted != "*":
            found &= values[name] == wanted
        elif name == "workload":
            found &= values[name] != MEAN
    for name, wanted in sizes.items():
        found &= values[name] == wanted
    return found


def _hint(values: pd.DataFrame, keys: dict[str, str]) -> str:
    """The first part of an address that the values do not have, and what they have."""
    for name, wanted in keys.items():
        known = list(dict.fromkeys(values[name]))
        if wanted != "*" and wanted not in known:
            return f"; no {name} '{wanted}' there, only {', '.join(known)}"
    return "; look up which values the table of the source has"
