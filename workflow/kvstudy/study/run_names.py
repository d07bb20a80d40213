"""Which study and scale the name of a run's folder tells."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.load import STUDIES

PARTIAL = "-partial"


def study_of_run(name: str) -> tuple[Path, float]:
    """The study.yaml and the scale of the run called ``name`` (``<study>-scale<scale>``).

    KvstudyError when it is of no study that is here.
    """
    whole = name.removesuffix(PARTIAL)
    for file in sorted(STUDIES.glob("*/study.yaml")):
        study = file.parent.name
        if whole == study:
            return file, 1.0
        if whole.startswith(f"{study}-scale"):
            try:
                return file, float(whole.removeprefix(f"{study}-scale"))
            except ValueError:
                # Another study may begin alike.
                continue
    raise KvstudyError(
        f"results/{name}: of no study in {STUDIES}; put its study.yaml back under its name"
    )
