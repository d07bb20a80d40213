"""The rate of an open-loop cell, from the closed-loop cells that are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from kvstudy.analyse.tidy.collect import collect
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import pd
from kvstudy.study.cells import Cell, Origin, Target
from kvstudy.study.model import Study
from kvstudy.study.raw import raw_directory, sums_digest


@dataclass(frozen=True)
class NoTarget:
    """Why there is no rate; ``final`` when measuring the missing cells would not give one."""

    reason: str
    final: bool


def find_target(study: Study, cells: list[Cell], cell: Cell, run: str) -> Target | NoTarget:
    """The rate of the open-loop ``cell``.

    It is the cell's load of the geometric mean throughput of all measured and
    valid closed-loop cells of its store, workload and parameters. KvstudyError
    for a closed-loop cell of other parameters than the study has now.
    """
    closed = [
        each
        for each in cells
        if (each.store, each.workload, each.parameters) == (cell.store, cell.workload, cell.closed)
    ]
    found = collect(study, closed, run, True)
    for each, problem in found.unreadable.items():
        raise KvstudyError(
            f"{raw_directory(run, each)}: {problem}; {cell.path} needs its throughput. Remove that "
            "folder to measure it again"
        )
    throughputs = _throughputs(found.measurements)
    origins: list[Origin] = []
    void: list[str] = []
    absent: list[str] = []
    for each, row in zip(closed, found.cells.itertuples(), strict=True):
        if row.status != "measured":
            absent.append(row.reason)
        elif row.void:
            void.append(row.void)
        else:
            digest = sums_digest(raw_directory(run, each))
            origins.append(Origin(each.path, throughputs[each.repetition], digest))
    if not origins:
        reasons = [reason("not-measured", why=why) for why in absent]
        reasons += [reason("void", why=why) for why in void]
        why = several(dict.fromkeys(reasons)) or "not-planned"
        return NoTarget(reason("no-target", why=why), final=not absent)
    mean = geometric_mean(origin.throughput for origin in origins)
    return Target(max(1, round(mean * cell.load / 100)), cell.load, mean, tuple(origins))


def _throughputs(measurements: pd.DataFrame) -> dict[int, float]:
    """Throughput in ops/s of each repetition's run phase."""
    rows = measurements[
        (measurements["phase"] == "run")
        & (measurements["operation"] == "overall")
        & (measurements["metric"] == "throughput")
    ]
    return dict(zip(rows["repetition"], rows["value"], strict=True))


def no_longer_there(target: Target, run: str) -> list[str]:
    """Closed-loop cells of the ``target`` whose logs are gone or others now."""
    return [
        origin.cell
        for origin in target.origins
        if sums_digest(Path("results") / run / "raw" / origin.cell) != origin.sums
    ]
