"""The audit of a study's source: made from its files, written, and read again."""

from __future__ import annotations

import math
from dataclasses import astuple, replace
from functools import reduce
from operator import add, mul, sub, truediv
from pathlib import Path

from kvstudy.analyse.audit.check import (
    COLUMNS,
    MISFITS,
    NUMBERS,
    Check,
    Fits,
    Kind,
    PrintedNumber,
    beyond,
    half_unit,
    judged,
    quoted,
    severity,
)
from kvstudy.analyse.audit.tables import ACROSS_CELLS, CELL, OF_CELL, PublishedRun, Shares
from kvstudy.analyse.tidy.files import CsvTable
from kvstudy.analyse.tidy.results import INCONSISTENT, read_published
from kvstudy.errors import InputError, KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import PRINTED, read_rows
from kvstudy.study.quotes import (
    Computed,
    Quote,
    Quotes,
    addresses,
    is_number,
    load_quotes,
    split_address,
)
from kvstudy.study.workload import load_only, properties_of
from kvstudy.study.ycsb_properties import proportions_of

# These take all the values that an address with * stands for.
OF_MANY = {
    "mean": lambda *numbers: reduce(add, numbers) * (1 / len(numbers)),
    "sum": lambda *numbers: reduce(add, numbers),
    "least": lambda *numbers: PrintedNumber(*map(min, zip(*map(astuple, numbers), strict=True))),
    "most": lambda *numbers: PrintedNumber(*map(max, zip(*map(astuple, numbers), strict=True))),
}
HOW = OF_MANY | {
    "ratio": truediv,
    "change": lambda number, other: (number / other - PrintedNumber.exact(1)) * 100,
    "difference": sub,
    "product": lambda *numbers: reduce(mul, numbers),
}
AUDIT = CsvTable("audit", COLUMNS, NUMBERS, "audit")


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
        PrintedNumber.rounded(value, half_unit(text, value, decimals))
        for text, value in zip(shown, frame["value"], strict=True)
    ]
    return frame.dropna(subset="value").reset_index(drop=True)


def at(values: pd.DataFrame, address: str) -> list[PrintedNumber]:
    """The numbers at ``address`` (see ``study.quotes``); InputError where there is none.

    Any workload is none that is the mean of the others.
    """
    numbers = list(values.loc[which(values, address), "number"])
    if not numbers:
        raise InputError(
            f"published.csv has no value at '{address}'; look up which values the table of the "
            "source has"
        )
    return numbers


def which(values: pd.DataFrame, address: str) -> pd.Series:
    """Return a mask of the values at ``address``."""
    keys, sizes = split_address(address)
    mask = values["workload"].ne(MEAN) | (keys["workload"] != "*")
    for name, wanted in (keys | sizes).items():
        if wanted != "*":
            mask &= values[name] == wanted
    return mask


def check_quote(quote: Quote, values: pd.DataFrame, key: str) -> Check:
    """The check of a quote; InputError begins with its ``key`` in the file."""
    said = quoted(quote.value, quote.about)
    words = {"kind": Kind.TEXT, "place": quote.place, "what": quote.says, "unit": quote.unit}
    words |= {"note": quote.note, "claim": quote.claim or ""}
    if quote.expected is None:
        unknown = dict.fromkeys(("expected", "low", "high", "off"), math.nan)
        return Check(**words, **unknown, given=said.value, fits=Fits.NONE)
    try:
        expected = evaluate(quote.expected, values)
    except KvstudyError as error:
        raise InputError(f"{key}: {error}") from None
    # What is expected is to the quoted number as it says, so this is the other way round.
    if quote.relation == "at least":
        expected = replace(expected, low=-math.inf)
    elif quote.relation == "at most":
        expected = replace(expected, high=math.inf)
    fields = judged(said, expected)
    if fields["off"]:
        shift, unit = _ratio(quote.expected, values)
        first, second = (
            (each + PrintedNumber.exact(shift)) * (1 / unit) for each in (said, expected)
        )
        turned = shift != 0 and (first.value - 1) * (second.value - 1) < 0
        off = beyond(first, second.low, second.high)
        fields |= {"off": off, "fits": severity(off, turned)}
    return Check(**words, **fields)


def _ratio(expected: object, values: pd.DataFrame) -> tuple[float, float]:
    """Return ``(addend, divisor)`` that turn a number like ``expected`` into a ratio.

    A change of -20 % is a ratio of 0.8. So is a difference of -20 from 100: what is wrong
    then is the compared value, and not the whole of it. Other numbers stay as they are.
    """
    how = expected.how if isinstance(expected, Computed) else ""
    if how == "change":
        return 100, 100
    if how == "difference" and (base := evaluate(expected.parts[1], values).value) > 0:
        return base, base
    return _ratio(expected.parts[0], values) if how in OF_MANY else (0, 1)


