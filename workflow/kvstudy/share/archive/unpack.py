"""Read an archive that somebody else packed; its names are not trusted."""

from __future__ import annotations

import contextlib
import errno
import json
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from kvstudy.errors import DataError, EnvironmentFault, KvstudyError
from kvstudy.language.current import ORIGINAL
from kvstudy.share.archive.contents import CHUNK, FACTS, FORMAT, METADATA, Progress
from kvstudy.study.cells import run_name
from kvstudy.study.published import published_name
from kvstudy.study.raw import SUMS
from kvstudy.study.run_names import PARTIAL, RunName

GET_AGAIN = "get it again, or ask for a new one"
# Broken zips make zipfile raise any of these.
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
# Logs unpack to ten times their size. What grows more than this was made to fill memory or disk;
# the largest runs have a tenth of these files.
GROWTH, ALWAYS, FILES = 100, 10**9, 10**6
# Errors of a name that cannot stand beside the archive's other names, or nowhere.
NO_NAME = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}
# Of a file that is read as a whole; the lists have some hundred bytes for each file.
WHOLE, WHOLE_EACH = 10**6, 2000


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, once its names are safe; KvstudyError for what is none."""
    try:
        file = zipfile.ZipFile(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except BROKEN as error:
        raise DataError(f"{path}: no zip file, or cut off ({error}); {GET_AGAIN}") from None
    with file:
        _check_sizes(path, file)
        _check_names(path, file)
        if FACTS not in file.namelist():
            raise DataError(
                f"{path}: has no {FACTS}: it was not packed by 'kvstudy archive', or is damaged"
            )
        yield file


def _check_sizes(path: Path, file: zipfile.ZipFile) -> None:
    """Raise DataError for a zip that would fill memory or disk by its stated sizes."""
    entries, total = len(file.infolist()), unpacked_size(file)
    if entries > FILES or total > max(ALWAYS, GROWTH * path.stat().st_size):
        raise DataError(
            f"{path}: unpacks to {entries:,} files of {total / 1e9:,.1f} GB, from "
            f"{path.stat().st_size / 1e6:,.1f} MB; no run is like that, do not unpack it"
        )
    for name in {FACTS, SUMS, METADATA} & file.NameToInfo.keys():
        if file.getinfo(name).file_size > WHOLE + WHOLE_EACH * entries:
            raise DataError(f"{path}: {name} is too large for {entries:,} files; {GET_AGAIN}")


def unpacked_size(file: zipfile.ZipFile) -> int:
    """Bytes of all files."""
    return sum(entry.file_size for entry in file.infolist())


def check_room(path: Path, file: zipfile.ZipFile, folder: Path) -> None:
    """Raise EnvironmentFault if the disk of ``folder``, existing or not, has no room."""
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    needed, free = unpacked_size(file), shutil.disk_usage(existing).free
    if needed > free:
        raise EnvironmentFault(
            f"{path}: unpacks to {needed / 1e9:,.1f} GB, and {folder} has {free / 1e9:,.1f} GB "
            "left; free some space, or work on another disk (TMPDIR for 'kvstudy verify', "
            "--output for 'kvstudy rebuild')"
        )


def _check_names(path: Path, file: zipfile.ZipFile) -> None:
    """Raise KvstudyError for an entry that would be written outside of the folder, or twice."""
    seen: set[str] = set()
    for entry in file.infolist():
        name = entry.filename
        parts = PurePosixPath(name).parts
        outside = name.startswith("/") or ".." in parts or "\\" in name or ":" in name
        # zipfile cuts names at a zero byte.
        unclear = not parts or entry.orig_filename != name or not name.isprintable()
        if outside or unclear:
            raise DataError(
                f"{path}: has an entry {entry.orig_filename!r}, which would be written outside of "
                "its folder; do not unpack it"
            )
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise DataError(f"{path}: {name} is a link; archives have none, do not unpack it")
        if name in seen:
            raise DataError(f"{path}: has two entries {name}; do not unpack it")
        seen.add(name)


def _chunks(file: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The content of a file; KvstudyError where the zip is damaged."""
    try:
        with file.open(name) as source:
            while chunk := source.read(CHUNK):
                yield chunk
    except (*BROKEN, OSError, RuntimeError) as error:
        raise DataError(f"{name}: is damaged in the archive ({error}); {GET_AGAIN}") from None


def read_facts(file: zipfile.ZipFile) -> tuple[RunName, tuple[str, ...]]:
    """Return the archive's run, and the planned cells that it lists as missing."""
    try:
        data = json.loads(b"".join(_chunks(file, FACTS)))
        if data["format"] != FORMAT:
            raise DataError(
                f"{FACTS}: has format {data['format']}, this kvstudy reads {FORMAT}; "
                "take the kvstudy that packed it"
            )
        scale, partial = float(data["scale"]), bool(data["partial"])
        published = data["source"] == "published"
        # Of measured runs the English files are always looked at.
        language = str(data["language"]) if published else ORIGINAL
        run = RunName(data["run"], data["study"], scale, data["source"], partial, language)
        name = published_name(run.study, language) if published else run_name(run.study, scale)
        safe = all(NAME.fullmatch(each) for each in (run.name, run.study))
        if not safe or run.name != name + (PARTIAL if partial else ""):
            raise ValueError(f"the run '{run.name}' is not that of its study and scale")
        return run, tuple(str(path) for path in data["missing"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{FACTS}: cannot be read ({error}); {GET_AGAIN}") from None


def extract(
    file: zipfile.ZipFile,
    folder: Path,
    chosen: Callable[[str], bool] = lambda name: True,
    executable: bool = False,
    progress: Progress = lambda count: None,
) -> dict[str, str]:
    """Write the ``chosen`` files below ``folder``; programs only where ``executable``.

    Returns what is wrong with those that are damaged, by their names.
    """
    damaged = {}
    for name in sorted(entry.filename for entry in file.infolist() if not entry.is_dir()):
        if not chosen(name):
            continue
        target = folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as output:
                for chunk in _chunks(file, name):
                    output.write(chunk)
                    progress(len(chunk))
            if executable and file.getinfo(name).external_attr >> 16 & stat.S_IXUSR:
                target.chmod(0o755)
        except KvstudyError as error:
            damaged[name] = str(error)
        except OSError as error:
            if error.errno in NO_NAME:
                raise DataError(
                    f"{file.filename}: has an entry {name} that cannot be unpacked: "
                    f"{error.strerror}; do not unpack it"
                ) from None
            raise EnvironmentFault(f"{target}: cannot be written: {error.strerror}") from None
    return damaged
