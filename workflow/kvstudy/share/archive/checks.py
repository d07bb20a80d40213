"""The checks of an archive except its numbers, and the page of results.

Its files against their checksums; whether the plan is complete; whether the cells were measured as
planned. A cell that was measured again because of its value would be the easiest way to nicer
numbers. It leaves traces: a start that does not fit the planned order, or logs under ``replaced/``.
"""

from __future__ import annotations

import itertools
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kvstudy.analyse.findings.looks import LOOKS
from kvstudy.analyse.findings.spread import level_of, margin_of
from kvstudy.errors import KvstudyError
from kvstudy.share.archive.contents import METADATA, unmeasured
from kvstudy.stats.intervals import LEVEL
from kvstudy.stats.ratios import MARGIN
from kvstudy.stats.stopping import level_of_look
from kvstudy.study.cells import Cell, Target, rate_of, rate_trial
from kvstudy.study.consistency import read_manifests
from kvstudy.study.model import Study
from kvstudy.study.naming import count
from kvstudy.study.published import CLAIMS, claims_digest
from kvstudy.study.raw import SUMS, file_digest, read_sums, sums_digest
from kvstudy.study.run_names import RESULTS, RunName

SHOWN = 8
# What is wrong with a file, of an archive and of a cell.
PACKED = (
    "is missing; it was there when the archive was packed",
    "was added after the archive was packed",
    "was changed after the archive was packed",
)
MEASURED = (
    "is missing; the cell had it when measured",
    "was added after the cell was measured",
    "was edited or cut off after it was measured",
)


@dataclass
class CheckSection:
    """``facts`` hold, ``notes`` are for a person to judge, ``faults`` are what does not hold."""

    title: str
    facts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verified:
    """The result of verification; ``lines`` describe the checks."""

    title: str
    lines: list[str]
    parts: list[CheckSection]

    @property
    def holds(self) -> bool:
        return not any(part.faults for part in self.parts)


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def as_text(page: Verified, every: bool = False) -> str:
    """The page, as plain text that is Markdown too; ``every`` fault and note, or the first."""
    faults = sum(len(part.faults) for part in page.parts)
    verdict = "All holds." if page.holds else f"{count(faults, 'fault')}: it does not hold."
    lines = [f"# Verification of {page.title}", "", *[f"    {line}" for line in page.lines], ""]
    for part in page.parts:
        state = "FAULT" if part.faults else "holds" if part.facts else "see"
        lines += [f"## {part.title}: {state}", "", *(f"- {fact}" for fact in part.facts)]
        for word, texts in (("FAULT", part.faults), ("Note", part.notes)):
            shown = texts if every else texts[:SHOWN]
            lines += [f"- {word}: {text}" for text in shown]
            if len(shown) < len(texts):
                lines.append(f"- {word}: ... {len(texts) - len(shown)} more (--output has all)")
        lines.append("")
    lines += [
        f"**{verdict}**",
        "",
        "Notes are for you to judge. Checksums tell accidents and later edits; whoever packs an",
        "archive could also have written the raw logs themselves.",
        "",
    ]
    return "\n".join(lines)


def check_packed(damaged: dict[str, str]) -> CheckSection:
    """The files of an archive, which is unpacked here, against its checksum list.

    ``damaged`` says what is wrong with files that could not be unpacked.
    """
    part = CheckSection("Checksums of the archive")
    if not Path(SUMS).is_file() and SUMS not in damaged:
        part.faults.append(f"{SUMS}: is missing, so nothing shows what was packed")
        return part
    number, part.faults = _against_sums(Path(), Path().rglob("*"), PACKED, damaged)
    if number and METADATA not in damaged and Path(METADATA).is_file():
        part.faults += _against_metadata(read_sums(Path()))
    if not part.faults:
        part.facts.append(
            f"{count(number, 'file')} are as they were packed; none is missing or was added"
        )
    return part


def _against_sums(
    folder: Path, paths: Iterable[Path], words: tuple[str, str, str], damaged: dict[str, str]
) -> tuple[int, list[str]]:
    """Return the number of files in the checksum list of ``folder``, and faults of ``paths``."""
    try:
        sums = read_sums(folder)
    except KvstudyError as error:
        return 0, [damaged.get(SUMS, str(error))]
    missing, added, changed = words
    present = {path.relative_to(folder).as_posix() for path in paths if path.is_file()} - {SUMS}
    problems = dict.fromkeys(sums.keys() - present, missing)
    problems |= dict.fromkeys(present - sums.keys(), added)
    same = present & sums.keys() - damaged.keys()
    differing = (name for name in same if file_digest(folder / name) != sums[name])
    problems |= dict.fromkeys(differing, changed)
    faults = {name: f"{folder / name}: {problem}" for name, problem in problems.items()} | damaged
    return len(sums), [faults[name] for name in sorted(faults)]


