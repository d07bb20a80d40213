"""YCSB's results as spreadsheets and older versions write them, in the form of YCSB 0.17."""

from __future__ import annotations

import re

from kvstudy.errors import DataError
from kvstudy.logs.ycsb.log import OPERATIONS

_SECTION = (
    rf"(?:Hdr|Raw|Bucket)?(?:Intended-)?(?:OVERALL|CLEANUP|{'|'.join(OPERATIONS)})(?:-[A-Z_]+)?"
)
_LABEL = (
    r"RunTime\(ms\)|Throughput\(ops/sec\)|(?:Total )?Operations|(?:Average|Min|Max)Latency\(\w+\)"
    r"|LatencyVariance\(us\)|[\d.]+(?:st|nd|rd|th)?PercentileLatency\(\w+\)|Return=-?\w*"
)
_BETWEEN = r"(?:\"?[ \t]*[,;|:=\t][ \t]*\"?|[ ]+)"
# What begins a result, in any form.
RESULT = rf"\"?(?:\[{_SECTION}\]|\b{_SECTION}\b){_BETWEEN}(?:{_LABEL}){_BETWEEN}(?=\S)"
OF_OPERATIONS = re.compile(
    rf"^\[{_SECTION}\], (?:{_LABEL}), |\"metric\"\s*:\s*\"{_SECTION}\"", re.MULTILINE
)
RUN_TIME = re.compile(
    rf"^(?:\"?\[?OVERALL\]?{_BETWEEN}RunTime\(ms\){_BETWEEN}"
    r'|.*"metric"\s*:\s*"OVERALL",\s*"measurement"\s*:\s*"RunTime\(ms\)")',
    re.MULTILINE,
)
_ROW = re.compile(
    rf"^\"?(?:\[(?P<section>{_SECTION})\]|(?P<bare>{_SECTION})){_BETWEEN}(?P<label>{_LABEL})"
    rf"(?P<second>{_BETWEEN})(?P<value>[^\"]*?)\"?[ \t]*[,;|]*[ \t]*$",
    re.MULTILINE,
)
_NATIVE = re.compile(rf"\[{_SECTION}\],[ \t]*(?:{_LABEL}),[ \t]*[-+]?[\d.]*\w[-+\w.]*[ \t]*$")
# Digits in threes with a sign between, or none; then a part of a whole.
_NUMBER = re.compile(
    r"(?P<whole>\d{1,3}(?:(?P<group>[.,'\u2019 \u00a0\u202f])\d{3}(?:(?P=group)\d{3})*)?|\d+)"
    r"(?P<rest>[.,]\d+)?(?P<power>[eE][-+]?\d+)?"
)
_LAST = re.compile(
    r"(?:^|\n)\[([\w-]+)\], (Return=\w+|[\d.]+(?:st|nd|rd|th)PercentileLatency\(us\)), (\d+)\Z"
)
_OF_MILLISECONDS = re.compile(r"^\[\w.*\], (?:Average|Min|Max)Latency\(ms\), .*", re.MULTILINE)
# YCSB for Java counts whole milliseconds and no threads; a return code has a name or a number.
_OF_ANOTHER = re.compile(
    r"^\[OVERALL\], (?:Thread.*|RunTime\(ms\), \d+\.\d*[1-9]\d*)$|^\[.+\], Return=, .*",
    re.MULTILINE,
)
_PERCENTILES = re.compile(r"^\[.+\], [\d.]+(?:st|nd|rd|th)?PercentileLatency\(\w+\), .*\n", re.M)
_PAIR = r"\"(metric|measurement|value)\"\s*:\s*(\"[^\"\n]*\"|[^\s,{}\"]+)"
_OBJECT = re.compile(r"\{(?:\s*" + _PAIR + r"\s*,?){3}\s*\}")
_OLD_CODE = re.compile(r"Return=(-?\d+), \d")


def in_form_of_ycsb(text: str) -> tuple[str, list[str]]:
    """Return ``text`` with its results as YCSB 0.17 writes them, and what was changed.

    DataError, naming the first line, where that cannot be done for certain.
    """
    rows = [match for match in _ROW.finditer(text) if not _NATIVE.match(match[0])]
    if "[OVERALL]" in text:
        # A driver's own words have no brackets.
        rows = [row for row in rows if row["section"]]
    if rows and rows[-1].end() == len(text) and not rows[-1]["value"]:
        # The log ends here, which it says itself.
        rows.pop()
    decimal = _decimal_sign(rows)
    pieces, end = [], 0
    for row in rows:
        value = _plain(row, decimal)
        pieces += [
            text[end : row.start()],
            f"[{row['section'] or row['bare']}], {row['label']}, {value}",
        ]
        end = row.end()
    changes = []
    if rows:
        commas = " with decimal commas" if decimal == "," else ""
        changes.append(f"its rows are those of a spreadsheet{commas}")
    return _in_form_of_today("".join([*pieces, text[end:]]), changes)


