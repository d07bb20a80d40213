"""Which run a name or a folder below results/ is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.cells import run_name
from kvstudy.study.load import STUDIES
from kvstudy.study.naming import did_you_mean

RESULTS = Path("results")
PARTIAL, PUBLISHED = "-partial", "-published"
SCALED = re.compile(r"(?P<study>.+)-scale(?P<scale>[0-9.e+-]+)")


@dataclass(frozen=True)
class Run:
    """A run by the name of its results; ``base`` is the run that its raw logs belong to.

    The two differ for a partial run, which is a report of the cells that are there.
    """

    name: str
    study: str
    scale: float = 1.0
    source: str = "measured"
    partial: bool = False

    @property
    def base(self) -> str:
        return self.name.removesuffix(PARTIAL) if self.partial else self.name

    @property
    def published(self) -> bool:
        """True where nothing was measured: the values are those of the study's source."""
        return self.source == "published"

    @property
    def study_file(self) -> Path:
        return STUDIES / self.study / "study.yaml"


def find_run(name: str) -> Run:
    """The run of that name, or of that folder below results/; KvstudyError for no run."""
    name = Path(name).name
    studies = sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))
    if not (RESULTS / name).is_dir():
        there = sorted(path.name for path in RESULTS.glob("*") if _run(path.name, studies))
        raise KvstudyError(f"{RESULTS / name}: no such run{did_you_mean(name, there)}")
    if run := _run(name, studies):
        return run
    raise KvstudyError(
        f"{RESULTS / name}: is of no study in {STUDIES}; put the folder of its study there"
    )


def _run(name: str, studies: list[str]) -> Run | None:
    if name in studies:
        return Run(name, name)
    if name.endswith(PUBLISHED) and name.removesuffix(PUBLISHED) in studies:
        return Run(name, name.removesuffix(PUBLISHED), source="published")
    if name.endswith(PARTIAL):
        base = _run(name.removesuffix(PARTIAL), studies)
        usual = base and not base.partial and not base.published
        return Run(name, base.study, base.scale, partial=True) if usual else None
    scaled = SCALED.fullmatch(name)
    if scaled and scaled["study"] in studies:
        try:
            scale = float(scaled["scale"])
        except ValueError:
            return None
        if run_name(scaled["study"], scale) == name:
            return Run(name, scaled["study"], scale)
    return None