def _against_metadata(expected: dict[str, str]) -> list[str]:
    """Faults of the checksums that the metadata repeat."""
    try:
        graph = json.loads(Path(METADATA).read_bytes())["@graph"]
        repeated = {entity["@id"]: entity["sha256"] for entity in graph if "sha256" in entity}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return [f"{METADATA}: cannot be read ({error!r})"]
    return [
        f"{name}: {METADATA} gives another checksum than {SUMS}"
        for name, digest in sorted(repeated.items())
        if expected.get(name) != digest
    ]


def check_measured(results: Path) -> CheckSection:
    """The raw logs of each cell and probe against the checksums that were written with them."""
    part = CheckSection("Checksums of the raw logs")
    cells, probes = (list(results.glob(f"{of}/{SUMS}")) for of in ("raw/**", "probes/*"))
    files = 0
    for folder in (path.parent for path in sorted([*cells, *probes])):
        number, faults = _against_sums(folder, folder.iterdir(), MEASURED, {})
        files += number
        part.faults += faults
    if not part.faults:
        part.facts.append(
            f"{count(files, 'raw file')} of {count(len(cells), 'cell')} and "
            f"{count(len(probes), 'probe')} are as they were measured"
            if cells or probes
            else "there are no raw logs: nothing was measured"
        )
    return part


def check_plan(
    run: RunName, study: Study, cells: list[Cell], declared: Iterable[str]
) -> CheckSection:
    """Each planned cell is there, or has a reason; ``declared`` are those said to be missing."""
    absent = unmeasured(run, study, cells)
    measured = len(cells) - len(absent)
    part = CheckSection("Plan", [f"{measured} of {count(len(cells), 'planned cell')} are measured"])
    reasons: dict[str, list[str]] = defaultdict(list)
    for path, reason in absent.items():
        reasons[reason].append(path)
    missing = set(reasons.pop("", []))
    part.notes += [
        f"{count(len(paths), 'cell')} not measured ({some(paths)}): {reason}"
        for reason, paths in reasons.items()
    ]
    part.faults += [
        f"{run.raw}/{path}: the planned cell is missing, with no reason"
        for path in sorted(missing - set(declared))
    ]
    if partial := sorted(missing & set(declared)):
        part.notes.append(
            f"the run is not finished, and says so: {count(len(partial), 'planned cell')} "
            f"not there ({some(partial)})"
        )
    planned = {run.raw / cell.path for cell in cells}
    part.notes += [
        f"{path}: is not in the plan; no number comes from it"
        for path in sorted(run.raw.glob("*/*/*/rep*"))
        if path.is_dir() and path not in planned
    ]
    return part


