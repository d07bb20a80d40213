"""Read a study file and say precisely what is wrong with it."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kvstudy.errors import KvstudyError
from kvstudy.study.controls import controls, measured_uses
from kvstudy.study.model import (
    MEAN,
    Bars,
    ComparisonTable,
    ResultsTable,
    Study,
    Transcript,
    WorkloadFigure,
    WorkloadUse,
)
from kvstudy.study.workload import check_numbers, check_property, load_only, load_workload

M = TypeVar("M", bound=BaseModel)

STUDIES = Path("config/studies")
STORES = Path("envs/stores")
WORKLOADS = Path("workloads")


def read_yaml(path: Path, model: type[M]) -> M:
    """The file ``path`` as a ``model``; KvstudyError names file and key of each problem."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise KvstudyError(f"{path}: no such file{_sibling_hint(path)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise KvstudyError(f"{path}: not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise KvstudyError(f"{path}: must hold keys and values, like 'title: ...'")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        lines = [describe(path, problem, model) for problem in error.errors()]
        raise KvstudyError("\n".join(lines)) from None


def load_study(path: Path) -> Study:
    """The study in the file ``path``, checked against the stores and workloads there are."""
    study = read_yaml(path, Study)
    if study.name != path.parent.name:
        raise KvstudyError(
            f"{path}: name: is '{study.name}', but the folder is '{path.parent.name}'; "
            "give both the same name"
        )
    stores = sorted(folder.parent.name for folder in STORES.glob("*/store.yaml"))
    for index, use in enumerate(study.stores):
        _known(path, f"stores[{index}]", "store", use.store, stores)
    workloads = sorted(file.name for file in WORKLOADS.iterdir() if file.is_file())
    for index, use in enumerate(study.workloads):
        _known(path, f"workloads[{index}]", "workload", use.file, workloads)
        load_workload(WORKLOADS / use.file)
        if use.name != use.file and use.name in workloads:
            raise KvstudyError(
                f"{path}: workloads[{index}]: '{use.name}' is the name of another file than "
                f"'{use.file}'; give another name"
            )
        for name in use.properties:
            check_property(f"{path}: workloads[{index}].properties", name)
        check_numbers(f"{path}: workloads[{index}].properties", use.property_texts)
    for name in study.parameters.properties:
        check_property(f"{path}: parameters.properties", name)
    check_numbers(f"{path}: parameters.properties", study.parameters.property_texts)
    _check_single(path, study)
    if isinstance(study.noise_floor, str):
        _known(path, "noise_floor", "store", study.noise_floor, study.store_names)
    _unique(
        *(path, "stores", [use.name for use in measured_uses(study)]),
        remedy=", or give one another name: {{store: {}, name: ...}}",
        added={use.name for use in controls(study)},
        by="a control (noise_floor, client_ceiling, second_client)",
    )
    _unique(path, "workloads", study.workload_names)
    if MEAN in study.workload_names:
        raise KvstudyError(
            f"{path}: workloads: '{MEAN}' is the name of the mean of all workloads; "
            "give the workload's file another name"
        )
    study = _with_open_loop(path, study)
    for key, each in (
        ("tables", [*study.tables, *study.open_loop_tables]),
        ("figures", [*study.figures, *study.open_loop_figures]),
    ):
        _unique(
            *(path, key, [one.name for one in each]),
            added=study.automatic_names[key],
            by=f"one of the {key} that the report has by itself",
        )
    used = study.workload_names
    for index, table in enumerate(study.tables):
        key = f"tables[{index}]"
        if isinstance(table, ResultsTable):
            _known(path, f"{key}.workload", "workload", table.workload, used)
        if isinstance(table, ComparisonTable):
            for role, name in (("baseline", table.baseline), ("store", table.store)):
                _known(path, f"{key}.{role}", "store", name, study.store_names)
    for index, figure in enumerate(study.figures):
        key = f"figures[{index}]"
        names = figure.workloads if isinstance(figure, Bars) else []
        if isinstance(figure, Transcript | WorkloadFigure):
            names = [figure.workload]
        for name in names:
            if name != MEAN or figure.kind != "bars" or figure.metrics != ["throughput"]:
                _known(path, f"{key}.workload", "workload", name, used)
        if isinstance(figure, Transcript):
            _known(path, f"{key}.store", "store", figure.store, study.store_names)
    for index, expected in enumerate(study.expected_failures):
        _known(
            path, f"expected_failures[{index}].store", "store", expected.store, study.store_names
        )
    return study


def _with_open_loop(path: Path, study: Study) -> Study:
    """The study with the workloads of its open loop named; KvstudyError for a wrong one."""
    if study.open_loop is None:
        return study
    if study.imported:
        raise KvstudyError(
            f"{path}: open_loop: the study's logs were imported, nothing is measured at rates; "
            "remove the key"
        )
    used = study.workload_names
    named = study.open_loop.workloads
    properties = {use.name: properties_of(study, use) for use in study.workloads}
    runs = [name for name in used if not load_only(properties[name])]
    for index, name in enumerate(named):
        key = f"open_loop.workloads[{index}]"
        _known(path, key, "workload", name, used)
        if name not in runs:
            raise KvstudyError(
                f"{path}: {key}: '{name}' has a load phase only, which has no rate; leave it out"
            )
    _unique(path, "open_loop.workloads", named)
    if not runs:
        raise KvstudyError(
            f"{path}: open_loop: no workload of the study has a run phase; remove the key"
        )
    for name in named or runs:
        if "target" in properties[name]:
            raise KvstudyError(
                f"{path}: open_loop: the property 'target' gives workload '{name}' a rate "
                "already, so no cell tells the store's maximum; remove one of the two"
            )
    chosen = study.open_loop.model_copy(update={"workloads": named or runs})
    return study.model_copy(update={"open_loop": chosen})


def _check_single(path: Path, study: Study) -> None:
    """Tables and figures have one value for each store and workload."""
    for name in ("records", "operations", "threads"):
        values = getattr(study.parameters, name)
        if isinstance(values, list) and len(values) != 1:
            first = study.workloads[0].file
            raise KvstudyError(
                f"{path}: parameters.{name}: is a list, which no report can show; give one number, "
                f"and for each other one a workload with it under a name of its own: "
                f"{{name: {first}-2, file: {first}, {name}: ...}}"
            )


def properties_of(study: Study, use: WorkloadUse) -> dict[str, str]:
    """All YCSB properties of a workload of the study.

    Those of its file, over them the study's for all cells, and over those its own.
    """
    in_file = load_workload(WORKLOADS / use.file)
    return in_file | study.parameters.property_texts | use.property_texts


def study_path(name: str) -> Path:
    """The file of the study called ``name``; KvstudyError when there is none."""
    names = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
    _known(Path("config/config.yaml"), "study", "study", name, names)
    return STUDIES / name / "study.yaml"


def did_you_mean(word: str, known: list[str]) -> str:
    """``; did you mean 'x'?``, or the known words when none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are: {', '.join(known)}"


def _known(path: Path, key: str, kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise KvstudyError(f"{path}: {key}: unknown {kind} '{name}'{did_you_mean(name, known)}")


def _unique(
    path: Path,
    key: str,
    names: list[str],
    remedy: str = "",
    added: Collection[str] = (),
    by: str = "",
) -> None:
    """KvstudyError for a name that stands there twice, or is one of those ``added`` (``by``)."""
    for name in names:
        if names.count(name) > 1 and name in added:
            raise KvstudyError(
                f"{path}: {key}: '{name}' is the name of {by}; give yours another name"
            )
        if names.count(name) > 1:
            raise KvstudyError(
                f"{path}: {key}: '{name}' stands there twice; name each once{remedy.format(name)}"
            )


def describe(path: Path, problem, model: type[BaseModel]) -> str:
    location = ""
    for part in problem["loc"]:
        location += f"[{part}]" if isinstance(part, int) else f".{part}" if location else part
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        known = list(model.model_fields) if len(problem["loc"]) == 1 else []
        hint = did_you_mean(str(problem["loc"][-1]), known) if known else "; see the schema"
        return f"{path}: {location}: unknown key{hint}"
    if problem["type"] == "missing":
        return f"{path}: {location}: is missing; add it"
    return f"{path}: {location}: {message}, but is {problem['input']!r}"


def _sibling_hint(path: Path) -> str:
    others = sorted(file.parent.name for file in path.parent.parent.glob(f"*/{path.name}"))
    return did_you_mean(path.parent.name, others) if others else ""
