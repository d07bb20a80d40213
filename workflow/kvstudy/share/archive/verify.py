"""The verification of an archive, or a run, for the page that a reviewer reads."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kvstudy.analyse.tidy.reviews import FOLDER, read_record, words
from kvstudy.errors import InputError, KvstudyError
from kvstudy.share.archive.checks import (
    CheckSection,
    Verified,
    check_audit_trail,
    check_measured,
    check_packed,
    check_plan,
    check_stop,
)
from kvstudy.share.archive.contents import CODE, contents_of, files_below
from kvstudy.share.archive.rebuild import check_numbers, clone_here
from kvstudy.share.archive.unpack import check_room, extract, opened, read_facts, unpacked_size
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.naming import count
from kvstudy.study.raw import SUMS, as_measured, file_digest
from kvstudy.study.run_names import RESULTS, RunName, find_name


def verify(
    name: str, own_code: bool = True, say: Callable[[str], None] = lambda text: None
) -> Verified:
    """Check the archive file ``name``, or the run of that name or folder.

    ``own_code``: numbers are made again by the workflow of ``clone_here``, else by the archive's.
    ``say`` is told what is being done. InputError for what is no archive and no run.
    """
    code = clone_here() if own_code else None
    with tempfile.TemporaryDirectory(prefix="kvstudy-verify-") as top:
        path = Path(name)
        if path.is_file():
            return _archive(path, Path(top), code, say)
        if path.suffix == ".zip":
            raise InputError(f"{path}: no such file")
        run, given = find_name(name), Path(top) / "given"
        contents = contents_of(run)
        # What an archive of it would unpack to; parsing may move what it cannot read.
        for file in {*contents.files, *contents.generated}:
            (given / file).parent.mkdir(parents=True, exist_ok=True)
            if file in contents.generated:
                (given / file).write_bytes(contents.generated[file])
            else:
                (given / file).symlink_to(Path(file).resolve())
        recomputed = Path(top) / "made"
        parts = _parts(run, given, contents.missing, recomputed, code or clone_here(), say)
        return Verified(run.name, [f"Run: {run.folder}"], list(parts))


def _archive(path: Path, top: Path, code: Path | None, say: Callable[[str], None]) -> Verified:
    """``code`` has the workflow that makes the numbers again; None for that of the archive."""
    folder, done = top / "given", 0
    with opened(path) as file:
        run, declared = read_facts(file)
        check_room(path, file, top)
        total = unpacked_size(file)

        def progress(count: int) -> None:
            nonlocal done
            done += count
            say(f"unpacking {path}: {done / total:.0%} of {total / 1e6:,.0f} MB")

        damaged = extract(file, folder, progress=progress)
    lines = [
        f"Archive: {path.name}, {path.stat().st_size:,} bytes",
        f"SHA-256: {file_digest(path)}",
    ]
    say(f"checksums of {path}")
    with contextlib.chdir(folder):
        parts = [check_packed(damaged)]
    if damaged:
        parts.append(CheckSection("All else", notes=["not looked at: the archive is damaged"]))
        return Verified(run.name, lines, parts)
    different = _differing_code(folder, code)
    parts.append(_code(different, code))
    if reviews := sorted((path.parent / FOLDER).glob("*.json")):
        parts.append(_reviews(reviews, folder))
    missing = declared if run.partial else ()
    same = not different or code is None
    parts += _parts(run, folder, missing, top / "made", code or folder, say, same)
    return Verified(run.name, lines, parts)


def _parts(
    run: RunName,
    given: Path,
    declared: tuple[str, ...],
    recomputed: Path,
    code: Path,
    say: Callable[[str], None],
    same: bool = True,
) -> Iterator[CheckSection]:
    """Plan, audit trail and numbers; later parts are left out where earlier ones forbid them.

    The files are in ``given`` as in the project; ``declared`` are cells that are said to be
    missing. Whether the workflow in ``code`` is the ``same``: see ``check_numbers``.
    """
    code = code.resolve()
    with contextlib.chdir(given):
        try:
            study = as_measured(load_study(run.study_file), run.base)
            cells = [] if run.published_only else plan(study, run.scale)
        except KvstudyError as error:
            yield CheckSection("Plan", faults=[f"the study cannot be read: {error}"])
            return
        measured = check_measured(RESULTS / run.base)
        yield measured
        if run.published_only:
            yield CheckSection(
                "Plan", notes=["nothing was measured: the values are those of the source"]
            )
        else:
            yield check_plan(run, study, cells, declared)
            yield check_audit_trail(run, cells)
            if not study.imported:
                yield check_stop(run, study, declared)
    if measured.faults:
        text = "not made again: the raw logs are not those that were measured"
        yield CheckSection("Numbers", notes=[text])
    else:
        say("making every number again from the raw logs; this takes a minute or more")
        yield check_numbers(run, given, recomputed, code, say, same)


def _differing_code(folder: Path, code: Path | None) -> set[str]:
    """Return the files of the archive's workflow that are other ones here, or only in one place."""
    here = _workflow(code or clone_here())
    return {name for name, _ in _workflow(folder).items() ^ here.items()}


def _code(different: set[str], code: Path | None) -> CheckSection:
    """Say whether the archive's workflow is the one that verifies it."""
    if not different:
        return CheckSection("Workflow", facts=["the workflow in the archive is the same as here"])
    whose = (
        "here; where they differ, that may be the reason. --archived-code takes the archive's"
        if code
        else "of the archive, which checks itself then"
    )
    note = (
        f"{count(len(different), 'file')} of the workflow differ from those here. Numbers were "
        f"made again by the workflow {whose}"
    )
    return CheckSection("Workflow", notes=[note])


def _reviews(paths: list[Path], folder: Path) -> CheckSection:
    """Check the records of reviews beside the archive that is unpacked in ``folder``."""
    part, digest = CheckSection("Reviews"), file_digest(folder / SUMS)
    for path in paths:
        try:
            record = read_record(path)
        except KvstudyError as error:
            part.faults.append(str(error))
            continue
        if record.archive == digest:
            part.facts.append(words(record))
        else:
            part.notes.append(f"{path}: is of another archive ({record.run})")
    return part


def _workflow(top: Path) -> dict[str, str]:
    """Checksums of all that makes numbers and text from raw logs."""
    sums = {}
    for folder in (*CODE[:2], "report/templates", "report/text"):
        for path in files_below(top / folder):
            name = path.relative_to(top).as_posix()
            made_by = path.suffix in {"", ".py", ".smk", ".j2", ".po", ".lua"}
            if made_by and "/bindings/" not in name and "/." not in name:
                sums[name] = file_digest(path)
    return sums
