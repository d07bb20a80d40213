"""Whether the plan of a run is complete, and whether its cells were measured as planned.

A cell that was measured again because of its value would be the easiest way to nicer numbers.
It leaves traces: a start that does not fit the planned order, or logs under ``replaced/``.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from kvstudy.analyse.tidy.files import recorded_reason
from kvstudy.language.reasons import sentence
from kvstudy.share.archive.contents import without_reason
from kvstudy.share.archive.part import Part, count, some
from kvstudy.study.alike import read_manifests
from kvstudy.study.cells import Cell, left_out
from kvstudy.study.model import Study
from kvstudy.study.raw import GAP, is_gap, is_measured
from kvstudy.study.run_names import RESULTS, RunName


def check_plan(run: RunName, study: Study, cells: list[Cell], declared: Iterable[str]) -> Part:
    """Each planned cell is there, or has a reason; ``declared`` are those said to be missing."""
    part = Part("Plan")
    results = RESULTS / run.base
    there = [cell for cell in cells if is_measured(run.base, cell)]
    gaps = [cell for cell in there if is_gap(run.base, cell)]
    part.facts.append(
        f"{len(there) - len(gaps)} of {count(len(cells), 'planned cell')} are measured"
    )
    missing = set(without_reason(run, study, cells))
    reasons: dict[str, list[str]] = defaultdict(list)
    lacking = [cell for cell in cells if cell not in set(there)]
    no_server = {cell for cell in lacking if _gap_file(results, cell).is_file()}
    controls = left_out(study, cells, set(there), no_server)
    for cell in [*lacking, *gaps]:
        if cell.path not in missing:
            reasons[_reason(results, cell, cell in controls, study)].append(cell.path)
    for reason, paths in reasons.items():
        part.notes.append(f"{count(len(paths), 'cell')} not measured ({some(paths)}): {reason}")
    undeclared = sorted(missing - set(declared))
    for path in undeclared:
        part.faults.append(f"{results}/raw/{path}: the planned cell is missing, with no reason")
    if partial := sorted(missing & set(declared)):
        part.notes.append(
            f"the run is not finished, and says so: {count(len(partial), 'planned cell')} "
            f"not there ({some(partial)})"
        )
    planned = {cell.path for cell in cells}
    for folder in sorted(path for path in (results / "raw").glob("*/*/*/rep*") if path.is_dir()):
        name = folder.relative_to(results / "raw").as_posix()
        if name not in planned:
            part.notes.append(f"{folder}: is not in the plan; no number comes from it")
    return part


def _gap_file(results: Path, cell: Cell) -> Path:
    return results / "gaps" / f"{cell.store}.json"


def _reason(results: Path, cell: Cell, control: bool, study: Study) -> str:
    failures = sorted((results / "failed" / cell.path).glob("*/failure.json"))
    left = results / "raw" / cell.path / GAP
    if left.is_file():
        return sentence(recorded_reason(left))
    if failures:
        return f"failed: {sentence(recorded_reason(failures[-1]))}"
    if _gap_file(results, cell).is_file():
        return sentence(recorded_reason(_gap_file(results, cell)))
    if study.imported:
        return "there is no log of it among those that were imported"
    return "a control; the run was finished without controls" if control else "not known"


def check_course(run: RunName, cells: list[Cell]) -> Part:
    """The times, the order and the protocol that the manifests of the cells record."""
    part = Part("Course of the measurement")
    results = RESULTS / run.base
    found = read_manifests(results / "raw")
    manifests = {cell.path: found[cell.path] for cell in cells if cell.path in found}
    if any("imported" in manifest for manifest in manifests.values()):
        part.notes.append(
            "the logs were imported: nothing tells in which order they were measured, or which "
            "were measured again"
        )
        return part
    for path, manifest in manifests.items():
        if manifest["run"] != run.base:
            part.faults.append(
                f"{results}/raw/{path}: was measured for the run '{manifest['run']}' and put here"
            )
    protocols = {manifest["protocol"] for manifest in manifests.values()}
    if len(protocols) > 1:
        part.faults.append(
            f"{results}/raw: its cells were measured in different ways: protocols "
            f"{', '.join(map(str, sorted(protocols)))}"
        )
    _attempts(part, results)
    _overlaps(part, results, manifests)
    _order(part, results, cells, manifests)
    if manifests and not part.faults:
        starts = sorted(manifest["started"] for manifest in manifests.values())
        part.facts.append(
            f"{count(len(manifests), 'cell')} measured one at a time, in the planned random order, "
            f"from {starts[0]} to {starts[-1]}"
        )
    return part


def _attempts(part: Part, results: Path) -> None:
    """Failures and replaced logs are no fault: they are on file."""
    for kind, meaning in (("failed", "failed"), ("replaced", "measured again")):
        tries: dict[str, int] = defaultdict(int)
        for path in sorted((results / kind).glob("*/*/*/rep*/*")):
            tries[path.parent.relative_to(results / kind).as_posix()] += path.is_dir()
        if tries:
            part.notes.append(
                f"{results / kind}: {count(sum(tries.values()), 'attempt')} {meaning}, logs kept: "
                f"{some(list(tries))}"
            )


def _overlaps(part: Part, results: Path, manifests: dict[str, dict]) -> None:
    """Two cells at a time would have disturbed each other."""
    spans = sorted(
        (phase["started"], phase["started"] + phase["seconds"], path)
        for path, manifest in manifests.items()
        for phase in manifest["phases"].values()
    )
    for (_, end, first), (start, _, second) in itertools.pairwise(spans):
        if start < end and first != second:
            part.faults.append(f"{results}/raw: {first} and {second} were measured at one time")


def _order(part: Part, results: Path, cells: list[Cell], manifests: dict[str, dict]) -> None:
    """The cells that were started later than cells behind them in the plan."""
    positions = {cell.path: number for number, cell in enumerate(cells, start=1)}
    moved = [path for path, each in manifests.items() if each["position"] != positions[path]]
    if moved:
        part.notes.append(
            f"{count(len(moved), 'cell')} had another place in the plan when measured "
            f"({some(moved)}): the study was changed since; their order is not checked"
        )
    on_file = {
        path
        for path in manifests
        for kind in ("failed", "replaced")
        if any((results / kind / path).glob("*"))
    }
    looked_at = [
        cell.path
        for cell in cells
        if cell.path in manifests and cell.path not in on_file.union(moved)
    ]
    starts = {path: manifests[path]["started"] for path in looked_at}
    together = sessions(starts)
    if len(together) > 1:
        names = "; ".join(", ".join(sorted(stores)) for stores in together)
        part.notes.append(f"stores were measured apart from each other: {names}")
    for stores in together:
        paths = [path for path in looked_at if path.split("/")[0] in stores]
        for index in out_of_order([starts[path] for path in paths]):
            part.faults.append(
                f"{results}/raw/{paths[index]}: was started at {starts[paths[index]]}, which does "
                "not fit its place in the plan, and no failed attempt is on file: it may have "
                "been measured again, and its earlier logs removed"
            )


def sessions(starts: dict[str, str]) -> list[set[str]]:
    """Stores that were measured in turns, by the start of each cell's path.

    A store that was measured wholly before or after all others (its server came later) is a
    session of its own.
    """
    times: dict[str, list[str]] = defaultdict(list)
    for path, start in starts.items():
        times[path.split("/")[0]].append(start)
    found: list[set[str]] = []
    end = ""
    for store in sorted(times, key=lambda store: min(times[store])):
        if found and min(times[store]) <= end:
            found[-1].add(store)
        else:
            found.append({store})
        end = max(end, *times[store])
    return found


def out_of_order(times: Sequence[str]) -> list[int]:
    """The fewest indices without which ``times`` never fall, in their order."""
    ends: list[int] = []  # of the best rising sequence of each length, its last index
    before: list[int | None] = []
    for index, time in enumerate(times):
        length = bisect_right(ends, time, key=lambda each: times[each])
        before.append(ends[length - 1] if length else None)
        ends[length : length + 1] = [index]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return [index for index in range(len(times)) if index not in kept]
