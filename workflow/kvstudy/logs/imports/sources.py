"""Which files of a folder are logs of YCSB, and which of them belong together."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.workloads import (
    LAUNCHER,
    MARK,
    CommandLine,
    base_name,
    decoded,
    find_command,
    read_command,
    ycsb_version,
)
from kvstudy.logs.ycsb.log import ADAPTERS, OPERATIONS, YcsbLog, parse

_STATUS = re.compile(r"\d sec: \d+ operations; ")
_OVERALL = re.compile(r"^\[OVERALL\], RunTime\(ms\)", re.MULTILINE)
# What sets the two outputs of one run apart: redis-a.out and redis-a.err, out/redis-a.txt.
_NOISE = frozenset(
    """
    out err stdout stderr output error errors log logs txt json cmd result results
    """.split()  # noqa: SIM905
)
# Torque's and Slurm's numbers of a job stay: name.o123 and name.e123.
_JOB = re.compile(r"\.[oe](\d+)$")
_HISTOGRAM = re.compile(rf"(?:^|[._-])((?:Intended-)?(?:{'|'.join(OPERATIONS)}))\.hdr$")


@dataclass(frozen=True)
class Part:
    """One run in a file; ``number`` counts from 1, 0 where the file holds this run only."""

    path: Path
    number: int
    text: str


@dataclass
class Source:
    """What there is of one run of YCSB.

    ``name`` is that of its main file below the folder, with ``#2`` for the second run
    in it. ``results`` has YCSB's results, ``errors`` is the standard error where it is
    a file of its own, ``histograms`` are its HdrHistogram files by operation. One of
    the first two can be missing. ``given`` are YCSB's properties by the command and by
    workload files beside the logs, None without a command.
    """

    name: str
    results: Part | None
    errors: Part | None = None
    script: str = ""
    histograms: dict[str, Path] = field(default_factory=dict)
    given: dict[str, str] | None = None

    @property
    def texts(self) -> list[str]:
        """What its files hold, the results first."""
        return [part.text for part in (self.results, self.errors) if part]

    @cached_property
    def arguments(self) -> str | None:
        """YCSB's arguments, if any of the files has them."""
        texts = [*self.texts, self.script]
        return next((found for text in texts if (found := find_command(text))), None)

    @cached_property
    def command(self) -> CommandLine | None:
        """The arguments, read."""
        return None if self.arguments is None else read_command(self.arguments)

    @property
    def talk(self) -> str:
        """The text that has status lines, if YCSB printed any."""
        return self.texts[-1]

    @property
    def version(self) -> str:
        """The version of YCSB; empty when no file says it."""
        return next((found for text in self.texts if (found := ycsb_version(text))), "")

    @cached_property
    def log(self) -> YcsbLog | None:
        """The results; None when they are not whole, see ``problem``.

        Its counts are good; what its latencies are, only ``measurement.interval`` tells.
        """
        return None if isinstance(self._parsed, str) else self._parsed

    @property
    def problem(self) -> str:
        """Why there are no results; empty when there are."""
        return self._parsed if isinstance(self._parsed, str) else ""

    @cached_property
    def _parsed(self) -> YcsbLog | str:
        try:
            return self.read()
        except KvstudyError as error:
            return str(error)

    def read(self, interval: str = "op") -> YcsbLog:
        """The results of a run with this measurement.interval; KvstudyError for broken ones."""
        return parse(self.results.text if self.results else "", self.name, interval)


def find_sources(folder: Path) -> tuple[list[Source], dict[str, str]]:
    """The runs of YCSB in ``folder`` and below, and the other files with why they are none.

    KvstudyError when there is none, or the folder cannot be read.
    """
    if not folder.is_dir():
        raise KvstudyError(f"{folder}: no such folder; give the one that holds the logs of YCSB")
    groups: dict[tuple, _Outputs] = defaultdict(_Outputs)
    ignored: dict[str, str] = {}
    paths = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part[0] == "." for part in path.relative_to(folder).parts)
    }
    for name, path in paths.items():
        if path.suffix == ".hdr":
            ignored[name] = "a histogram of no operation of a log here"
            continue
        try:
            text = decoded(path.read_bytes())
        except OSError as error:
            raise KvstudyError(f"{path}: cannot be read: {error.strerror}; copy it again") from None
        outputs = groups[_key(name)]
        if text is None:
            ignored[name] = "no text"
        elif any(pattern.search(text) for pattern in ADAPTERS):
            outputs.results += _parts(path, text)
        elif MARK.search(text) or _STATUS.search(text):
            outputs.errors += _parts(path, text)
        else:
            ignored[name] = "no log of YCSB"
            if find_command(text):
                outputs.script = text
            else:
                outputs.others.append(Part(path, 0, text))
    sources = _together(folder, groups, ignored)
    _add_histograms(sources, paths, folder, ignored)
    if not sources:
        raise KvstudyError(
            f"{folder}: holds no log of YCSB: no file has a line '[OVERALL], RunTime(ms), ...' or "
            "'Command line: ...'. Give the folder that holds what YCSB printed"
        )
    return sources, ignored