def with_keys_in_order(text: str) -> str:
    """Return ``text`` with the keys of YCSB's JSON in its own order, which some tools sort."""

    def ordered(match: re.Match) -> str:
        pairs = re.findall(_PAIR, match[0])
        by_key = dict(pairs)
        if len(by_key) < 3 or [key for key, _ in pairs] == ["metric", "measurement", "value"]:
            return match[0]
        keys = ", ".join(f'"{key}": {by_key[key]}' for key in ("metric", "measurement", "value"))
        # Each line keeps its number.
        return f"{{{keys}{chr(10) * match[0].count(chr(10))}}}"

    return _OBJECT.sub(ordered, text)


def ended(text: str) -> str:
    """Return ``text`` with the end of its last line, if that is missing and the line is whole.

    An editor may leave it out. A count is whole if the operations before it are as many, a
    percentile if it is the maximum.
    """
    if text.endswith("\n") or not (match := _LAST.search(text)):
        return text
    section, label, value = match.groups()
    proof = "Operations" if label.startswith("Return=") else "MaxLatency(us)"
    return f"{text}\n" if f"[{section}], {proof}, {value}\n" in text else text


def _line(match: re.Match) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def _decimal_sign(rows: list[re.Match]) -> str:
    """Return the sign before the part of a whole in the values of ``rows``.

    It is the same in all of them: 12.345 may be twelve or twelve thousand, 254.14 may not.
    """
    signs: dict[str, re.Match] = {}
    unclear: list[re.Match] = []
    for row in rows:
        match = _NUMBER.fullmatch(row["value"])
        if match and match["rest"]:
            if match["group"] or len(match["rest"]) != 4 or len(match["whole"]) > 3:
                signs.setdefault(match["rest"][0], row)
        elif match and match["group"] in (".", ","):
            if match["whole"].count(match["group"]) > 1:
                signs.setdefault("," if match["group"] == "." else ".", row)
            else:
                unclear.append(row)
    if len(signs) > 1:
        first, second = sorted(_line(row) for row in signs.values())
        raise DataError(
            f"lines {first} and {second}: values have decimal points and decimal commas; save all "
            "with points"
        )
    if unclear and not signs:
        value = unclear[0]["value"]
        readings = [re.sub("[.,]", sign, value) for sign in ("", ".")]
        raise DataError(
            f"line {_line(unclear[0])}: '{value}' may be {' or '.join(readings)}; save the values "
            "without a sign between thousands"
        )
    return next(iter(signs), ".")


def _plain(row: re.Match, decimal: str) -> str:
    """Return the value as YCSB writes it; DataError when it is no number, or may be two."""
    value = row["value"].strip()
    if value in ("NaN", "Infinity"):
        return value
    match = _NUMBER.fullmatch(value)
    # With commas between columns a decimal comma has quotes around its number.
    is_one = "," not in value or "," not in row["second"] or row["second"].endswith('"')
    if match and is_one:
        rest = (match["rest"] or "")[1:]
        if match["group"] == decimal and not rest and value.count(decimal) == 1:
            return value.replace(decimal, ".")
        if match["group"] != decimal and (match["rest"] or decimal)[0] == decimal:
            whole = re.sub(r"\D", "", match["whole"])
            return f"{whole}{'.' if rest else ''}{rest}{match['power'] or ''}"
    raise DataError(
        f"line {_line(row)}: '{row[0].strip()[:100]}' is not as YCSB writes it; leave only YCSB's "
        "own value there"
    )


def _in_form_of_today(text: str, changes: list[str]) -> tuple[str, list[str]]:
    """Take what YCSB before 0.5 writes: return codes are numbers, 0 is a good one.

    It counts failed operations among all; some of its versions print percentiles in milliseconds
    under the label (us).
    """
    if match := _OF_MILLISECONDS.search(text):
        raise DataError(
            f"line {_line(match)}: '{match[0]}' is of a YCSB before 0.1.4, which is not read"
        )
    if match := _OF_ANOTHER.search(text):
        raise DataError(
            f"line {_line(match)}: '{match[0]}' is of a program that writes in YCSB's form; only "
            "YCSB for Java is read"
        )
    codes = set(_OLD_CODE.findall(text))
    if codes - {"0"}:
        raise DataError(
            f"a YCSB before 0.5 wrote this (Return={max(codes - {'0'})}); its latencies are those "
            "of failed operations too. Measure again with a newer one"
        )
    if codes:
        text = re.sub(r"Return=0(?=, \d)", "Return=OK", text)
        changes = [*changes, "YCSB before 0.5 wrote it: Return=0 is OK"]
    if codes or "PercentileLatency(ms)" in text:
        # Each line keeps its number.
        text = _PERCENTILES.sub("\n", text)
        changes = [*changes, "its percentiles are whole milliseconds and are left out"]
    return text, changes
