"""Whether the files of an archive are those that were packed, and those that were measured."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.crate import METADATA
from kvstudy.share.archive.part import Part, count
from kvstudy.share.archive.unpack import Progress, chunks, files_in
from kvstudy.study.raw import SUMS, listed_sums, read_sums


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
    for name in sorted(expected.keys() - names):
        part.faults.append(f"{name}: is missing; it was there when the archive was packed")
    for name in sorted(names - expected.keys() - {SUMS}):
        part.faults.append(f"{name}: was added after the archive was packed")
    found = {}
    for name in sorted(names & expected.keys()):
        try:
            found[name] = _digest(chunks(file, name, progress))
        except KvstudyError as error:
            part.faults.append(str(error))
            continue
        if found[name] != expected[name]:
            part.faults.append(f"{name}: was changed after the archive was packed")
    if METADATA in found:
        part.faults += _against_metadata(b"".join(chunks(file, METADATA)), expected)
    if not part.faults:
        part.facts.append(
            f"{count(len(found), 'file')} are as they were packed; none is missing or was added"
        )
    return part


def _against_metadata(content: bytes, expected: dict[str, str]) -> list[str]:
    """Faults of the checksums that the metadata repeat."""
    try:
        graph = json.loads(content)["@graph"]
        given = {each["@id"]: each["sha256"] for each in graph if "sha256" in each}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return [f"{METADATA}: cannot be read ({error!r})"]
    return [
        f"{name}: {METADATA} gives another checksum than {SUMS}"
        for name, digest in sorted(given.items())
        if expected.get(name) != digest
    ]


def check_measured(results: Path) -> Part:
    """The raw logs of each cell and probe against the checksums that were written with them."""
    part = Part("Checksums of the raw logs")
    lists = sorted([*results.glob(f"raw/**/{SUMS}"), *results.glob(f"probes/*/{SUMS}")])
    files = 0
    for path in lists:
        try:
            expected = read_sums(path.parent)
        except KvstudyError as error:
            part.faults.append(str(error))
            continue
        there = {each.name for each in path.parent.iterdir() if each.is_file()} - {SUMS}
        files += len(there)
        for name in sorted(expected.keys() - there):
            part.faults.append(f"{path.parent / name}: is missing; the cell had it when measured")
        for name in sorted(there - expected.keys()):
            part.faults.append(f"{path.parent / name}: was added after the cell was measured")
        for name in sorted(there & expected.keys()):
            with (path.parent / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected[name]:
                    part.faults.append(
                        f"{path.parent / name}: was edited or cut off after it was measured"
                    )
    if not part.faults:
        probes = sum(path.is_relative_to(results / "probes") for path in lists)
        part.facts.append(
            f"{count(files, 'raw file')} of {count(len(lists) - probes, 'cell')} and "
            f"{count(probes, 'probe')} are as they were measured"
            if lists
            else "there are no raw logs: nothing was measured"
        )
    return part


def _digest(parts) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
