"""The YCSB logs in a folder, grouped by run."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kvstudy.errors import DataError, InputError, KvstudyError
from kvstudy.logs.imports.mapping import Row
from kvstudy.logs.imports.parts import NO_LOG, LogPart, read_parts
from kvstudy.logs.imports.prefixes import program_of_prefix
from kvstudy.logs.imports.workloads import (
    OF_WORKLOADS,
    CommandLine,
    base_name,
    find_command,
    read_command,
)
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.log import OPERATIONS, YcsbLog, parse

_VERSION = re.compile(r"^YCSB Client (\d\S*)", re.MULTILINE)
# Properties that say where a server or a file is, not what is measured.
_PLACES = re.compile(
    r"(^|\.)(hosts?|servers?|nodes?|port|user|username|debug|verbose|exporter|exportfile)$"
    r"|(?i:passwd|password|secret|token)$|^(status|hdrhistogram|measurement|histogram|timeseries)\."
    r"|^(db|db\.driver|dotransactions|threadcount)$"
)
# An address can have properties behind it: mongodb://host/base?w=0
_URL = re.compile(r"(^|\.)(url|uri)$")
# What sets the two outputs of one run apart: redis-a.out and redis-a.err, out/redis-a.txt.
_NOISE = frozenset(
    """
    out err stdout stderr output error errors log logs txt json cmd result results
    """.split()  # noqa: SIM905
)
# Torque's and Slurm's numbers of a job stay: name.o123 and name.e123.
_JOB = re.compile(r"\.[oe](\d+)$")
# Files that a message names.
_LISTED = 4
_HISTOGRAM = re.compile(rf"((?:Intended-)?({'|'.join(OPERATIONS)}))\.hdr$")


@dataclass(eq=False)
class LogBundle:
    """The files of one run of YCSB, and its cell.

    ``results`` has YCSB's results, ``errors`` is the standard error where it is a file of its
    own; one of the two can be missing. ``histograms`` are its HdrHistogram files by operation,
    below the folder. ``row`` is that of import.csv: what the logs say, then what the user says.

    What the logs say, but for the row: ``given`` are YCSB's properties by the command and by
    workload files next to the logs, None without a command; ``base`` is the file under workloads/,
    ``shape`` what its load does differently; ``binding`` is the class of the store's binding;
    ``run`` is the run of a load.
    """

    results: LogPart | None
    errors: LogPart | None = None
    histograms: dict[str, Path] = field(default_factory=dict)
    row: Row = field(init=False)
    given: dict[str, str] | None = None
    base: str = ""
    shape: str = ""
    binding: str = ""
    run: LogBundle | None = None

    def __post_init__(self) -> None:
        self.row = Row(self.name)

    @property
    def name(self) -> str:
        """Return the name of its main file below the folder, with ``#2`` for a second run in it."""
        return (self.results or self.errors).name

    @property
    def problem(self) -> str:
        """Return why its files cannot be read, if they cannot."""
        parts = [part for part in (self.results, self.errors) if part and part.problem]
        return f"{parts[0].name}: {parts[0].problem}" if parts else ""

    @property
    def texts(self) -> list[str]:
        """Return the contents of its files, results first."""
        return [part.text for part in (self.results, self.errors) if part]

    @cached_property
    def arguments(self) -> str | None:
        """YCSB's arguments, if any of the files has them."""
        return next(filter(None, map(find_command, self.texts)), None)

    @cached_property
    def command(self) -> CommandLine | None:
        """The arguments, read."""
        return None if self.arguments is None else read_command(self.arguments)

    @cached_property
    def variant(self) -> dict[str, str]:
        """The properties that make another variant of the store, sorted, without addresses."""
        variant = {}
        for name, value in sorted((self.given or {}).items()):
            if name in OF_WORKLOADS or _PLACES.search(name):
                continue
            if _URL.search(name):
                _, _, behind = value.replace(";", "?", 1).partition("?")
                parts = sorted(filter(None, re.split("[&;?]", behind)))
                parts = [part for part in parts if not _PLACES.search(part.split("=")[0])]
                if not parts:
                    continue
                value = f"...?{'&'.join(parts)}"
            variant[name] = value
        return variant

    @property
    def talk(self) -> str:
        """The text that has status lines, if YCSB printed any."""
        return self.texts[-1]

    @property
    def version(self) -> str:
        """The version of YCSB; empty when no file says it."""
        match = _VERSION.search("\n".join(self.texts))
        return match[1] if match else ""

    @cached_property
    def log(self) -> YcsbLog | None:
        """The results; None when they are not whole.

        Its counts are good; what its latencies are, only ``measurement.interval`` shows.
        """
        with contextlib.suppress(KvstudyError):
            return self.read()
        return None

    def read(self, interval: str = "op") -> YcsbLog:
        """The results of a run with this measurement.interval; DataError for broken ones."""
        if self.problem:
            raise DataError(self.problem)
        if self.results is None:
            return parse("", self.name, interval)
        try:
            return parse(self.results.text, self.name, interval)
        except KvstudyError as error:
            raise DataError(self.results.of_file(str(error))) from None


