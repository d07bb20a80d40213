"""Names and values that a file may give, and what to say of others, in words for people.

pydantic names its own types in the place and the text of an error (``constrained-int``); they
say nothing to who wrote the file, so every kind of error has a sentence here.
"""

import difflib
import re
import reprlib
from pathlib import Path

from pydantic import BaseModel, ValidationError

from kvstudy.errors import InputError

# Characters that no text has: PDF, HTML and Word cannot show them, some end a line or a file.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
Place = tuple[str | int, ...]
# What a value must be, by the kind of error.
_NUMBER, _WHOLE = "a number", "a whole number"
_LIST, _KEYS = "a list, like [a, b]", "keys and values"
_MUST = {
    **dict.fromkeys(["int_type", "int_parsing", "int_parsing_size", "int_from_float"], _WHOLE),
    **dict.fromkeys(["float_type", "float_parsing"], _NUMBER),
    "finite_number": "a finite number",
    "invalid_key": "a key in letters",
    **dict.fromkeys(["bool_type", "bool_parsing"], "true or false"),
    "string_type": "text, in quotation marks if it looks like a number",
    "list_type": _LIST,
    **dict.fromkeys(["dict_type", "model_type", "model_attributes_type"], _KEYS),
    "greater_than": "greater than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "too_short": "a list of {min_length} or more",
    "too_long": "a list of {max_length} at most",
    "string_too_short": "text of {min_length} characters or more",
    "string_too_long": "text of {max_length} characters at most",
    "string_pattern_mismatch": "text of the form {pattern}",
}
# The most frequent pattern, in words.
NAME = r"^[a-z][a-z0-9-]*$"
_NAME = "a name of small letters, digits and hyphens"
# A value of another type altogether, next to which another branch of a union may fit.
_OTHER_TYPE = {name for name in _MUST if name.endswith("_type")}
_QUOTED = re.compile("'([^']*)'")
_ECHO = reprlib.Repr()
_ECHO.maxstring = _ECHO.maxother = 80
_ECHO.maxlevel = 3


def check_printable(path: Path, text: str) -> None:
    """Raise InputError for a control character in the ``text`` of the file ``path``."""
    if match := UNPRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise InputError(f"{path}: line {line}: has the control character {match[0]!r}; remove it")


def count(number: int, what: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def did_you_mean(word: str, known: list[str]) -> str:
    """``; did you mean 'x'?``, or the known words when none is near."""
    near = difflib.get_close_matches(word[:100], known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are: {', '.join(known)}"


def check_known(place: str, kind: str, name: str, known: list[str]) -> None:
    """InputError, which begins with ``place``, for a ``name`` that is not ``known``."""
    if name not in known:
        raise InputError(f"{place}: unknown {kind} '{name}'{did_you_mean(name, known)}")


def problems(error: ValidationError, data: object, model: type[BaseModel]) -> dict[Place, str]:
    """Return the problems of ``data`` by keys and indices; the texts name them, too."""
    places: dict[Place, list[dict]] = {}
    for one in error.errors(include_url=False, include_context=True):
        loc, last = one["loc"], ()
        if one["type"] == "default_factory_not_called":
            # What it is made of is wrong itself.
            continue
        if one["type"] == "missing":
            # It is not in the data.
            loc, last = loc[:-1], loc[-1:]
        places.setdefault(_place(data, loc) + last, []).append(one)
    return {
        place: f"{_key(place)}: {_text(errors, model)}" if place else _text(errors, model)
        for place, errors in places.items()
        # A list with one wrong number is also no number.
        if not (
            all(one["type"] in _OTHER_TYPE for one in errors)
            and any(other[: len(place)] == place != other for other in places)
        )
    }


def _place(data: object, loc: Place) -> Place:
    """``loc`` without what is no key of ``data``: the names of pydantic's types and kinds."""
    keys: list[str | int] = []
    kind = True
    for part in loc:
        if isinstance(data, dict) and kind and data.get("kind") == part:
            # The branch that the kind chose; a key may have the same name.
            kind = False
        elif (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        ):
            keys.append(part)
            data, kind = data[part], True
    return tuple(keys)


def _key(place: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")


def _text(errors: list[dict], model: type[BaseModel]) -> str:
    first = errors[0]
    if first["type"] == "missing":
        return "is missing; add it"
    if first["type"] == "extra_forbidden":
        fields = model.model_fields if len(first["loc"]) == 1 else {}
        known = [field.alias or name for name, field in fields.items()]
        hint = did_you_mean(str(first["loc"][-1]), known) if known else "; see config/README.md"
        return f"unknown key{hint}"
    if first["type"] == "union_tag_not_found":
        return "kind: is missing; add it"
    if first["type"] == "union_tag_invalid":
        kind, kinds = (first["ctx"][name] for name in ("tag", "expected_tags"))
        return f"kind: unknown kind '{kind}'{did_you_mean(kind, _QUOTED.findall(kinds))}"
    but = f"but is {_echo(first['input'])}"
    # The messages of our own validators.
    if messages := [error["msg"] for error in errors if error["type"] == "value_error"]:
        text = messages[0].removeprefix("Value error, ")
        # It shows which keys of a dict are meant.
        return text if isinstance(first["input"], dict) else f"{text}, {but}"
    fitting = [error for error in errors if error["type"] not in _OTHER_TYPE] or errors
    choices = {word: None for error in fitting for word in _choices(error)}
    near = difflib.get_close_matches(str(first["input"])[:100], choices, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"must be {', or '.join(dict.fromkeys(map(_must, fitting)))}, {but}{hint}"


def _choices(error: dict) -> list[str]:
    """The words of which it must be one; pydantic shows them in quotation marks."""
    return _QUOTED.findall(error["ctx"]["expected"]) if error["type"] == "literal_error" else []


def _must(error: dict) -> str:
    if choices := _choices(error):
        return f"one of {', '.join(choices)}"
    context = error.get("ctx", {})
    if context.get("pattern") == NAME:
        return _NAME
    numbers = {key: f"{value:g}" for key, value in context.items() if isinstance(value, float)}
    form = _MUST.get(error["type"], "of another form; see config/README.md")
    return form.format(**context | numbers)


def _echo(value: object) -> str:
    """The value as YAML has it, as far as anyone reads it."""
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "yes (true)", False: "no (false)"}[value]
    return _ECHO.repr(value)
