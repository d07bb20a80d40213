"""A finished run of the study ``small``, written by hand, for the tests of archives."""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from kvstudy.analyse.tidy.files import CELLS
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import write_sums

from tests.project import ROOT, STUDY

RUN = Path("results/small")
BEGIN = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.UTC)
CODE = ("Snakefile", "LICENSE", "CITATION.cff", "Makefile", "pyproject.toml")


def cells() -> list[Cell]:
    """Those that are measured; the store unbound has no server."""
    return [cell for cell in planned() if cell.store == "pretend"]


def planned() -> list[Cell]:
    return plan(load_study(STUDY))


def write_run() -> None:
    """The run in the working directory, whose study, stores and workloads are there."""
    for cell in cells():
        write_cell(cell)
    environment = {
        "mixed": [],
        "stores": {"pretend": {"version": "1.2.3"}},
        "components": [{"component": "CPU", "name": "Fast", "details": "2 cores"}],
    }
    files = {
        "results/small/gaps/unbound.json": json.dumps({"reason": "no server"}),
        "results/small/cells.csv": cell_rows(),
        "results/small/summary.csv": "store,mean\npretend,12.5\n",
        "results/small/environment.json": json.dumps(environment),
        "results/small/tables/a.tex": "1 & 2",
        "results/small/measuring/half/run.out": "half",
        "report/small.pdf": "%PDF small",
        "report/small-analysis.html": "<p>small",
        "report/small-partial.pdf": "%PDF of another run",
        "report/text/report.md.j2": "text",
        "figures/small/speed.csv": "1,2",
        "workflow/Snakefile": "rule all: input: []",
        "workflow/__pycache__/x.pyc": "compiled",
        "envs/setup": "#!/bin/sh\n",
    }
    for name, text in files.items():
        put(Path(name), text)
    Path("envs/setup").chmod(0o755)
    for name in CODE:
        shutil.copy(ROOT / name, name)


def cell_rows() -> str:
    """The file cells.csv: each measured cell took half a minute."""
    rows = [
        dict.fromkeys(CELLS.columns, "")
        | {name: getattr(cell, name) for name in ("store", "workload", "parameters", "repetition")}
        | {"status": "measured", "wall_seconds": 30}
        for cell in cells()
    ]
    return ",".join(CELLS.columns) + "\n" + CELLS.lines(rows)


def write_cell(cell: Cell, minutes: float = 0, **changes: object) -> None:
    """A cell that takes ten seconds, started one minute after the one before it in the plan.

    Or so many ``minutes`` later; with ``changes`` of its manifest.
    """
    folder = RUN / "raw" / cell.path
    position = planned().index(cell) + 1
    start = BEGIN + datetime.timedelta(minutes=position + minutes)
    manifest = {
        "run": "small",
        "cell": cell.as_json(),
        "position": position,
        "started": start.isoformat(timespec="seconds"),
        "protocol": 1,
        "phases": {"load": {"started": start.timestamp(), "seconds": 10}},
        "server": {"command": ["x", "--dir", "/home/jana/kv/results/small/measuring/x"]},
    } | changes
    put(folder / "manifest.json", json.dumps(manifest))
    put(folder / "load.out", f"log of {cell.path}")
    write_sums(folder)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


Files = dict[str, bytes]


def repacked(archive: Path, change: Callable[[Files], object], name: str = "changed.zip") -> Path:
    """A copy of the archive whose files, by name, ``change`` has edited in place."""
    with zipfile.ZipFile(archive) as file:
        files = {entry.filename: file.read(entry) for entry in file.infolist()}
    change(files)
    copy = archive.with_name(name)
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as file:
        for each, content in files.items():
            file.writestr(each, content)
    return copy


def sums_of(files: Files, folder: str = "") -> bytes:
    """A list of checksums as it would be of these files."""
    return "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name.removeprefix(folder)}\n"
        for name, content in sorted(files.items())
        if name.startswith(folder) and name[-1] != "/" and name != f"{folder}SHA256SUMS"
    ).encode()


def as_new(change: Callable[[Files], object]) -> Callable[[Files], None]:
    """The change, and all checksums of the archive made again after it."""

    def both(files: Files) -> None:
        change(files)
        data = json.loads(files["ro-crate-metadata.json"])
        for entity in data["@graph"]:
            if "sha256" in entity and entity["@id"] in files:
                entity["sha256"] = hashlib.sha256(files[entity["@id"]]).hexdigest()
        files["ro-crate-metadata.json"] = json.dumps(data).encode()
        files["SHA256SUMS"] = sums_of(files)

    return both