@dataclass
class OtherFiles:
    """Files that are no logs, and those that are YCSB's but cannot be read, with the reasons."""

    ignored: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def find_sources(folder: Path) -> tuple[list[LogBundle], OtherFiles]:
    """Return the runs of YCSB in ``folder`` and below, and the other files.

    InputError when there is no run, or the folder cannot be read.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the one that holds the logs of YCSB")
    # What has one name, but for words like out and err.
    groups: dict[tuple, dict[str, list[LogPart]]] = defaultdict(lambda: defaultdict(list))
    histograms: list[Path] = []
    others = OtherFiles()
    for path in _files(folder, others):
        name = path.as_posix()
        if path.suffix == ".hdr":
            histograms.append(path)
            others.ignored[name] = "a histogram of no operation of a log here"
            continue
        try:
            data = (folder / path).read_bytes()
        except OSError as error:
            others.refused[name] = f"cannot be read: {error.strerror}; copy it again"
            continue
        try:
            output = read_parts(path, data)
        except KvstudyError as error:
            others.refused[name] = str(error)
            continue
        others.ignored |= output.ignored
        if output.unread:
            others.refused[name] = output.unread
        groups[_key(name)][output.kind] += output.parts
    sources = [
        source for _, group in sorted(groups.items()) for source in _sources(group, others.ignored)
    ]
    sources = _with_exports(sources)
    _add_histograms(sources, histograms, folder, others.ignored)
    for source in [source for source in sources if source.problem and source.command is None]:
        # Nobody has to say which cell it is.
        others.refused[source.name] = source.problem.removeprefix(f"{source.name}: ")
        sources.remove(source)
    sources = _without_copies(sources, others)
    if not sources:
        raise InputError(_no_logs(folder, others))
    return sources, others


def _files(folder: Path, others: OtherFiles) -> list[Path]:
    """Return the files below ``folder``, sorted, but hidden ones; note folders that stay closed."""

    def refuse(error: OSError) -> None:
        name = Path(error.filename).relative_to(folder).as_posix()
        others.refused[name] = f"cannot be opened: {error.strerror}; make it readable"

    logs = []
    for parent, names, files in os.walk(folder, onerror=refuse):
        within = Path(parent).relative_to(folder)
        names[:] = [name for name in names if name[0] != "."]
        for name in names:
            # It may lead up again.
            if (folder / within / name).is_symlink():
                others.refused[(within / name).as_posix()] = (
                    "is a link to a folder; put the folder in its place, or remove the link"
                )
        logs += [within / name for name in files if name[0] != "."]
    return [path for path in sorted(logs) if (folder / path).is_file()]


def _without_copies(sources: list[LogBundle], others: OtherFiles) -> list[LogBundle]:
    """Leave out results that are in their file twice.

    No two runs have equal latencies to the last digit.
    """
    kept: list[LogBundle] = []
    by_results: dict[str, LogBundle] = {}
    for source in sources:
        first = by_results.setdefault(repr(source.log), source) if source.log else source
        is_again = first is not source and first.results.path == source.results.path
        if is_again and source.command in (None, first.command):
            others.ignored[source.name] = f"has the results of {first.name} once more"
            continue
        kept.append(source)
    return kept


def _no_logs(folder: Path, others: OtherFiles) -> str:
    if others.refused:
        listed = [f"{folder / name}: {reason}" for name, reason in sorted(others.refused.items())]
        return "\n".join([f"{folder}: none of its logs can be read", *listed])
    message = (
        f"{folder}: holds no log of YCSB: no file has a line '[OVERALL], RunTime(ms), ...' or "
        "'Command line: ...'. Give the folder that holds what YCSB printed"
    )
    unpacked = [name for name, reason in sorted(others.ignored.items()) if reason not in NO_LOG]
    listed = [f"{folder / name}: {others.ignored[name]}" for name in unpacked[:_LISTED]]
    more = [f"and {len(unpacked) - _LISTED} more"] if len(unpacked) > _LISTED else []
    return "\n".join([message, *listed, *more])


def _key(name: str) -> tuple[str, ...]:
    """The words of a path without those that only tell outputs of one run apart."""
    name = _JOB.sub(r".\1", name)
    words = re.split(r"[/._\s-]+", name.casefold())
    return tuple(word for word in words if word and word not in _NOISE)


def _sources(outputs: dict[str, list[LogPart]], ignored: dict[str, str]) -> list[LogBundle]:
    """One for each run: its results with the standard error that has the same name."""
    results, errors, others = (outputs[kind] for kind in ("results", "errors", "others"))
    if not results and len(errors) == len(others) == 1:
        # The client ended before it had results; what it printed is there.
        ignored.pop(others[0].path.as_posix())
        results = others
    if len(results) == len(errors):
        of_program = {program_of_prefix(part.prefix): part for part in errors}
        if len(of_program) == 1:
            return [LogBundle(*pair) for pair in zip(results, errors, strict=True)]
        # Lines of several programs, which may have begun and ended in different orders.
        if len(of_program) == len(errors) and of_program.keys() == {
            program_of_prefix(part.prefix) for part in results
        }:
            return [LogBundle(part, of_program[program_of_prefix(part.prefix)]) for part in results]
    if not results:
        return [LogBundle(None, part) for part in errors]
    for part in errors:
        ignored[part.path.as_posix()] = "a standard error that fits several logs by its name"
    return [LogBundle(part) for part in results]


def _with_exports(sources: list[LogBundle]) -> list[LogBundle]:
    """Join the files that -p exportfile named with the outputs of their runs.

    Of files with that name it is the one whose path ends most like the run's own or the named one;
    runs that wrote over the same file, and several files that fit alike, are joined with none.
    """
    owners: dict[LogBundle, list[LogBundle]] = defaultdict(list)
    exports = [source for source in sources if source.results and source.command is None]
    for source in sources:
        if source.log or source.command is None:
            continue
        named = source.command.properties.get("exportfile", "").replace("\\", "/")
        fits = {
            export: (_alike(export.results.path, named), _alike(export.results.path, source.name))
            for export in exports
            if base_name(named) == export.results.path.name
        }
        best = max(fits.values(), default=None, key=sum)
        chosen = [export for export, fit in fits.items() if sum(fit) == sum(best)]
        if len(chosen) == 1:
            owners[chosen[0]].append(source)
    joined = []
    for export, of in owners.items():
        if len(of) == 1:
            export.errors = of[0].errors or of[0].results
            del export.arguments, export.command
            joined.append(of[0].name)
    return [source for source in sources if source.name not in joined]


def _alike(path: Path, other: str) -> int:
    """Return how many folders the paths have in common, from the files on upwards."""
    count = 0
    for one, two in zip(path.parts[-2::-1], other.split("/")[-2::-1], strict=False):
        if one != two:
            break
        count += 1
    return count


def _add_histograms(
    sources: list[LogBundle], histograms: list[Path], folder: Path, ignored: dict[str, str]
) -> None:
    """Give each run its HdrHistogram files: by the prefix in its command, else by its name.

    Runs with one prefix write over each other's files; the number of operations shows whose it is.
    """
    for path in histograms:
        match = _HISTOGRAM.search(path.name)
        if not match:
            continue
        owners = [source for source in sources if _owns(source, path, match)]
        siblings = [source for source in owners if Path(source.name).parent == path.parent]
        chosen = siblings or owners
        if len(chosen) > 1:
            with contextlib.suppress(KvstudyError, OSError):
                count = sum(read_histogram(folder / path).values())
                fitting = [of for of in chosen if of.log.sections[match[2]].operations == count]
                chosen = fitting or chosen
        if len(chosen) == 1:
            chosen[0].histograms[match[1]] = path
            del ignored[path.as_posix()]
        elif len(chosen) > 1:
            ignored[path.as_posix()] = "a histogram that fits several logs"


def _owns(source: LogBundle, path: Path, match: re.Match) -> bool:
    if source.log is None or match[2] not in source.log.sections:
        return False
    before = path.name[: match.start()]
    if source.command:
        # YCSB puts nothing between the prefix and the operation.
        properties = source.command.properties
        prefix = base_name(properties.get("hdrhistogram.output.path", ""))
        return properties.get("hdrhistogram.fileoutput") == "true" and prefix == before
    stem = path.with_name(before).as_posix()
    named = before == "" or before[-1] in "._-"
    return named and _key(stem) == _key(source.name.split("#")[0])
