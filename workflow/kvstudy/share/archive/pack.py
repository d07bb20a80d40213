"""Write an archive: a zip of sorted files without times, so that equal files give equal bytes."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.contents import Contents
from kvstudy.share.archive.crate import METADATA, README, metadata
from kvstudy.share.archive.facts import Person
from kvstudy.share.archive.readme import readme
from kvstudy.study.raw import SUMS

# The earliest that a zip can say.
NO_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN, EXECUTABLE, FOLDER = 0o100644, 0o100755, 0o040755
CHUNK = 1 << 20

Progress = Callable[[int], None]


def pack(
    contents: Contents,
    output: Path,
    authors: tuple[Person, ...] = (),
    licence: str = "",
    progress: Progress = lambda count: None,
) -> None:
    """Write the archive to ``output``; nothing is left there when it cannot be finished.

    ``progress`` is called with counts of bytes, which add up to twice those of ``files``.
    """
    made = contents.made | {README: readme(contents).encode()}
    digests = {name: _digest(path, progress) for name, path in contents.files.items()}
    digests |= {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    made[METADATA] = metadata(contents, digests, authors, licence)
    digests[METADATA] = hashlib.sha256(made[METADATA]).hexdigest()
    made[SUMS] = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()
    unfinished = output.with_name(output.name + ".part")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
            # A folder that the metadata describe must be an entry of its own.
            for name in sorted(_folders(contents)):
                file.writestr(_entry(name, FOLDER), b"")
            # What was made here stands in place of a file of that name.
            for name in sorted(contents.files.keys() | made.keys()):
                if name in made:
                    _write(file, name, PLAIN, io.BytesIO(made[name]), lambda count: None)
                    continue
                path = contents.files[name]
                mode = EXECUTABLE if os.access(path, os.X_OK) else PLAIN
                with path.open("rb") as source:
                    written = _write(file, name, mode, source, progress)
                if written != digests[name]:
                    raise KvstudyError(f"{path}: was changed while it was packed; pack it again")
        unfinished.replace(output)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise KvstudyError(
                f"{output}: the disk is full; free some space, or give --output on another disk"
            ) from None
        raise KvstudyError(f"{output}: cannot be written: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _write(file: zipfile.ZipFile, name: str, mode: int, source, progress: Progress) -> str:
    """Copy ``source`` into the zip; returns the SHA-256 of what was copied."""
    digest = hashlib.sha256()
    # The size is not known to the zip beforehand, and may be above 4 GiB.
    with file.open(_entry(name, mode), "w", force_zip64=True) as target:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            target.write(chunk)
            progress(len(chunk))
    return digest.hexdigest()


def _entry(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, NO_TIME)
    entry.compress_type = zipfile.ZIP_STORED if mode == FOLDER else zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, also where it is packed on another system
    entry.external_attr = mode << 16
    return entry


def _folders(contents: Contents) -> set[str]:
    """The folders of the cells' raw logs."""
    raw = f"results/{contents.run.base}/raw/"
    return {
        name.removesuffix(SUMS)
        for name in contents.files
        if name.startswith(raw) and name.endswith(f"/{SUMS}")
    }


def _digest(path: Path, progress: Progress) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                progress(len(chunk))
    except OSError as error:
        raise KvstudyError(f"{path}: cannot be read: {error}") from None
    return digest.hexdigest()
