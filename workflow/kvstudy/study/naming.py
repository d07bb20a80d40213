"""Names that a file may give, and what to say of others."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path

from kvstudy.errors import KvstudyError


def did_you_mean(word: str, known: list[str]) -> str:
    """``; did you mean 'x'?``, or the known words when none is near."""
    near = difflib.get_close_matches(word, known, n=1)
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
