"""Read a YAML file as a model and say precisely what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kvstudy.errors import KvstudyError
from kvstudy.language.texts import catalogue_beside
from kvstudy.study.naming import did_you_mean

M = TypeVar("M", bound=BaseModel)


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
        with catalogue_beside(path):
            return model.model_validate(data)
    except ValidationError as error:
        lines = [describe(path, problem, model) for problem in error.errors()]
        raise KvstudyError("\n".join(lines)) from None


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
