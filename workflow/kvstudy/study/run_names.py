"""What the name of a run's folder tells: study, scale, and whether it is a part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import ORIGINAL, languages
from kvstudy.study.cells import run_name
from kvstudy.study.load import STUDIES
from kvstudy.study.published import published_name

PARTIAL = "-partial"
SCALED = re.compile(r"(?P<study>.+)-scale(?P<scale>[0-9.e+-]+)")


@dataclass(frozen=True)
class Run:
    """A run by the name of its results; ``base`` is the run that its raw logs belong to.

    The two differ for a partial run, which is a report of the cells that are there. The
    ``language`` is that of a run of published values; measured data has none.
    """

    name: str
    study: str
    scale: float = 1.0
    source: str = "measured"
    partial: bool = False
    language: str = ORIGINAL

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


def parse_name(name: str) -> Run | None:
    """The run called ``name``; None for one that is of no study that is here."""
    studies = sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))
    if name in studies:
        return Run(name, name)
    for study in studies:
        for language in languages():
            if name == published_name(study, language):
                return Run(name, study, source="published", language=language)
    if name.endswith(PARTIAL):
        whole = parse_name(name.removesuffix(PARTIAL))
        if whole and not whole.partial and not whole.published:
            return Run(name, whole.study, whole.scale, partial=True)
    scaled = SCALED.fullmatch(name)
    if scaled and scaled["study"] in studies:
        try:
            scale = float(scaled["scale"])
        except ValueError:
            return None
        if run_name(scaled["study"], scale) == name:
            return Run(name, scaled["study"], scale)
    return None


def measured_run(name: str) -> Run:
    """The run called ``name``, whose values come from logs; KvstudyError for any other."""
    run = parse_name(name)
    if run is None:
        raise KvstudyError(
            f"results/{name}: is of no study in {STUDIES}; put the folder of its study there"
        )
    if run.published:
        raise KvstudyError(
            f"{name}: what a source published has no logs; its values are in "
            f"{run.study_file.with_name('published.csv')}"
        )
    return run
