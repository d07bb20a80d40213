"""A run in a few lines, for the index of a site, its card, its badge and its feed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

from kvstudy.analyse.claims.table import JUDGED
from kvstudy.analyse.run import Run
from kvstudy.errors import DataError
from kvstudy.exhibits.grid_cells import THROUGHPUT
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.study.parts import MEAN
from kvstudy.whole_file import put

FILE = "summary.json"


@dataclass(frozen=True)
class Mark:
    """A store's throughput relative to the baseline's, with its interval (None for one run)."""

    workload: str
    store: str
    color: str
    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RunSummary:
    """The facts that a site shows of a run; ``answers`` are the first sentences of its report.

    ``verdicts`` count the claims of its source, ``measured`` and ``published`` are dates.
    """

    run: str
    title: str
    question: str
    answers: list[str]
    machine: str
    measured: str
    baseline: str
    marks: list[Mark]
    verdicts: dict[str, int] = field(default_factory=dict)
    published: str = ""
    earlier: list[str] = field(default_factory=list)

    @property
    def stores(self) -> dict[str, str]:
        """Return the titles of the stores with their colors."""
        return {mark.store: mark.color for mark in self.marks}

    @property
    def verdict_words(self) -> str:
        """Return ``4 reproduced, 3 undecided``, "" without claims."""
        return ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items())


def summary_of(run: Run) -> RunSummary:
    """Return the run's summary; DataError where its report or tables are not built."""
    page = run.document("html")
    if not page.is_file():
        raise DataError(f"{page}: is missing; build the report before you publish it")
    started = sorted(moment for moment in run.cells["started"] if moment)
    parts = {part["component"]: sentence(part["name"]) for part in run.environment["components"]}
    verdicts: Counter[str] = Counter()
    if JUDGED.path(run.folder).is_file():
        claims = JUDGED.read(run.folder).drop_duplicates("id")
        verdicts.update(verdict for verdict in claims["verdict"] if verdict)
    baseline, marks = _marks(run)
    return RunSummary(
        run=run.name,
        title=run.study.title,
        question=run.study.question,
        answers=answers_of(page.read_text(encoding="utf-8")),
        machine=", ".join(parts[name] for name in ("CPU", "Memory", "OS") if parts.get(name)),
        measured=datetime.fromisoformat(started[0]).date().isoformat() if started else "",
        baseline=baseline,
        marks=marks,
        verdicts=dict(verdicts.most_common()),
    )


def _marks(run: Run) -> tuple[str, list[Mark]]:
    """Return the title of the baseline and the marks of each workload."""
    path = run.tables / "grid.csv"
    if not path.is_file():
        return "", []
    rows = pd.read_csv(path)
    rows = rows[(rows["metric"] == THROUGHPUT) & (rows["workload"] != MEAN)]
    rows = rows[~rows["store"].str.contains("/") & rows["ratio"].notna()]
    if rows.empty:
        return "", []
    base = rows["baseline"].iloc[0]
    rows = rows[rows["baseline"] == base]
    marks = [
        Mark(
            run.study.workload(row.workload).short,
            run.titles[row.store],
            run.stores[row.store].color,
            float(row.ratio),
            *(None if pd.isna(end) else float(end) for end in (row.low, row.high)),
        )
        for row in rows.itertuples()
    ]
    return run.titles[base], marks


class _Answers(HTMLParser):
    """Takes the texts of the first list of the first page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._depth = self._items = 0
        self._done = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "div" and ("class", "glance") in attributes:
            self._depth = 1
        elif self._depth and tag == "li" and not self._done:
            self._items = 1
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "li":
            self._items = 0
        elif tag == "ul" and self._depth:
            self._done = True

    def handle_data(self, text: str) -> None:
        if self._items:
            self.texts[-1] += text


def answers_of(page: str) -> list[str]:
    """Return the answers on the first page of a report's HTML."""
    parser = _Answers()
    parser.feed(page)
    return [" ".join(text.split()) for text in parser.texts]


def write_summary(summary: RunSummary, folder: Path) -> None:
    text = json.dumps(asdict(summary), ensure_ascii=False, indent=1)
    put(f"{text}\n".encode(), folder / FILE)


def read_summary(folder: Path) -> RunSummary:
    """Return the summary in a run's folder of a site; DataError where it is none."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        marks = [Mark(**mark) for mark in content.pop("marks")]
        return RunSummary(**content, marks=marks)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: is not of a site of kvstudy ({error}); remove it") from None