def check_stop(run: RunName, study: Study, declared: Collection[str]) -> CheckSection:
    """Check whether the run stopped as its plan says, with the bound of the plan.

    ``looks.csv`` is among the numbers that are made again from the raw logs. ``declared``: see
    ``check_plan``; a run that is not finished has not stopped.
    """
    part = CheckSection("Number of repetitions")
    level = level_of(study)
    planned = {
        path: manifest.get("repetitions") for path, manifest in read_manifests(run.raw).items()
    }
    of_study = study.recorded_repetitions
    others = {path: of for path, of in planned.items() if of not in (None, of_study)}
    looser = [
        path for path, of in others.items() if _level(of) > level or _margin(of) < margin_of(study)
    ]
    if looser:
        then = others[looser[0]]
        part.faults.append(
            f"{run.study_file}: repetitions: {_plan(of_study)}, but {count(len(looser), 'cell')} "
            f"({some(looser)}) were measured when it said {_plan(then)}: intervals are of "
            f"{level:.1%} and the margin is {margin_of(study):.1%} where the plan asks for "
            f"{_level(then):.1%} and {_margin(then):.1%}"
        )
    elif others:
        part.notes.append(
            f"{count(len(others), 'cell')} ({some(list(others))}) were measured when the study "
            "said another number of repetitions"
        )
    if not study.until:
        part.facts.append(f"the study has {count(study.repetitions, 'repetition')}")
        return part
    if unknown := [path for path, of in planned.items() if of is None]:
        part.faults.append(
            f"{run.raw}: {count(len(unknown), 'cell')} ({some(unknown)}) do not show how many "
            "repetitions were planned, so the stop may have been chosen later"
        )
    if changed := _other_claims(run):
        part.faults.append(
            f"{run.study_file.with_name(CLAIMS)}: was changed after {count(len(changed), 'cell')} "
            f"({some(changed)}) had been measured, and claims decide when the run stops"
        )
    rows = LOOKS.read(RESULTS / run.base / "analysis")
    numbers = [*range(study.until.first, study.repetitions + 1)]
    if rows["repetitions"].astype(int).tolist() != numbers:
        part.faults.append(
            f"{LOOKS.path(RESULTS / run.base / 'analysis')}: has not one row for each look, after "
            f"{numbers[0]} to {numbers[-1]} repetitions"
        )
        return part
    *before, last = rows.itertuples()
    if early := [f"{row.repetitions:.0f}" for row in before if row.stop]:
        part.notes.append(f"the run went on after all was decided (repetition {early[0]})")
    if last.stop:
        decided = last.stop == "decided"
        why = "no claim or pair that counts was undecided" if decided else "no more were planned"
        part.facts.append(
            f"looked at after {', '.join(map(str, numbers))} repetitions, by intervals of "
            f"{level:.1%}; it stopped since {why}"
        )
    elif declared:
        part.notes.append("the run is not finished, and has not stopped")
    else:
        part.faults.append(
            f"{run.raw}: ends after {count(numbers[-1], 'repetition')} with {last.undecided:.0f} "
            f"comparisons undecided ({last.open}), though up to {study.until.last} are planned"
        )
    return part


def _other_claims(run: RunName) -> list[str]:
    """The cells that were measured with other claims; none of a trial run, whose do not count."""
    if run.scale != 1:
        return []
    now, manifests = claims_digest(run.study_file), read_manifests(run.raw)
    return [path for path, manifest in manifests.items() if manifest.get("claims", now) != now]


def _level(planned: int | dict[str, float]) -> float:
    return level_of_look(planned["from"], planned["to"]) if isinstance(planned, dict) else LEVEL


def _margin(planned: int | dict[str, float]) -> float:
    return planned.get("margin", MARGIN) if isinstance(planned, dict) else MARGIN


def _plan(planned: int | dict[str, float]) -> str:
    """As the study file has it."""
    if isinstance(planned, dict):
        return f"{{{', '.join(f'{key}: {value}' for key, value in planned.items())}}}"
    return str(planned)


def check_audit_trail(run: RunName, cells: list[Cell]) -> CheckSection:
    """The times, the order and the protocol that the manifests of the cells record."""
    part = CheckSection("Course of the measurement")
    everywhere = read_manifests(run.raw)
    manifests = {cell.path: everywhere[cell.path] for cell in cells if cell.path in everywhere}
    if any("imported" in manifest for manifest in manifests.values()):
        part.notes.append(
            "the logs were imported: nothing shows in which order they were measured, or which "
            "were measured again"
        )
        return part
    part.faults += [
        f"{run.raw}/{path}: was measured for the run '{manifest['run']}' and put here"
        for path, manifest in manifests.items()
        if manifest["run"] != run.base
    ]
    protocols = {manifest["protocol"] for manifest in manifests.values()}
    if len(protocols) > 1:
        part.faults.append(
            f"{run.raw}: its cells were measured in different ways: protocols "
            f"{', '.join(map(str, sorted(protocols)))}"
        )
    # Failures and replaced logs are no fault: they are on file.
    on_file: set[str] = set()
    for kind, meaning in (("failed", "failed"), ("replaced", "measured again")):
        folder = RESULTS / run.base / kind
        attempts = [path for path in sorted(folder.glob("*/*/*/rep*/*")) if path.is_dir()]
        names = dict.fromkeys(path.parent.relative_to(folder).as_posix() for path in attempts)
        on_file.update(names)
        if attempts:
            part.notes.append(
                f"{folder}: {count(len(attempts), 'attempt')} {meaning}, logs kept: "
                f"{some(list(names))}"
            )
    # Two cells at a time would have disturbed each other.
    spans = sorted(
        (phase["started"], phase["started"] + phase["seconds"], path)
        for path, manifest in manifests.items()
        for phase in manifest["phases"].values()
    )
    part.faults += [
        f"{run.raw}: {first} and {second} were measured at one time"
        for (_, end, first), (start, _, second) in itertools.pairwise(spans)
        if start < end and first != second
    ]
    _check_order(part, run, cells, manifests, on_file)
    _check_rates(part, run, cells, manifests, on_file)
    if manifests and not part.faults:
        starts = sorted(manifest["started"] for manifest in manifests.values())
        part.facts.append(
            f"{count(len(manifests), 'cell')} measured one at a time, in the planned random order, "
            f"from {starts[0]} to {starts[-1]}"
        )
    return part


