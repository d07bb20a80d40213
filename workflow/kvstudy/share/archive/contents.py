"""The contents of an archive: the files of a run, and the project's files for its report.

An archive is a project of its own: unpacked, it holds the study, the stores, the workloads, the
workflow and the results in the same folders, with a configuration that builds this one report
and measures nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from kvstudy import __version__
from kvstudy.analyse.tidy.files import read_environment
from kvstudy.analyse.tidy.reviews import FOLDER as REVIEWS
from kvstudy.errors import InputError
from kvstudy.language.current import languages, suffix
from kvstudy.language.reasons import sentence
from kvstudy.study.cells import Cell, left_out, plan
from kvstudy.study.controls import measured_uses
from kvstudy.study.load import STORES, load_study
from kvstudy.study.model import Study
from kvstudy.study.raw import (
    GAP,
    IMPORTS,
    as_measured,
    is_gap,
    is_measured,
    reason_on_file,
    recorded_reason,
)
from kvstudy.study.run_names import REPORT, RESULTS, RunName
from kvstudy.study.workload import WORKLOADS

# About the archive itself; the name of the file shows that a zip is one.
FACTS = "archive.json"
METADATA = "ro-crate-metadata.json"
README = "README.md"
FORMAT = 1
CONFIG = "config/config.yaml"
CHUNK = 1 << 20

# Told of bytes as they are read.
Progress = Callable[[int], None]

# What measuring left, below the results of a run; all else there is made from it, but the logs.
MEASURED = ("raw", "probes", "gaps", "failed", "replaced", IMPORTS)
GIVEN = (*MEASURED, "logs", REVIEWS)
# Work that is not finished, what LaTeX leaves, what is compiled, what tools hide, and the decisions
# to go on, which stand in analysis/looks.csv.
LEFT_OUT = re.compile(
    r"results/[^/]+/(measuring|build|looks|([a-z]+/)?report/build)/"
    r"|workflow/bindings/target/"
    r"|(.*/)?(__pycache__/|\.)"
)

CODE = ("Snakefile", "workflow", "profiles", "report")
PROJECT = (
    *(*CODE, "Makefile", "pyproject.toml", "LICENSE", "CITATION.cff", "config/README.md"),
    *("envs/setup", "envs/clean", "envs/python", "envs/system"),
)
BUILT = {".pdf", ".html", ".docx", ".xlsx"}
# Files that hold numbers, as data or as tables for LaTeX.
NUMBERS = {".csv", ".json", ".tex"}


@dataclass(frozen=True)
class Contents:
    """The names of files, here as in the archive; ``generated`` are those that lie nowhere yet.

    ``missing`` are the planned cells of a partial run that are not there, with no reason on file.
    """

    run: RunName
    study: Study
    files: list[str]
    generated: dict[str, bytes]
    missing: tuple[str, ...]


def contents_of(run: RunName, lean: bool = False) -> Contents:
    """The contents of the run's archive; InputError for a run that is not finished.

    A ``lean`` one has no report, drawings, notebook and workbook: what is measured, and numbers.
    """
    study = as_measured(load_study(run.study_file), run.base)
    cells = [] if run.published_only else plan(study, run.scale)
    missing = [path for path, reason in unmeasured(run, study, cells).items() if not reason]
    if missing and not run.partial:
        raise InputError(
            f"{RESULTS / run.base}: {len(missing)} of {len(cells)} planned cells are not there "
            f"({missing[0]}, ...): measure them, or pack the report of those that are there: "
            f"'make partial', then 'kvstudy archive {run.base}-partial'"
        )
    files = _files(run, study)
    tables = [] if run.published_only else ["cells.csv", "summary.csv"]
    for needed in (f"report/{run.name}.pdf", *(f"results/{run.name}/{name}" for name in tables)):
        if needed not in files:
            raise InputError(
                f"{needed}: is missing; build the report before you pack it: {remedy(run)}"
            )
    if lean:
        files = [name for name in files if is_input(run, name) or Path(name).suffix in NUMBERS]
    facts = {
        "format": FORMAT,
        "kvstudy": __version__,
        "run": run.name,
        "study": run.study,
        "scale": run.scale,
        "source": run.source,
        "language": run.language,
        "partial": run.partial,
        "missing": missing,
    }
    generated = {
        FACTS: (json.dumps(facts, indent=1) + "\n").encode(),
        CONFIG: configuration(run).encode(),
    }
    return Contents(run, study, files, generated, tuple(missing))


def is_input(run: RunName, name: str) -> bool:
    """Return whether a file of the archive is an input of the workflow."""
    results = f"{RESULTS / run.base}/"
    if name.startswith(results):
        return name.removeprefix(results).split("/")[0] in GIVEN
    built = name.startswith(f"{REPORT}/{run.name}") and name.count("/") == 1
    return not built and not name.startswith(("results/", "figures/"))


def unmeasured(run: RunName, study: Study, cells: list[Cell]) -> dict[str, str]:
    """The planned cells without logs by their paths, with the reason that is on file, or ""."""
    results = RESULTS / run.base
    measured = {cell for cell in cells if is_measured(run.base, cell)}
    lacking = [cell for cell in cells if cell not in measured]
    no_server = {cell for cell in lacking if (results / "gaps" / f"{cell.store}.json").is_file()}
    controls = left_out(study, cells, measured, no_server)

    def reason(cell: Cell) -> str:
        if on_file := reason_on_file(run.base, cell.path, cell.store):
            status, why = on_file
            return f"failed: {sentence(why)}" if status == "failed" else sentence(why)
        if study.imported:
            return "there is no log of it among those that were imported"
        return "a control; the run was finished without controls" if cell in controls else ""

    return {cell.path: reason(cell) for cell in lacking} | {
        cell.path: sentence(recorded_reason(results / "raw" / cell.path / GAP))
        for cell in cells
        if cell in measured and is_gap(run.base, cell)
    }


def remedy(run: RunName) -> str:
    """The command that builds what a run lacks."""
    config = [f"study={run.study}"]
    config += [f"scale={run.scale:g}"] if run.scale != 1 else []
    config += ["source=published"] if run.published_only else []
    # Whatever the configuration here says.
    config += [f"language={run.language}"]
    target = "report_partial " if run.partial else ""
    return f"snakemake {target}--cores 4 --config {' '.join(config)}"


def configuration(run: RunName, top: Path = Path()) -> str:
    """The configuration that builds the report of the run below ``top``, and nothing else."""
    values = {"study": run.study, "scale": run.scale, "source": run.source, "measure": False}
    values |= {"language": run.language, "mixed": bool(environment_of(run, top)["mixed"])}
    head = "# Builds the report of this archive from its raw logs; nothing is measured.\n"
    return head + yaml.safe_dump(values, sort_keys=False)


def environment_of(run: RunName, top: Path = Path()) -> dict:
    """``environment.json`` of the run below ``top``; of published values there is none."""
    if run.published_only:
        return {"mixed": [], "stores": {}, "components": []}
    path = top / RESULTS / run.name / "environment.json"
    return read_environment(path, ("mixed", "components"))


def _files(run: RunName, study: Study) -> list[str]:
    tops = [
        *map(Path, PROJECT),
        run.study_file.parent,
        *(STORES / use.store for use in measured_uses(study)),
        *(WORKLOADS / use.file for use in study.workloads),
        *(RESULTS / run.base / name for name in GIVEN),
        RESULTS / run.name,
        Path("figures", run.name),
    ]
    # Of built reports only those of this run; the names of others may begin alike.
    parts = "|".join(["-analysis", *map(suffix, languages())])
    pattern = re.compile(rf"{re.escape(run.name)}({parts})\..+")
    return sorted(
        {
            path.as_posix()
            for top in tops
            for path in files_below(top)
            if not LEFT_OUT.match(path.as_posix())
            and (path.parent != REPORT or path.suffix not in BUILT or pattern.fullmatch(path.name))
        }
    )


def files_below(top: Path) -> Iterable[Path]:
    """The file ``top`` or all files below it; what is not there is no file."""
    return filter(Path.is_file, [top] if top.is_file() else top.rglob("*"))
