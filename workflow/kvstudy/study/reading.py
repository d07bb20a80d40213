"""YAML and CSV files that people write: read strictly, with the line of what is wrong."""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from kvstudy.errors import EnvironmentFault, InputError
from kvstudy.language.locale import catalogue_beside
from kvstudy.study.naming import UNPRINTABLE, check_printable, did_you_mean, problems

M = TypeVar("M", bound=BaseModel)
# Our files have five levels and some thousand values. Aliases of aliases make millions of few.
MOST_LEVELS, MOST_VALUES = 40, 100_000
_TOO_DEEP = f"its values are nested more than {MOST_LEVELS} levels deep; write them flat"


class _Loader(yaml.CSafeLoader):
    """YAML's own loader, which says of a value that is none where it stands."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError):
            # A date like 2024-13-41, !!int x and others end in whatever Python raises.
            problem = f"'{node.value}' is no {node.tag.rpartition(':')[2]}; put it into quotes"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None


def read_text(path: Path, remedy: str = "") -> str:
    """The text of ``path``; KvstudyError, which ``remedy`` ends where there is no such file.

    Some editors and spreadsheets save with a mark at the start, which is left out.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{remedy}") from None
    except OSError as error:
        raise EnvironmentFault(
            f"{path}: cannot be read: {error.strerror}; mend that, and run it again"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: {error}; save it as UTF-8") from None


def read_yaml(path: Path, model: type[M]) -> M:
    """The file ``path`` as a ``model``; KvstudyError names file, key and line of each problem."""
    data, node = load_yaml(path)
    try:
        with catalogue_beside(path):
            return model.model_validate(data)
    except ValidationError as error:
        lines = [
            f"{path}: {text} (line {_line(node, place)})"
            for place, text in problems(error, data, model).items()
        ]
        raise InputError("\n".join(lines)) from None


def load_yaml(path: Path) -> tuple[dict, yaml.MappingNode]:
    """The keys and values in the file ``path``, and where they stand.

    KvstudyError for what is no YAML, for a key that appears twice (YAML would take the
    last one) and for more values or levels than any of our files has.
    """
    others = sorted(file.parent.name for file in path.parent.parent.glob(f"*/{path.name}"))
    text = read_text(path, did_you_mean(path.parent.name, others) if others else "")
    try:
        _check_depth(path, text)
        loader = _Loader(text)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            raise InputError(f"{path}: must hold keys and values, like 'title: ...'")
        _check(path, node, {})
        return loader.construct_document(node), node
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = ", ".join(part for part in (error.context, error.problem) if part)
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise InputError(f"{path}: not valid YAML: {what}{place}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise InputError(f"{path}: {_TOO_DEEP}") from None


def _check_depth(path: Path, text: str) -> None:
    """The loader in C calls itself for each level, and ten thousands of them end the process."""
    level = 0
    for event in yaml.parse(text, _Loader):
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > MOST_LEVELS:
            raise InputError(f"{path}: {_TOO_DEEP} (line {event.start_mark.line + 1})")


def _check(path: Path, node: yaml.Node, sizes: dict[yaml.Node, int | None]) -> int:
    """Count the values of the node, including each use of an alias; InputError for errors."""
    if node in sizes and sizes[node] is not None:
        return sizes[node]
    problem, parts = "", []
    if node in sizes:
        # An alias is within what it stands for.
        problem = _TOO_DEEP
    elif isinstance(node, yaml.ScalarNode):
        if match := UNPRINTABLE.search(node.value):
            problem = f"has the control character {match[0]!r}; remove it"
    elif isinstance(node, yaml.MappingNode):
        _check_keys(path, node)
        parts = itertools.chain.from_iterable(node.value)
    else:
        parts = node.value
    sizes[node] = None
    size = 1 + sum(_check(path, part, sizes) for part in parts)
    if size > MOST_VALUES:
        problem = f"has more than {MOST_VALUES} values, with those of its aliases (*); write fewer"
    if problem:
        raise InputError(f"{path}: {problem} (line {node.start_mark.line + 1})")
    sizes[node] = size
    return size


def _check_keys(path: Path, node: yaml.MappingNode) -> None:
    lines: dict[str, int] = {}
    for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
        line = key.start_mark.line + 1
        if key.value in lines:
            raise InputError(
                f"{path}: the key '{key.value}' appears twice, in lines {lines[key.value]} "
                f"and {line}; keep one of them"
            )
        lines[key.value] = line


def _line(node: yaml.Node, place: tuple[str | int, ...]) -> int:
    """The line of the key or item at ``place``, or of what it is missing in."""
    at = node
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == str(part)]
            if not pairs:
                break
            at, node = pairs[0]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            at = node = node.value[part]
        else:
            break
    return at.start_mark.line + 1


def line_of(path: Path, key: str) -> int:
    """Return the line of a ``key`` like workloads[0].title in the file, or of what it is part of.

    Names of keys may have dots themselves.
    """
    _, node = load_yaml(path)
    line = 1
    while key:
        if index := re.match(r"\[(\d+)\]\.?", key):
            parts = [(index[0], each, each) for each in getattr(node, "value", [])]
            parts = parts[int(index[1]) :][:1]
        else:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            parts = [(name.value, name, value) for name, value in pairs]
            parts = [part for part in parts if re.match(rf"{re.escape(part[0])}(?=[.[]|$)", key)]
        if not parts:
            break
        name, at, node = parts[0]
        line = at.start_mark.line + 1
        key = key.removeprefix(name).removeprefix(".")
    return line


def read_lines(
    path: Path, columns: Sequence[str], optional: Sequence[str], remedy: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of ``path`` that is not empty, with the number of its last line.

    A row has all of ``columns`` and ``optional``; a column that the file leaves out is "". Some
    spreadsheets save with semicolons. KvstudyError for what is no such table; ``remedy`` ends
    its message.
    """
    text = read_text(path, f"; {remedy}")
    check_printable(path, text)
    head = text.partition("\n")[0]
    separator = ";" if head.count(";") > head.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        # A spreadsheet saves a column that was touched, too.
        while head and not head[-1]:
            head.pop()
        _check_head(path, head, columns, [*columns, *optional], remedy)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) < len(head) or any(cell.strip() for cell in cells[len(head) :]):
                raise InputError(
                    f"{path}: line {reader.line_num}: has {len(cells)} values for {len(head)} "
                    f"columns; put a value with a '{separator}' into quotation marks"
                )
            row = {name: cell.strip() for name, cell in zip(head, cells, strict=False)}
            yield reader.line_num, dict.fromkeys(optional, "") | row
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: no CSV: {error}; {remedy}") from None


def _check_head(
    path: Path, head: list[str], columns: Sequence[str], known: list[str], remedy: str
) -> None:
    if missing := [name for name in columns if name not in head]:
        what = f"no column {', '.join(missing)}" if any(head) else "no CSV: its first line is empty"
        raise InputError(f"{path}: {what}; {remedy}")
    for name in head:
        if name not in known:
            raise InputError(f"{path}: line 1: unknown column '{name}'{did_you_mean(name, known)}")
        if head.count(name) > 1:
            raise InputError(f"{path}: line 1: column '{name}' appears twice; remove one")
