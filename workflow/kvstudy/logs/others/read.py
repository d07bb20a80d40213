"""The result files of other benchmarks in a folder, each with its system and repetition."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kvstudy.errors import DataError, InputError
from kvstudy.logs.others import clickbench, go_ycsb, memtier, redis_benchmark
from kvstudy.logs.others.result_file import ResultFile

FORMATS = (memtier, redis_benchmark, go_ycsb, clickbench)
# memtier_benchmark's file of an hour with a value for each second has some megabytes.
MOST_BYTES = 100 << 20
COLUMNS = ["file", "system", "repetition"]
FILES = "files.csv"
# A system whose paths have no name for it.
UNNAMED = "system"
_WORDS = re.compile(r"(?i)(?:run|rep|repetition|try|trial|iter|iteration)(\d+)")
# Its logs show phase and workload themselves.
OF_GO_YCSB = re.compile(r"(?i)load|run|workload[a-f]")
_BEFORE_NUMBER = {"run", "rep", "repetition", "try", "trial", "iter", "iteration", "r"}


@dataclass
class OtherResults:
    """The files that were read, by their paths below the folder, and why others were not."""

    program: str
    files: dict[str, ResultFile]
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        return next(iter(self.files.values())).unit

    @property
    def notes(self) -> list[str]:
        return sorted({note for of in self.files.values() for note in of.notes})


def find_results(folder: Path) -> OtherResults | None:
    """Return the results of another benchmark in ``folder`` and below; None if there are none.

    InputError: files of two benchmarks, or none that can be read.
    """
    files: dict[str, dict[str, ResultFile]] = defaultdict(dict)
    refused: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        text = path.read_bytes().decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
        of = next((module for module in FORMATS if module.recognises(text)), None)
        if of is None:
            continue
        try:
            files[of.NAME][name] = of.read(text)
        except DataError as error:
            refused[name] = f"{of.NAME}: {error}"
        except (AttributeError, KeyError, TypeError) as error:
            refused[name] = f"{of.NAME}: is not as that program writes it ({error!r})"
    if len(files) > 1:
        programs = ", ".join(f"{program} ({next(iter(of))})" for program, of in files.items())
        raise InputError(f"{folder}: has results of {programs}; import each from its own folder")
    if not files and refused:
        listed = [f"{folder / name}: {reason}" for name, reason in refused.items()]
        raise InputError("\n".join([f"{folder}: none of its results can be read", *listed]))
    return OtherResults(*next(iter(files.items())), refused) if files else None


def guess_files(results: OtherResults) -> dict[str, tuple[str, int]]:
    """Return system and repetition of each file, by the file's own word or by its path.

    The last number of a path is a repetition where the paths that differ in it alone are numbered
    from 0 or 1, or where a word says so: redis-run2.json, valkey/3.csv. The rest of the path,
    without what all paths share, is the system: redis-7.json and redis-8.json are two.
    """
    named = {name: of.system for name, of in results.files.items() if of.system}
    if len(named) == len(results.files):
        numbers: dict[str, int] = defaultdict(int)
        guessed = {}
        for name, system in named.items():
            numbers[system] += 1
            guessed[name] = (system, numbers[system])
        return guessed
    ignored = OF_GO_YCSB if results.program == go_ycsb.NAME else None
    split = {name: _split(name, ignored) for name in results.files}
    siblings: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for words, number, _is_said in split.values():
        if number is not None:
            siblings[words].add(number)
    guessed = {}
    for name, (words, number, is_said) in split.items():
        count = len(siblings[words])
        in_order = siblings[words] in (set(range(count)), set(range(1, count + 1)))
        if number is None:
            guessed[name] = (words, 1)
        elif is_said or (in_order and count > 1):
            guessed[name] = (words, number + (0 in siblings[words]))
        else:
            guessed[name] = ((*words, str(number)), 1)
    shared = _shared(words for words, _number in guessed.values())
    return {
        name: (
            "-".join(word for word in words if word not in shared) or "-".join(words) or UNNAMED,
            number,
        )
        for name, (words, number) in guessed.items()
    }


def _split(name: str, ignored: re.Pattern[str] | None) -> tuple[tuple[str, ...], int | None, bool]:
    """Return a path's words, the number that may be its repetition, whether a word says so."""
    stem = name.rpartition(".")[0] or name
    words = [word for word in re.split(r"[^A-Za-z0-9.]+", stem) if word]
    words = [word for word in words if not (ignored and ignored.fullmatch(word))]
    for place in range(len(words) - 1, -1, -1):
        rest = words[:place] + words[place + 1 :]
        if match := _WORDS.fullmatch(words[place]):
            return tuple(rest), int(match[1]), True
        if words[place].isdecimal():
            if place and words[place - 1].lower() in _BEFORE_NUMBER:
                return tuple(words[: place - 1] + words[place + 1 :]), int(words[place]), True
            return tuple(rest), int(words[place]), False
    return tuple(words), None, False


def _shared(names: Iterable[tuple[str, ...]]) -> set[str]:
    """Return the words that all ``names`` have; none where there is one name only."""
    different = set(names)
    return set.intersection(*map(set, different)) if len(different) > 1 else set()


def read_files(path: Path, results: OtherResults) -> dict[str, tuple[str, int]]:
    """Return what the user's file says of each result file.

    InputError: a row that is wrong, or a result file without one.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    said = {}
    for line, row in enumerate(rows, start=2):
        if list(row) != COLUMNS:
            raise InputError(
                f"{path}: line 1: must be {','.join(COLUMNS)}; remove the file to "
                "have it written again"
            )
        number = row["repetition"] or ""
        if row["file"] not in results.files:
            raise InputError(f"{path}: line {line}: {row['file']}: no such result; remove the row")
        if not (row["system"] or "").strip() or not number.isdecimal() or int(number) < 1:
            raise InputError(f"{path}: line {line}: needs a system, and a repetition from 1 on")
        said[row["file"]] = (row["system"].strip(), int(number))
    if missing := [name for name in results.files if name not in said]:
        raise InputError(
            f"{path}: has no row for {missing[0]}; add it, or remove {path.name} to have it "
            "written again"
        )
    return said


def write_files(path: Path, files: dict[str, tuple[str, int]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([name, *of] for name, of in files.items())


def check_conditions(results: OtherResults) -> None:
    """Raise InputError for files that were made under different conditions."""
    firsts: dict[tuple[str, str], tuple[str, str]] = {}
    for name, of in results.files.items():
        for test, conditions in of.conditions.items():
            for key, value in conditions.items():
                first, other = firsts.setdefault((test, key), (name, value))
                if other != value:
                    raise InputError(
                        f"{first} and {name} were made with different values of {key} ({other} and "
                        f"{value}); import files of one value at a time"
                    )


def as_rows(
    results: OtherResults, files: dict[str, tuple[str, int]]
) -> list[tuple[str, str, str, float]]:
    """Return test, system, repetition (as text) and value of each run.

    A file with several runs numbers them on: ``2.1``, ``2.2``. InputError: two files with one
    system and repetition.
    """
    rows, owners = [], {}
    for name, of in results.files.items():
        system, repetition = files[name]
        for number, run in enumerate(of.runs, start=1):
            label = f"{repetition}.{number}" if len(of.runs) > 1 else str(repetition)
            for test, value in run.items():
                first = owners.setdefault((test, system, label), name)
                if first != name:
                    raise InputError(
                        f"{first} and {name} are both repetition {repetition} of {system}, {test}; "
                        f"say in {FILES} which is which"
                    )
                rows.append((test, system, label, value))
    return rows
