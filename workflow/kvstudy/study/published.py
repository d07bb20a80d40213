"""The published values of a study's source, and other files of the source.

The values (``published.csv``) are read strictly: one that is not understood would be
missing in tables, claims and checks, and nobody would notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from kvstudy.errors import InputError
from kvstudy.language.current import suffix
from kvstudy.study.base import SIZES, Asked
from kvstudy.study.metrics import OF_SOURCES, is_percentile, metric_of
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import MEAN
from kvstudy.study.raw import file_digest
from kvstudy.study.reading import read_lines

# Values, numbers of the text, what the source says it found, and properties of the stores.
PUBLISHED, QUOTES = "published.csv", "quotes.yaml"
CLAIMS, PROPERTIES = "claims.yaml", "properties.yaml"
COLUMNS = ["study", "table", "store", "workload", "operation", "metric", "unit", "value"]
# May be left out, as may the sizes of the source's cells: the value as the source prints it.
PRINTED = "printed"
KEYS = ["store", "workload", "operation", "metric", *SIZES]
# The only one that can fall below 0.
SIGNED = "throughput_change"
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_SIZE = re.compile(r"[1-9]\d{0,17}", re.ASCII)
_REMEDY = "it is part of the study, beside study.yaml; see config/README.md"


def sibling_file(study: Path, name: str) -> Path | None:
    """The file of that name beside the study file; None where there is none."""
    path = study.with_name(name)
    return path if path.is_file() else None


def claims_digest(study: Path) -> str:
    """The checksum of the claims beside the study file; "" where it has none."""
    path = sibling_file(study, CLAIMS)
    return file_digest(path) if path else ""


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of the file ``path``, with all of ``COLUMNS``, sizes, printed, and their line.

    Each has one value: a number, or empty where ``printed`` says what the source has in its place.
    InputError names line and column of all that is wrong.
    """
    rows, problems = [], []
    seen: dict[tuple[str, ...], int] = {}
    for line, row in read_lines(path, COLUMNS, [*SIZES, PRINTED], _REMEDY):
        problems += [f"{path}: line {line}, column {text}" for text in _problems(row)]
        first = seen.setdefault(tuple(row[name] for name in KEYS), line)
        if first != line:
            problems.append(
                f"{path}: line {line}: a second {row['metric']} of {row['operation']} for "
                f"{row['store']}, workload {row['workload']} (and the same sizes), as in line "
                f"{first}; keep one of them"
            )
        rows.append(row | {"line": str(line)})
    if problems:
        raise InputError("\n".join(problems))
    if not rows:
        raise InputError(f"{path}: holds no values; add some, or remove the file")
    return rows


def check_names(
    path: Path, study: Study, stores: list[str], workloads: list[str]
) -> list[dict[str, str]]:
    """The rows of ``path``; InputError for one of another study, or of unknown names.

    ``stores`` and ``workloads`` are those that the project has: a study may have fewer than
    its source.
    """
    known = {
        "store": list(dict.fromkeys([*study.store_names, *stores])),
        "workload": list(dict.fromkeys([*study.workload_names, MEAN, *workloads])),
    }
    rows, problems = read_rows(path), []
    for row in rows:
        place = f"{path}: line {row['line']}, column"
        # Several studies may repeat one source.
        if row["study"] not in (study.name, study.source and study.source.key):
            problems.append(
                f"{place} study: '{row['study']}' is another study; this is '{study.name}'"
            )
        # A value of two stores, one by the other: redis/mysql.
        named = [("store", name) for name in row["store"].split("/")]
        problems += [
            f"{place} {kind}: unknown {kind} '{name}'{did_you_mean(name, known[kind])}"
            for kind, name in [*named, ("workload", row["workload"])]
            if name not in known[kind]
        ]
    if problems:
        raise InputError("\n".join(problems))
    return rows


def _problems(row: dict[str, str]) -> Iterator[str]:
    """Return the problems of a single row, each starting with its column."""
    required = list(get_args(Asked))
    for name in row["operation"].split("+"):
        if name not in required:
            yield f"operation: unknown operation '{name}'{did_you_mean(name, required)}"
    metric, value = row["metric"], row["value"]
    if metric not in OF_SOURCES and not is_percentile(metric):
        yield f"metric: unknown metric '{metric}'{did_you_mean(metric, OF_SOURCES)}"
    elif row["unit"] != (unit := metric_of(metric).unit):
        yield f"unit: {metric} in '{row['unit']}'; give it in '{unit}'"
    if not value and not row[PRINTED]:
        yield (
            f"value: is empty; give the number, or in the column {PRINTED} what the source has "
            "in its place, like -"
        )
    elif value and not _NUMBER.fullmatch(value):
        yield f"value: '{value}' is no number; give one like 5081.13"
    elif value.startswith("-") and metric != SIGNED:
        yield f"value: {value} is negative; a {metric} is 0 or more"
    for size in SIZES:
        if row[size] and not _SIZE.fullmatch(row[size]):
            yield f"{size}: '{row[size]}' is no whole number above 0; give one, or leave it empty"


def source_files(study: Path) -> dict[str, Path]:
    """The files beside the study file by name; InputError where nothing of a source is known."""
    names = (PUBLISHED, QUOTES, CLAIMS, PROPERTIES)
    files = {name: path for name in names if (path := sibling_file(study, name))}
    if files.keys() <= {PROPERTIES}:
        raise InputError(
            f"{study.parent}: none of {PUBLISHED}, {QUOTES} and {CLAIMS} is there, so nothing of "
            "a source can be shown; add one of them, or use source=measured"
        )
    return files


def published_name(study: str, language: str) -> str:
    """Return the name of the run of the published values of ``study``."""
    return f"{study}-published{suffix(language)}"
