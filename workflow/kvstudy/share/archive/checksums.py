"""Whether the files of an archive are those that were packed, and those that were measured."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.contents import METADATA
from kvstudy.share.archive.page import Part, count
from kvstudy.share.archive.unpack import Progress, chunks, files_in
from kvstudy.study.raw import SUMS, file_digest, listed_sums, read_sums

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


def check_packed(file: zipfile.ZipFile, progress: Progress = lambda count: None) -> Part:
    """Every file of the archive against its checksum list, and the list against the files."""
    part = Part("Checksums of the archive")
    names = set(files_in(file))
    if SUMS not in names:
        part.faults.append(f"{SUMS}: is missing, so nothing tells what was packed")
        return part
    try:
        expected = listed_sums(b"".join(chunks(file, SUMS)).decode())
    except (KvstudyError, ValueError) as error:
        part.faults.append(f"{SUMS}: cannot be read ({error})")
        return part

    def digest(name: str) -> str:
        sha = hashlib.sha256()
        for chunk in chunks(file, name, progress):
            sha.update(chunk)
        return sha.hexdigest()

    part.faults += _faults(expected, names - {SUMS}, digest, PACKED)
    if METADATA in names & expected.keys():
        part.faults += _against_metadata(file, expected)
    if not part.faults:
        part.facts.append(
            f"{count(len(expected), 'file')} are as they were packed; none is missing or was added"
        )
    return part


def _faults(
    expected: dict[str, str], there: set[str], digest: Callable[[str], str], words: tuple[str, ...]
) -> Iterator[str]:
    """What is wrong with the files ``there``, which should have the ``expected`` checksums."""
    missing, added, changed = words
    yield from (f"{name}: {missing}" for name in sorted(expected.keys() - there))
    yield from (f"{name}: {added}" for name in sorted(there - expected.keys()))
    for name in sorted(there & expected.keys()):
        try:
            if digest(name) != expected[name]:
                yield f"{name}: {changed}"
        except KvstudyError as error:
            yield str(error)


def _against_metadata(file: zipfile.ZipFile, expected: dict[str, str]) -> list[str]:
    """Faults of the checksums that the metadata repeat."""
    try:
        graph = json.loads(b"".join(chunks(file, METADATA)))["@graph"]
        repeated = {entity["@id"]: entity["sha256"] for entity in graph if "sha256" in entity}
    except KvstudyError:
        return []  # that it is damaged was said
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return [f"{METADATA}: cannot be read ({error!r})"]
    return [
        f"{name}: {METADATA} gives another checksum than {SUMS}"
        for name, digest in sorted(repeated.items())
        if expected.get(name) != digest
    ]


def check_measured(results: Path) -> Part:
    """The raw logs of each cell and probe against the checksums that were written with them."""
    part = Part("Checksums of the raw logs")
    lists = sorted([*results.glob(f"raw/**/{SUMS}"), *results.glob(f"probes/*/{SUMS}")])
    files = 0
    for folder in [path.parent for path in lists]:
        try:
            sums = {str(folder / name): digest for name, digest in read_sums(folder).items()}
        except KvstudyError as error:
            part.faults.append(str(error))
            continue
        there = {str(path) for path in folder.iterdir() if path.is_file() and path.name != SUMS}
        files += len(there)
        part.faults += _faults(sums, there, lambda name: file_digest(Path(name)), MEASURED)
    if not part.faults:
        probes = sum(path.is_relative_to(results / "probes") for path in lists)
        part.facts.append(
            f"{count(files, 'raw file')} of {count(len(lists) - probes, 'cell')} and "
            f"{count(probes, 'probe')} are as they were measured"
            if lists
            else "there are no raw logs: nothing was measured"
        )
    return part
