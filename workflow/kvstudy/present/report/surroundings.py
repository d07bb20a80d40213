"""What the report says of the machine's findings, of mixtures, of cores and of foreign load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kvstudy.analyse.tidy.foreign import MUCH
from kvstudy.language.current import _
from kvstudy.language.recorded import recorded
from kvstudy.present.report.cell_names import CellNames


@dataclass(frozen=True)
class Worst:
    """The cell with the largest share (between 0 and 1), by the titles of the report."""

    store: str
    workload: str
    repetition: int
    share: float


@dataclass(frozen=True)
class Disturbance:
    """In how many of the cells that tell it a share was above the limit."""

    cells: int
    above: int
    worst: Worst


@dataclass(frozen=True)
class Surroundings:
    """The parts of environment.json that are not about stores; all may be missing in it.

    ``titles`` are those of stores, ``names`` the names of cells.
    """

    environment: dict
    titles: dict[str, str]
    names: CellNames

    @property
    def measured(self) -> int:
        """All measured cells, those that kvstudy adds to a study too."""
        return self.environment.get("measured", 0)

    @property
    def looked_at(self) -> int:
        """Cells for which the machine was looked at."""
        return self.environment.get("looked_at", 0)

    @cached_property
    def findings(self) -> list[dict]:
        """What has a consequence and was seen, with ``found``: its values as one text."""
        return [each for each in self._all if each["good"] is False]

    @cached_property
    def unseen(self) -> list[dict]:
        """What could not be seen, or not all of it."""
        return [each for each in self._all if each["good"] is None]

    @property
    def good(self) -> list[str]:
        """Titles of what was good in all cells."""
        others = {each["key"] for each in self.findings + self.unseen}
        return [each["title"] for each in self._all if each["key"] not in others]

    @property
    def _all(self) -> list[dict]:
        return [
            each
            | {name: recorded(each[name]) for name in ("title", "consequence")}
            | {"found": _(" to ").join(recorded(value) for value in each["values"])}
            | {"hidden": each["values"] == ["not visible"]}
            for each in self.environment.get("findings", [])
        ]

    @property
    def mixed(self) -> list[dict]:
        """What differs between cells: ``what`` and its ``sides`` with ``value`` and ``cells``."""
        return self.environment.get("mixed", [])

    @property
    def pinned(self) -> list[dict]:
        """The cores that ``server`` and ``client`` were bound to, and in how many ``cells``."""
        return self.environment.get("pinned", [])

    @property
    def limit(self) -> float:
        """The share of foreign load or steal that is reported, between 0 and 1."""
        return MUCH / 100

    @property
    def foreign(self) -> Disturbance | None:
        return self._disturbance("foreign_cpu")

    @property
    def steal(self) -> Disturbance | None:
        return self._disturbance("steal_cpu")

    def _disturbance(self, metric: str) -> Disturbance | None:
        found = self.environment.get("disturbance", {}).get(metric)
        if found is None:
            return None
        worst = found["worst"]
        return Disturbance(
            found["cells"],
            found["above"],
            Worst(
                self.titles.get(worst["store"], worst["store"]),
                self.names.workload(worst["workload"], worst["parameters"]),
                worst["repetition"],
                worst["value"] / 100,
            ),
        )
