"""The folders of raw logs, and their completeness.

SHA256SUMS (in the format of ``sha256sum``) is written last: a cell that has it
is complete, and a file that was edited or cut off later is noticed. So it is with the
numbers that are made of the logs: each step of the pipeline notes the checksums of its
files next to them, in ``.<step>.sha256``.
"""

import contextlib
import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kvstudy.errors import DataError, InputError
from kvstudy.study.cells import Cell
from kvstudy.study.controls import clients_of_trial
from kvstudy.study.model import Study
from kvstudy.study.parts import AUTO
from kvstudy.study.workload import WORKLOADS
from kvstudy.whole_file import put

# Raised on purpose when the way of measuring changes: cells and probes of another number are
# measured again.
PROTOCOL = 1
PROBE_PROTOCOL = 1

SUMS = "SHA256SUMS"
# Of the checksums that a step of the pipeline notes.
ENDING = ".sha256"
# Endings of the files of a cell that anything is read from. Others, like a log that somebody
# unpacked to look at it, may be next to them.
READ = frozenset({".json", ".out", ".err", ".hdr", ".csv", ".log", ".sh", ".parquet"})
# The settings that the server of a cell reported.
SETTINGS = "settings.json"
# In place of logs: why the cell has no value, where measuring again would not help.
GAP = "gap.json"
# In commands.sh, among the lines that stop the server: by a part of the job's command line.
END_OF_DELAY = "kill %?DelayProxy"
# What begins a section of the shell lines in commands.sh.
SECTION = re.compile(r"# (server|delay|(?:load|run)(?:-\d+)?|stop)(?::|$)")
# In characters.
LONGEST_REASON = 500

# In the results of a run whose cells others measured: what was imported.
IMPORTS = "imported.json"
PROVIDER_IMPORTED = "imported"


def raw_directory(run: str, cell: Cell) -> Path:
    """Return the folder of a measured cell's raw logs."""
    return Path("results") / run / "raw" / cell.path


def as_measured(study: Study, run: str) -> Study:
    """The study with as many repetitions as ``run`` has, where it is measured until all is decided.

    That is the last of which any cell is there, and the fewest that the study asks for.
    """
    if not study.until:
        return study
    numbers = [
        int(path.parent.name.removeprefix("rep"))
        for path in (Path("results") / run / "raw").glob(f"*/*/*/rep*/{SUMS}")
        if clients_of_trial(path.parts[-5]) is None
    ]
    reached = max([study.until.first, *numbers])
    return study.with_repetitions(min(reached, study.until.last))


def is_measured(run: str, cell: Cell) -> bool:
    """True when the cell's raw logs are there and complete; KvstudyError if that is hidden."""
    return is_complete(raw_directory(run, cell))


def is_gap(run: str, cell: Cell) -> bool:
    """True for a complete cell that has a reason instead of logs."""
    return (raw_directory(run, cell) / GAP).is_file()


def changed_parameters(study: Study, measured: dict, cell: Cell) -> str:
    """Return what of a ``measured`` cell, as its manifest shows it, differs from the planned one.

    Each parameter with both values and the file that has it; "" for none.
    """
    if cell.clients == AUTO:
        # How many they are is no parameter: trial cells tell.
        cell = cell.with_clients(measured["clients"])
    if measured == cell.as_json():
        return ""
    was, now = (
        side | side["properties"] | {"properties": ""} for side in (measured, cell.as_json())
    )
    use = study.workload(cell.workload)
    in_study = study.parameters.property_texts | use.property_texts
    of_workload = (measured["properties"].keys() | dict(cell.properties).keys()) - in_study.keys()

    def text(value: object) -> object:
        return "not given" if value is None else value

    def place(key: str) -> str:
        return f"{WORKLOADS}/{use.file}" if key in of_workload else f"the study {study.name}"

    return ", ".join(
        f"{key} was {text(was.get(key))}, is now {text(now.get(key))} ({place(key)})"
        for key in sorted(was.keys() | now.keys())
        if was.get(key) != now.get(key)
    )


def probe_directory(run: str, store: str) -> Path:
    """Return the folder of a store's probe."""
    return Path("results") / run / "probes" / store


def raw_latencies(directory: Path, phase: str) -> Path:
    """Return the file in which YCSB writes the single latencies of ``phase``."""
    return directory / f"{phase}.latencies"


def kept_latencies(directory: Path, phase: str) -> Path:
    """Return the file in which they are kept."""
    return directory / f"{phase}.latencies.parquet"


def is_complete(directory: Path) -> bool:
    """True when the logs of a measurement are there; KvstudyError if that is hidden."""
    try:
        return (directory / SUMS).is_file()
    except OSError as error:
        raise DataError(
            f"{directory}: cannot be read: {error.strerror}; give yourself the right to read "
            "results/ (chown, chmod)"
        ) from None


def renewal(directory: Path) -> str:
    """Return how to repeat the measurement: without its list it does not count, and is kept."""
    return f"remove {directory / SUMS} to measure it again (these logs go to replaced/ then)"


