"""Names that a file may give, and what to say of others."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from pathlib import Path

from kvstudy.errors import KvstudyError

# Characters that no text has: PDF, HTML and Word cannot show them, some end a line or a file.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def check_printable(path: Path, text: str) -> None:
    """KvstudyError for a control character in the ``text`` of the file ``path``."""
    if match := UNPRINTABLE.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise KvstudyError(
            f"{path}: line {line}: has the control character {match[0]!r}; remove it"
        )


def did_you_mean(word: str, known: list[str]) -> str:
    """``; did you mean 'x'?``, or the known words when none is near."""
    near = difflib.get_close_matches(word[:100], known, n=1)
    return f"; did you mean '{near[0]}'?" if near else f"; known are: {', '.join(known)}"


def check_known(path: Path, key: str, kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise KvstudyError(f"{path}: {key}: unknown {kind} '{name}'{did_you_mean(name, known)}")


def check_unique(
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
