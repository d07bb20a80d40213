"""When a run may stop that is measured until every comparison is decided."""

from __future__ import annotations

from collections.abc import Iterator

from kvstudy.analyse.findings import Finding
from kvstudy.analyse.findings.pairs import floor_of, floors, pairs
from kvstudy.analyse.findings.spread import Spread
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

NUMBERS = ["repetitions", "comparisons", "undecided"]
LOOKS = Finding(
    "looks",
    [*NUMBERS, "open", "stop"],
    NUMBERS,
    make=lambda run, made: LOOKS.frame(list(looks(run.spread, run.study, run.compared))),
)


def looks(
    spread: Spread, study: Study, compared: list[list[str]] | None = None
) -> Iterator[list[object]]:
    """A row for each time that the run was looked at: after so many ``repetitions``, and then each.

    Columns: repetitions, comparisons (pairs of stores under a workload and its parameters), how
    many of them are undecided by these repetitions alone, open (such as ``a r10_o20_t1 redis /
    valkey``), and stop: ``decided`` when none is undecided, ``most`` when all repetitions are
    there, or "". None for a study with a number of repetitions.
    """
    if not study.until:
        return
    for number in range(study.until.first, study.repetitions + 1):
        part = spread.first(number)
        floor = floor_of(floors(part, study))
        rows = pairs(part, study.store_names, floor, compared)
        rows = rows[rows["workload"] != MEAN]
        undecided = rows[rows["decision"] == Decision.UNDECIDED]
        names = [
            f"{row.workload} {row.parameters} {row.faster} / {row.slower}"
            for row in undecided.itertuples()
        ]
        most = "most" if number == study.until.last else ""
        stop = most if names else "decided"
        yield [number, len(rows), len(names), "; ".join(names), stop]