def command_sections(lines: Iterable[str]) -> dict[str, list[str]]:
    """The lines of a cell's commands.sh by their sections, comments among them."""
    sections: dict[str, list[str]] = {}
    section: list[str] = []
    for line in lines:
        if header := SECTION.match(line):
            section = sections.setdefault(header[1], [])
        elif line.strip():
            section.append(line)
    return sections


def write_sums(directory: Path) -> None:
    """Write the file with the checksum of every other file in ``directory``."""
    files = [path for path in sorted(directory.iterdir()) if path.is_file()]
    (directory / SUMS).write_text(_sums(files, directory), encoding="utf-8")


def _sums(files: Iterable[Path], folder: Path) -> str:
    return "".join(f"{file_digest(path)}  {path.relative_to(folder)}\n" for path in files)


def listed_sums(text: str) -> dict[str, str]:
    """The checksums of a list by file name; ValueError for a line that is none."""
    sums: dict[str, str] = {}
    for line in text.splitlines():
        digest, gap, name = line.partition("  ")
        if len(digest) != 64 or not gap or not name or name in sums:
            raise ValueError(f"the line {line!r} is no checksum of a file")
        sums[name] = digest
    return sums


def read_sums(directory: Path) -> dict[str, str]:
    """The checksum of each file by its name; KvstudyError where there is no such list."""
    path = directory / SUMS
    try:
        return listed_sums(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def check_sums(directory: Path) -> None:
    """Raise DataError if a file is missing, differs from the measured one, or is not listed."""
    sums = read_sums(directory)
    names = {path.name for path in directory.iterdir() if path.suffix in READ}
    for name in sorted(names - sums.keys()):
        raise InputError(
            f"{directory / SUMS}: lacks {name}: either was changed after the cell was measured"
        )
    for name, digest in sums.items():
        try:
            same = file_digest(directory / name) == digest
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise DataError(f"{directory / name}: cannot be read: {problem}") from None
        if not same:
            raise InputError(
                f"{directory / name}: differs from its checksum in {SUMS}: it was edited or cut off"
            )


def sums_digest(directory: Path) -> str:
    """Return a digest of all files of the measurement; "" if there is none."""
    return file_digest(directory / SUMS) if is_complete(directory) else ""


def file_digest(path: Path) -> str:
    """The file's sha256; OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def set_aside(folder: Path, results: Path, name: str, reason: str) -> Path:
    """Move the files of a measurement that failed to ``results/failed/<name>/<time>/``.

    ``reason`` is kept with them. Returns where they are; OSError where they cannot be moved.
    """
    failed = results / "failed" / name / stamp()
    (folder / "failure.json").write_text(json.dumps({"reason": reason}) + "\n", encoding="utf-8")
    failed.parent.mkdir(parents=True, exist_ok=True)
    return folder.rename(failed)


def one_line(reason: str) -> str:
    """A reason as tables show it: it may quote a damaged log, or what a server said at length."""
    line = " ".join(reason.split())
    # No form of a report takes control characters, and few fonts have other letters.
    line = "".join(char if char.isprintable() and char < "\u0250" else "?" for char in line)
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 3]}..."


def recorded_reason(path: Path) -> str:
    """The reason of a failure or a gap, on one line; that it cannot be read is one too."""
    try:
        return one_line(json.loads(path.read_text(encoding="utf-8"))["reason"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{path}: cannot be read ({error})"


def reason_on_file(run: str, name: str, store: str) -> tuple[str, str] | None:
    """Return why the cell or probe ``name`` is missing: "failed" or "not measured", with details.

    None without a failure of its own and without a reason of the whole ``store``.
    """
    results = Path("results") / run
    no_server = results / "gaps" / f"{store}.json"
    if failures := sorted((results / "failed" / name).glob("*/failure.json")):
        return "failed", recorded_reason(failures[-1])
    return ("not measured", recorded_reason(no_server)) if no_server.is_file() else None


def stamp() -> str:
    """The time as a name that no other attempt has: two cells can fail within one second."""
    return datetime.datetime.now().strftime("%Y%m%dT%H%M%S.%f")


@contextlib.contextmanager
def noted(folder: Path, step: str) -> Iterator[list[Path]]:
    """Note the files below ``folder`` that are put into the list; nothing where the step fails."""
    notes = folder / f".{step}{ENDING}"
    notes.unlink(missing_ok=True)
    outputs: list[Path] = []
    yield outputs
    put(_sums(outputs, folder).encode(), notes)


def refuse_edited(folders: Iterable[Path]) -> None:
    """Raise KvstudyError when a file that was noted in one of the folders is another now."""
    edited = []
    for notes in (path for folder in folders for path in sorted(folder.glob(f".*{ENDING}"))):
        try:
            since, sums = notes.stat().st_mtime_ns, listed_sums(notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # Another Snakemake makes the files of this step at the moment.
            continue
        for name, digest in sums.items():
            path = notes.parent / name
            # An older file was not touched since: a run may have gigabytes.
            if path.is_file() and path.stat().st_mtime_ns > since and file_digest(path) != digest:
                edited.append(f"  {path}\n")
    if edited:
        raise InputError(
            "edited after they were made, and no number of the report is typed by hand:\n"
            f"{''.join(edited)}Remove these files; they are then made again from the raw logs"
        )
