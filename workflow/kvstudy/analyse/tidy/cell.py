"""One measured cell, read from its raw logs: what counts, or why it cannot be read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from kvstudy.analyse.tidy.rows import Rows, check_origin, rows_of
from kvstudy.errors import KvstudyError
from kvstudy.study.alike import differences
from kvstudy.study.cells import Cell, Target
from kvstudy.study.model import Study
from kvstudy.study.raw import check_sums, one_line

MANIFEST = "manifest.json"


class Unreadable(KvstudyError):
    """The files of one measurement are not whole; those of others may be. On one line."""


@contextlib.contextmanager
def reading(folder: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong is Unreadable, and names files of ``folder`` by their name only.

    ``what`` is the file, or files, that is told of where it does not say so itself.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # Damaged files can be anything.
        known = isinstance(error, KvstudyError)
        problem = str(error) if known else f"{what}: cannot be read ({error!r})"
        raise Unreadable(one_line(problem.replace(f"{folder}/", ""))) from error


def read_cell(study: Study, cell: Cell, raw: Path) -> tuple[dict, Rows]:
    """The manifest of the cell whose files lie in ``raw``, and the rows of all tables.

    Unreadable where its files are not whole, or not those that were measured. KvstudyError
    for a cell of other parameters than the study has now, or of another origin.
    """
    with reading(raw, MANIFEST):
        check_sums(raw)
        manifest = json.loads((raw / MANIFEST).read_text(encoding="utf-8"))
        changes = _changes(manifest["cell"], cell.as_json())
    if changes:
        raise KvstudyError(
            f"{raw}: measured with other parameters than the study has now: {changes}. Put the "
            "study or workload file back, or remove that folder to measure the cell again"
        )
    check_origin(study, manifest, raw)
    with reading(raw, "its files"):
        # What is compared between cells, and told of open-loop cells, must be there.
        differences({cell.path: manifest})
        if cell.load is not None:
            Target.from_json(manifest["target"])
        return manifest, rows_of(study, cell, raw, manifest)


def _changes(measured: dict, planned: dict) -> str:
    flat = [
        {key: value for key, value in side.items() if key != "properties"} | side["properties"]
        for side in (measured, planned)
    ]
    return ", ".join(
        f"{key} was {flat[0].get(key)}, is now {flat[1].get(key)}"
        for key in sorted(flat[0].keys() | flat[1].keys())
        if flat[0].get(key) != flat[1].get(key)
    )