def _key(name: str) -> tuple[str, ...]:
    """The words of a path without those that only tell outputs of one run apart."""
    name = _JOB.sub(r".\1", name)
    words = re.split(r"[/._\s-]+", name.casefold())
    return tuple(word for word in words if word and word not in _NOISE)


def _parts(path: Path, text: str) -> list[Part]:
    """The runs in ``text``: a file can be appended to, and each run begins with its command."""
    starts = [match.start() for match in MARK.finditer(text)]
    if len(starts) < 2:
        results = [match.start() for match in _OVERALL.finditer(text)]
        launched = [match.start() for match in LAUNCHER.finditer(text)]
        starts = launched if len(launched) == len(results) else results
    if len(starts) < 2:
        return [Part(path, 0, text)]
    # What stands before the first belongs to it.
    ends = [*starts[1:], len(text)]
    starts[0] = 0
    return [
        Part(path, number, text[start:end])
        for number, (start, end) in enumerate(zip(starts, ends, strict=True), start=1)
    ]


@dataclass
class _Outputs:
    """What has one name, but for words like out and err; ``others`` are no logs."""

    results: list[Part] = field(default_factory=list)
    errors: list[Part] = field(default_factory=list)
    others: list[Part] = field(default_factory=list)
    script: str = ""


def _together(folder: Path, groups: dict[tuple, _Outputs], ignored: dict[str, str]) -> list[Source]:
    """A source for each run: its results with the standard error that has the same name."""
    sources = []
    for _, outputs in sorted(groups.items(), key=itemgetter(0)):
        results, errors = outputs.results, outputs.errors
        if len(results) == len(errors):
            pairs = list(zip(results, errors, strict=True))
        elif not results:
            # The client ended before it had results; what it printed may be there.
            printed = outputs.others if len(errors) == 1 else []
            pairs = [(printed[0] if len(printed) == 1 else None, part) for part in errors]
            for part in printed[:1]:
                ignored.pop(part.path.relative_to(folder).as_posix(), None)
        else:
            pairs = [(part, None) for part in results]
            for part in errors:
                name = part.path.relative_to(folder).as_posix()
                ignored[name] = "a standard error that fits several logs by its name"
        for one, other in pairs:
            main = one or other
            number = f"#{main.number}" if main.number else ""
            name = main.path.relative_to(folder).as_posix() + number
            sources.append(Source(name, one, other, outputs.script))
    return _with_exports(sources)


def _with_exports(sources: list[Source]) -> list[Source]:
    """Join the files that -p exportfile named with the outputs of their runs."""
    by_file = {source.results.path.name: source for source in sources if source.results}
    gone = []
    for source in sources:
        if source.log or source.command is None:
            continue
        found = by_file.get(base_name(source.command.properties.get("exportfile", "")))
        if found and found is not source and found.command is None:
            found.errors = source.errors or source.results
            del found.arguments, found.command
            gone.append(source.name)
    return [source for source in sources if source.name not in gone]


def _add_histograms(
    sources: list[Source], paths: dict[str, Path], folder: Path, ignored: dict[str, str]
) -> None:
    """Give each run its HdrHistogram files: by the prefix in its command, else by its name."""
    for name, path in paths.items():
        found = _HISTOGRAM.search(path.name)
        if not found:
            continue
        owners = [source for source in sources if _owns(source, path, found.start(1), folder)]
        beside = [source for source in owners if (folder / source.name).parent == path.parent]
        chosen = beside if len(beside) == 1 else owners
        if len(chosen) == 1:
            chosen[0].histograms[found[1]] = path
            del ignored[name]
        elif len(chosen) > 1:
            ignored[name] = "a histogram that fits several logs"


def _owns(source: Source, path: Path, end: int, folder: Path) -> bool:
    if source.command:
        given = source.command.properties
        prefix = base_name(given.get("hdrhistogram.output.path", ""))
        return given.get("hdrhistogram.fileoutput") == "true" and prefix == path.name[:end]
    stem = path.with_name(path.name[:end]).relative_to(folder).as_posix()
    return _key(stem) == _key(source.name.split("#")[0])
