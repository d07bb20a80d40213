"""Whether an archive, or a run, holds what it says: for the page that a reviewer reads."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.checks import (
    Part,
    Verified,
    check_audit_trail,
    check_measured,
    check_packed,
    check_plan,
    count,
)
from kvstudy.share.archive.contents import CODE, Contents, contents_of
from kvstudy.share.archive.rebuild import check_clone, check_numbers
from kvstudy.share.archive.unpack import (
    Progress,
    check_room,
    extract,
    opened,
    read_facts,
    unpacked_size,
)
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import file_digest
from kvstudy.study.run_names import RESULTS, RunName, find_name


def verify(
    name: str, own_code: bool = True, say: Callable[[str], None] = lambda text: None
) -> Verified:
    """Check the archive file ``name``, or the run of that name or folder.

    ``own_code``: numbers are made anew by the workflow of this clone, else by the archive's.
    ``say`` is told what is being done. KvstudyError for what is no archive and no run.
    """
    if own_code:
        check_clone()
    with tempfile.TemporaryDirectory(prefix="kvstudy-verify-") as top:
        path = Path(name)
        if path.is_file():
            return _archive(path, Path(top), own_code, say)
        if path.suffix == ".zip":
            raise KvstudyError(f"{path}: no such file")
        run, given = find_name(name), Path(top) / "given"
        contents = _linked(run, given)
        declared = contents.missing if run.partial else ()
        parts = _parts(run, given, declared, Path(top) / "made", Path(), say)
        return Verified(run.name, [f"Run: {RESULTS / run.name}"], list(parts))


def _archive(path: Path, top: Path, own_code: bool, say: Callable[[str], None]) -> Verified:
    say(f"reading {path}")
    with opened(path) as file:
        run, declared = read_facts(file)
        check_room(path, file, top)
        total = unpacked_size(file)
        size = path.stat().st_size
        lines = [f"Archive: {path.name}, {size:,} bytes", f"SHA-256: {file_digest(path)}"]
        parts = [check_packed(file, _share(f"checksums of {path}", total, say))]
        folder = top / "given"
        try:
            extract(file, folder, progress=_share(f"unpacking {path}", total, say))
        except KvstudyError:
            # Named among the checksums; of a damaged file nothing else can be told.
            parts.append(Part("All else", notes=["not looked at: the archive is damaged"]))
            return Verified(run.name, lines, parts)
    parts.append(_code(folder, own_code))
    code = Path() if own_code else folder
    parts += _parts(run, folder, declared if run.partial else (), top / "made", code, say)
    return Verified(run.name, lines, parts)


def _linked(run: RunName, folder: Path) -> Contents:
    """The contents that an archive of the run would have, as links in ``folder``."""
    contents = contents_of(run)
    for name in contents.files | contents.made:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name in contents.made:
            (folder / name).write_bytes(contents.made[name])
        else:
            (folder / name).symlink_to(contents.files[name].resolve())
    return contents


def _parts(
    run: RunName,
    given: Path,
    declared: tuple[str, ...],
    made: Path,
    code: Path,
    say: Callable[[str], None],
) -> Iterator[Part]:
    """Plan, audit trail and numbers; later parts are left out where earlier ones forbid them.

    The files lie in ``given`` as in the project; ``declared`` are cells that are said to be
    missing.
    """
    code = code.resolve()
    with contextlib.chdir(given):
        try:
            study = load_study(run.study_file)
            cells = [] if run.published_only else plan(study, run.scale)
        except KvstudyError as error:
            yield Part("Plan", faults=[f"the study cannot be read: {error}"])
            return
        results = RESULTS / run.base
        measured = check_measured(results)
        yield measured
        if run.published_only:
            yield Part("Plan", notes=["nothing was measured: the values are those of the source"])
        else:
            yield check_plan(run, study, cells, declared)
            yield check_audit_trail(run, cells)
    if measured.faults:
        text = "not made anew: the raw logs are not those that were measured"
        yield Part("Numbers", notes=[text])
        return
    say("making every number anew from the raw logs; this takes a minute or more")
    yield check_numbers(
        run, given, made, code, lambda text: say(f"making every number anew: {text}")
    )


def _share(what: str, total: int, say: Callable[[str], None]) -> Progress:
    """Says how much of ``total`` bytes is done of ``what``."""
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        say(f"{what}: {done / total:.0%} of {total / 1e6:,.0f} MB")

    return progress


def _code(folder: Path, own_code: bool) -> Part:
    """Whether the workflow in the archive is the one that checks it."""
    part = Part("Workflow")
    theirs, ours = _workflow(folder), _workflow(Path())
    different = sorted(
        name for name in theirs.keys() | ours.keys() if theirs.get(name) != ours.get(name)
    )
    if not different:
        part.facts.append("the workflow in the archive is the same as here")
        return part
    whose = "of the archive, which checks itself then"
    if own_code:
        whose = (
            "here; where they differ, that may be the reason. --archived-code takes the archive's"
        )
    part.notes.append(
        f"{count(len(different), 'file')} of the workflow differ from those here. Numbers were "
        f"made anew by the workflow {whose}"
    )
    return part


def _workflow(top: Path) -> dict[str, str]:
    """Checksums of all that makes numbers and text from raw logs."""
    sums = {}
    for name in (*CODE[:2], "report/templates", "report/text"):
        for path in [top / name] if (top / name).is_file() else (top / name).rglob("*"):
            if path.is_file() and path.suffix in {"", ".py", ".smk", ".j2", ".lua"}:
                relative = path.relative_to(top).as_posix()
                if "/bindings/" not in relative and "/." not in relative:
                    sums[relative] = file_digest(path)
    return sums
