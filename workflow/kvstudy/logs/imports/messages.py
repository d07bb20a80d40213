"""YCSB's output within JSON: of loggers, log stores, Ansible and notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import chain

from kvstudy.errors import DataError

# A value of a JSON document that is no list and no object, by its keys.
Entry = dict[str, str]
_ANSIBLE = re.compile(r"^\w+: \[[^\]]+\](?:: \w+!)? => (?=\{)", re.MULTILINE)
_RESULT = re.compile(r"\bOVERALL\W+(?:measurement\W+)?RunTime")
# What differs between lines of one program.
_OF_LINES = frozenset({"stream", "level", "severity", "PRIORITY"})


def without_json(text: str, is_wanted: Callable[[str], object]) -> str:
    """Return what programs printed, if ``text`` is JSON that holds it, else ``text``.

    A JSON object a line, one document, or Ansible's results; of a notebook its code cells with
    their outputs. ``is_wanted`` knows YCSB's own lines. DataError when they are from several
    sources.
    """
    documents = _documents(text)
    if len(documents) == 1 and isinstance(documents[0], dict) and "nbformat" in documents[0]:
        return _of_notebook(documents[0])
    outputs: dict[tuple[str, ...], str] = {}
    for entries in chain.from_iterable(_lists(each, is_wanted) for each in documents):
        output = _output(entries, is_wanted)
        # stdout_lines has the lines of stdout once more.
        outputs.setdefault(tuple(filter(None, map(str.strip, output.split("\n")))), output)
    if not outputs:
        return text
    # A standard error has the call, and is above the results.
    ordered = sorted(outputs.values(), key=lambda output: bool(_RESULT.search(output)))
    if len([output for output in ordered if _RESULT.search(output)]) > 1:
        raise DataError(
            f"holds the outputs of {len(ordered)} programs in JSON; save each in a file of its own"
        )
    return "".join(ordered)


def _documents(text: str) -> list[object]:
    """Return the values that ``text`` consists of, lines of objects as a list; [] for no JSON."""
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        if lines and len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
            return [[json.loads(line) for line in lines]]
        if blocks := list(_ANSIBLE.finditer(text)):
            return [json.JSONDecoder().raw_decode(text, block.end())[0] for block in blocks]
        return [json.loads(text)] if text.lstrip()[:1] in ("{", "[") else []
    except (ValueError, RecursionError):
        return []


def _of_notebook(document: dict) -> str:
    """Return the code of each cell of a Jupyter notebook, and below it what it printed."""
    parts: list[object] = []
    for cell in document.get("cells", []):
        if cell.get("cell_type") == "code":
            parts.append(cell.get("source", ""))
            parts += [output.get("text", "") for output in cell.get("outputs", [])]
    return "".join(f"{''.join(part).rstrip(chr(10))}\n" for part in parts)


def _lists(value: object, is_wanted: Callable[[str], object]) -> list[list[Entry]]:
    """Return the lists in ``value`` whose entries have lines of YCSB; a text alone is one too."""
    if isinstance(value, list):
        entries = [_entry(each) for each in value]
        if any(_has_line(text, is_wanted) for entry in entries for text in entry.values()):
            return [entries]
        inner, result = value, []
    elif isinstance(value, dict):
        texts = [each for each in value.values() if isinstance(each, str)]
        result = [[{"": each}] for each in texts if _has_line(each, is_wanted)]
        inner = [each for each in value.values() if not isinstance(each, str)]
    else:
        return []
    return result + [entries for each in inner for entries in _lists(each, is_wanted)]


def _entry(value: object) -> Entry:
    """Return the texts and numbers in ``value``, but those of lists within it."""
    if not isinstance(value, (dict, list)):
        return {"": str(value)}
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    entry = {}
    for key, each in pairs:
        if isinstance(each, dict):
            entry |= {f"{key}.{name}": text for name, text in _entry(each).items()}
        elif not isinstance(each, list):
            entry[f"{key}"] = str(each)
    return entry


def _has_line(text: str, is_wanted: Callable[[str], object]) -> bool:
    return any(is_wanted(line) for line in text.splitlines())


def _output(entries: list[Entry], is_wanted: Callable[[str], object]) -> str:
    """Return the lines of the entries, which have them under one key, or outputs under several."""
    keys = [key for entry in entries for key in entry if _has_line(entry[key], is_wanted)]
    message = max(set(keys), key=keys.count)
    matching = [entry for entry in entries if _has_line(entry.get(message, ""), is_wanted)]
    has_outputs = any("\n" in entry[message].strip() for entry in matching)
    for key in sorted(set().union(*matching) - {*keys, *_OF_LINES}):
        values = {entry.get(key, "") for entry in matching}
        few = len(values) <= len(matching) / 2 or has_outputs
        # Times and numbers of lines differ everywhere.
        if few and len(values) > 1 and not all(re.match(r"\d", value) for value in values):
            raise DataError(
                f"holds lines of {len(values)} sources ({key}: {', '.join(sorted(values)[:3])}); "
                "save the lines of each in a file of its own"
            )
    if has_outputs:
        texts = [
            entry[key]
            for entry in matching
            for key in sorted(set(keys), key=lambda key: bool(_RESULT.search(entry.get(key, ""))))
            if key in entry
        ]
        texts = list(dict.fromkeys(texts))
    else:
        texts = [entry.get(message, "") for entry in entries]
    plain = (re.sub(r"\r+\n?", "\n", text).rstrip("\n") for text in texts)
    return "".join(f"{text}\n" for text in plain)
