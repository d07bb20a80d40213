"""A project with a pretended store and client, and its commands run in the test's process."""

from __future__ import annotations

import itertools
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from click.testing import CliRunner, Result
from kvstudy.cli import cli

ROOT = Path(__file__).resolve().parents[1]
PRETEND = ROOT / "tests" / "pretend"
STUDY = Path("config/studies/small/study.yaml")
SLUG = "r1000_o2000_t2"
CELL = f"pretend/a/{SLUG}/rep1"


def copy_project(folder: Path, *left_out: str) -> None:
    """Copy the project without results, reports and what the patterns ``left_out`` name."""
    ignore = shutil.ignore_patterns("*.pdf", "*.html", *left_out)
    for name in ("config", "envs/stores", "workloads", "workflow", "profiles", "report"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    shutil.copy(ROOT / "Snakefile", folder)


def add_pretended(folder: Path) -> None:
    """Add the stores ``pretend`` and ``unbound`` and the study ``small`` to a project's folder."""
    for store, source in (("pretend", "store"), ("unbound", "unbound")):
        shutil.copytree(PRETEND / source, folder / "envs" / "stores" / store)
    library = folder / "workflow" / "bindings" / "target" / "lib"
    library.mkdir(parents=True)
    with zipfile.ZipFile(library / "kvstudy-bindings.jar", "w") as jar:
        jar.writestr(zipfile.ZipInfo("kvstudy/workload/SynchronizedWorkload.class"), b"")
    (folder / STUDY).parent.mkdir()
    shutil.copy(PRETEND / "study.yaml", folder / STUDY)


def edit(path: Path, change: Callable[[dict], object] = dict, **keys: object) -> Path:
    """Give the YAML file the ``keys`` and ``change`` what it holds; returns its path."""
    data = yaml.safe_load(path.read_text(encoding="utf-8")) | keys
    change(data)
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def wait_for(
    look: Callable[[], Any], what: str | Callable[[], object] = "", seconds: float = 120
) -> Any:
    """The first thing that ``look`` returns; ``what`` shows why nothing came."""
    limit = time.monotonic() + seconds
    while not (thing := look()):
        assert time.monotonic() < limit, what() if callable(what) else what
        time.sleep(0.05)
    return thing


def kvstudy(*arguments: object, answers: str = "") -> Result:
    """Run the command; an error that it would show its user is raised."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=answers)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def measure(cell: str = CELL, *options: object, study: Path = STUDY) -> str:
    """Measure one cell; returns what the command prints."""
    return kvstudy("measure", cell, *with_defaults(options, study)).output


def with_defaults(options: tuple[object, ...], study: Path) -> list[object]:
    """``options`` of a measurement, with the study and a provider where they name none."""
    defaults = {"--study": study, "--provider": "native"}
    added = [(name, value) for name, value in defaults.items() if name not in options]
    return [*itertools.chain.from_iterable(added), *options]


def parse(study: Path = STUDY) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Parse all cells; returns cells.csv, indexed by store/workload/repN, and measurements.csv."""
    kvstudy("parse", study.parent.name)
    results = Path("results") / study.parent.name
    cells = pd.read_csv(results / "cells.csv", keep_default_na=False)
    cells.index = cells.store + "/" + cells.workload + "/rep" + cells.repetition.astype(str)
    return cells, pd.read_csv(results / "measurements.csv")
