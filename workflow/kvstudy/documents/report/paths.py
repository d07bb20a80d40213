"""Facts of the first page on the paths to a store."""

from __future__ import annotations

from typing import NamedTuple

from kvstudy.analyse.run import Run
from kvstudy.study.exhibits import AnyTable


class PathFacts(NamedTuple):
    """The paths to one product, in a ``table`` of the kind ``path``.

    ``direct`` is the store that is reached by loopback. ``different`` are rows of the table whose
    interval excludes 0, the smallest addition first, ``undecided`` the other stores.
    """

    table: AnyTable
    direct: str
    different: list[tuple]
    undecided: list[str]


def path_facts(run: Run) -> list[PathFacts]:
    """Return the paths of each such table of the study."""
    facts = []
    for table in run.study.tables_of("path"):
        rows = table.rows(run).dropna(subset="added")
        for direct, of in rows.groupby("direct", sort=False):
            decided = (of["low"] > 0) | (of["high"] < 0)
            different = list(of[decided].sort_values("added").itertuples())
            facts.append(PathFacts(table, direct, different, list(of.loc[~decided, "store"])))
    return facts
