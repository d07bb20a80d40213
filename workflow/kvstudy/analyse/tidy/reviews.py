"""Records of reviews: what somebody else measured of an archive's comparisons.

A record is a small JSON file in the folder ``reviews`` beside the archive, and, for the run's
report, in that folder of the run's results. Its checksum shows accidents and later edits; it is no
signature of a person.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from kvstudy.errors import DataError
from kvstudy.whole_file import put

FOLDER = "reviews"
FORMAT = 1
MOST_BYTES = 1_000_000


class ReviewOutcome(StrEnum):
    """The result of a review for one comparison of the archive."""

    CONFIRMED = "confirmed here"
    NOT_CONFIRMED = "not confirmed here"
    UNDECIDED = "undecided here"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class ReviewRecord:
    """The content of a record, all as JSON has it.

    ``archive`` is the SHA-256 of the archive's SHA256SUMS, which no repacking changes.
    ``comparisons`` are dictionaries with an ``outcome`` each.
    """

    archive: str
    run: str
    reviewer: str
    date: str
    kvstudy: str
    minutes: float
    machine: list[dict[str, str]]
    comparisons: list[dict[str, Any]]

    @property
    def counts(self) -> Counter[ReviewOutcome]:
        return Counter(ReviewOutcome(each["outcome"]) for each in self.comparisons)


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record's content without its own checksum."""
    kept = {name: value for name, value in content.items() if name != "sha256"}
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def write_record(record: ReviewRecord, path: Path) -> None:
    content = {"format": FORMAT} | asdict(record)
    content["sha256"] = checksum(content)
    put(f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode(), path)


def read_record(path: Path) -> ReviewRecord:
    """Return the record; DataError for a file that is none, or was changed."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"has format {content['format']}, this kvstudy reads {FORMAT}")
        names = ReviewRecord.__dataclass_fields__
        record = ReviewRecord(**{name: content[name] for name in names})
        _ = record.counts
        good = content["sha256"] == checksum(content)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: is no record of a review ({error})") from None
    if not good:
        raise DataError(f"{path}: was changed after the review: its checksum differs")
    return record


def reviews_of(folder: Path, run: str) -> list[ReviewRecord]:
    """Return the records of the ``run`` in its results ``folder``, by date.

    A run that is itself a review has its record of the reviewed run there, which is left out.
    DataError for a file that is none, or was changed.
    """
    records = map(read_record, sorted((folder / FOLDER).glob("*.json")))
    of_run = (record for record in records if record.run == run)
    return sorted(of_run, key=lambda record: (record.date, record.reviewer))


def words(record: ReviewRecord) -> str:
    """Return ``A. Reviewer, 2026-11-29: 3 confirmed here, 1 not tried``."""
    counts = record.counts
    parts = [f"{counts[outcome]} {outcome}" for outcome in ReviewOutcome if counts[outcome]]
    return f"{record.reviewer}, {record.date}: {', '.join(parts) or 'nothing'}"
