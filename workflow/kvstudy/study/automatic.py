"""Tables and figures that a report has by itself, whatever the study names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kvstudy.study.kinds import Part

if TYPE_CHECKING:
    from kvstudy.study.model import Study

# The scalability law needs so many (stats.scalability.LEAST_COUNTS).
THREADS_FOR_SCALING = 6
FIGURES_OF_EVERY_REPORT = ["run-order", "cpu", "ratios", "time", "spectrum"]


def with_automatic(own: list, kinds: Iterable[type[Part]], study: Study) -> list:
    """What the study names itself, and what its report has besides: those of ``kinds``.

    First what is of all workloads, then workload by workload.
    """
    named = {part.subject for part in own}
    parts = [part for kind in kinds for part in kind.automatic(study)]
    places = {name: place for place, name in enumerate(study.workload_names, 1)}
    parts.sort(key=lambda part: places.get(getattr(part, "workload", ""), 0))
    return own + [part for part in parts if part.subject not in named]