def evaluate(operand: Computed | str | float, values: pd.DataFrame) -> PrintedNumber:
    """The number that ``operand`` stands for, with its room for rounding.

    InputError: an address without a value, or with several where one belongs; a
    division by 0.
    """
    if isinstance(operand, Computed):
        numbers = []
        for part in operand.parts:
            many = operand.how in OF_MANY and isinstance(part, str) and not is_number(part)
            numbers += at(values, part) if many else [evaluate(part, values)]
        try:
            return HOW[operand.how](*numbers)
        except ZeroDivisionError as error:
            text = f"{operand.how}: {error}; the source gives no such number"
            raise InputError(text) from None
    if not isinstance(operand, str):
        return PrintedNumber.exact(operand)
    if is_number(operand):
        return quoted(operand, about=False)
    first, *others = at(values, operand)
    if others:
        raise InputError(
            f"published.csv has {len(others) + 1} values at '{operand}'; add sizes to it, or take "
            f"one of {', '.join(OF_MANY)}"
        )
    return first


def audit(study: Study, published: Path | None, quoted: Path | None) -> pd.DataFrame:
    """All checks of the source (see ``check.Check``), the tables' first.

    ``published`` are its tables, ``quoted`` what its text says; one of them may be missing.
    InputError names file and key of a quote that the tables do not have.
    """
    said = load_quotes(quoted, study, published) if quoted else Quotes()
    keys = [f"{quoted}: quotes[{index}].expected" for index in range(len(said.quotes))]
    values, checks = pd.DataFrame(), []
    if published is not None:
        values = read_values(published, said.setting.decimals)
        checks = consistency(values, said, _shares(study))
    for key, quote in zip(keys, said.quotes, strict=True):
        if published is None and (needed := addresses(quote.expected)):
            raise InputError(
                f"{key}: '{needed[0]}' needs a published.csv, and the study has none; "
                "leave `expected` out, or give numbers"
            )
        checks.append(check_quote(quote, values, key))
    return AUDIT.frame([vars(check) for check in checks])


def consistency(values: pd.DataFrame, said: Quotes, shares: Shares) -> list[Check]:
    """The checks of the tables with the ``values`` (``read_values``)."""
    groups = values.groupby(CELL, sort=False, dropna=False)
    cells = [PublishedRun.of(rows, said, shares) for _, rows in groups]
    checks = [row for cell in cells for check in OF_CELL for row in check(cell)]
    return checks + [row for check in ACROSS_CELLS for row in check(values, cells, said)]


def _shares(study: Study) -> dict[str, dict[str, float]]:
    """The shares of the operations (0 to 1) of each workload with a run phase."""
    result = {}
    for use in study.workloads:
        if not load_only(properties := properties_of(study, use)):
            shares = proportions_of(properties)
            total = sum(shares.values()) or math.nan
            result[use.name] = {name: share / total for name, share in shares.items()}
    return result


def gravest_first(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the failed checks, sorted by effect and then by relative error."""
    wrong = checks[checks["fits"].isin(MISFITS)]
    order = pd.DataFrame({"fits": wrong["fits"].map(MISFITS.index), "off": -wrong["off"].abs()})
    return wrong.loc[order.sort_values(["fits", "off"], kind="stable").index]


def misfits(checks: pd.DataFrame) -> dict[str, dict[str, object]]:
    """The gravest check that does not fit of each statement of a claim, by its name (J4/1)."""
    wrong = gravest_first(checks[checks["claim"] != ""]).drop_duplicates("claim")
    return {row["claim"]: row for row in wrong.to_dict("records")}


def judged_values(values: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """``values`` (``read_published``) with ``inconsistent``: a check of theirs changes a result.

    Of two values that cannot both be true both are inconsistent, since none says which is wrong,
    and so is a mean over the workloads with such a value in it.
    """
    inconsistent = pd.Series(False, index=values.index)
    wrong = checks[(checks["fits"] == Fits.RESULT) & (checks["kind"] != Kind.TEXT)]
    for doubts in wrong["doubts"]:
        for address in filter(None, doubts.split("; ")):
            inconsistent |= which(values, address)
    same = ["store", "operation", "metric"]
    parts = values.loc[inconsistent, same].drop_duplicates().assign(part=True)
    in_mean = values[same].merge(parts, on=same, how="left")["part"].notna().to_numpy()
    inconsistent |= (values["workload"] == MEAN) & in_mean
    return values.assign(**{INCONSISTENT: inconsistent})