def _check_order(
    part: CheckSection,
    run: RunName,
    cells: list[Cell],
    manifests: dict[str, dict],
    on_file: set[str],
) -> None:
    """The cells that were started later than cells behind them in the plan."""
    positions = {cell.path: number for number, cell in enumerate(cells, start=1)}
    moved = [path for path in manifests if manifests[path]["position"] != positions[path]]
    if moved:
        part.notes.append(
            f"{count(len(moved), 'cell')} had another place in the plan when measured "
            f"({some(moved)}): the study was changed since; their order is not checked"
        )
    looked_at = manifests.keys() - on_file - set(moved)
    starts = {path: manifests[path]["started"] for path in positions if path in looked_at}
    together = sessions(starts)
    if len(together) > 1:
        names = "; ".join(", ".join(sorted(stores)) for stores in together)
        part.notes.append(f"stores were measured apart from each other: {names}")
    for stores in together:
        paths = [path for path in starts if path.split("/")[0] in stores]
        part.faults += [
            f"{run.raw}/{paths[index]}: was started at {starts[paths[index]]}, which does "
            "not fit its place in the plan, and no failed attempt is on file: it may have "
            "been measured again, and its earlier logs removed"
            for index in out_of_order([starts[path] for path in paths])
        ]


def _check_rates(
    part: CheckSection,
    run: RunName,
    cells: list[Cell],
    manifests: dict[str, dict],
    on_file: set[str],
) -> None:
    """The rates of the open-loop cells, against the trial cells that set them."""
    gone: dict[str, list[str]] = defaultdict(list)
    for cell in cells:
        if cell.load is None or cell.path not in manifests:
            continue
        try:
            target = Target.model_validate(manifests[cell.path].get("target"))
        except ValueError:
            part.faults.append(f"{run.raw}/{cell.path}: its manifest has no target of this version")
            continue
        trial = rate_trial(cells, cell)
        if target.rate != rate_of(target.throughput, cell.load):
            part.faults.append(
                f"{run.raw}/{cell.path}: its rate of {target.rate} ops/s is not {cell.load} % of "
                f"{target.throughput:g} ops/s, the throughput that it records of its trial cell"
            )
        if target.trial != trial.path or target.sums != sums_digest(run.raw / trial.path):
            gone[trial.path].append(cell.path)
    for trial, paths in gone.items():
        text = f"{run.raw}/{trial}: is not the trial cell that set the rate of {some(paths)}"
        if trial in on_file or trial not in manifests:
            part.notes.append(text)
        else:
            part.faults.append(f"{text}, and no logs of an earlier one are on file")


def sessions(starts: dict[str, str]) -> list[set[str]]:
    """Stores that were measured in turns, by the start of each cell's path.

    A store that was measured wholly before or after all others (its server came later) is a
    session of its own.
    """
    times: dict[str, list[str]] = defaultdict(list)
    for path, start in starts.items():
        times[path.split("/")[0]].append(start)
    together: list[set[str]] = []
    end = ""
    for store in sorted(times, key=lambda store: min(times[store])):
        if min(times[store]) > end:
            together.append(set())
        together[-1].add(store)
        end = max(end, *times[store])
    return together


def out_of_order(times: Sequence[str]) -> list[int]:
    """The fewest indices without which ``times`` never fall, in their order."""
    ends: list[int] = []  # of the best rising sequence of each length, its last index
    before: list[int | None] = []
    for index, time in enumerate(times):
        length = bisect_right(ends, time, key=times.__getitem__)
        before.append(ends[length - 1] if length else None)
        ends[length : length + 1] = [index]
    kept: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return [index for index in range(len(times)) if index not in kept]
