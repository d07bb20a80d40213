"""Whether a study has the cells that tables and figures over a size show."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.combinations import lines
from kvstudy.study.kinds import Part
from kvstudy.study.model import Study


def check_shown(path: Path, study: Study) -> None:
    """KvstudyError for a table or figure of what the study in the file ``path`` has not."""
    for key, parts in (("tables", study.tables), ("figures", study.figures)):
        for index, part in enumerate(parts):
            part.check(study, path, f"{key}[{index}]")


def check_lines(part: Part, study: Study, path: Path, key: str) -> None:
    """KvstudyError when a line of ``part`` over the size ``part.over`` has no cells on it."""
    if getattr(part.where, part.over) is not None:
        raise KvstudyError(
            f"{path}: {key}.where.{part.over}: is what the lines go over; remove the key"
        )
    workloads = part.workloads_of(study)
    for line in lines(study, part.over, part.where, workloads, study.store_names[:1]):
        if len(line.points) < 2:
            sizes = " and ".join(f"{number} {size}" for size, number in line.fixed)
            raise KvstudyError(
                f"{path}: {key}.where: workload '{line.workload}' has {len(line.points)} cells "
                f"over {part.over} with {sizes}; it takes two or more"
            )
