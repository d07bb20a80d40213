"""The first ``import.csv``, and what its user is told."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.guess import Guess
from kvstudy.logs.imports.mapping import write_rows


def draft(path: Path, guesses: list[Guess]) -> None:
    """Write ``path``; KvstudyError when a person must look at it before it counts."""
    write_rows(path, [guess.row for guess in guesses])
    lines = []
    for line, guess in enumerate(guesses, start=2):
        missing = guess.row.missing
        if not missing and not guess.named:
            continue
        text = f"{path}: line {line} ({guess.row.file}): "
        text += f"complete {', '.join(missing)}" if missing else "look at it"
        if not guess.row.store and guess.source.command and guess.source.command.db:
            text += f"; its binding is {guess.source.command.db}"
        if not guess.row.workload and guess.source.command and guess.source.command.files:
            text += f"; its workload file is {guess.source.command.files[0]}"
        if guess.named:
            text += "; the log does not say how YCSB was called, so names of files were read"
        lines.append(text)
    if lines:
        lines.append(
            f"{path} was written: {len(lines)} of {len(guesses)} logs need a look. Remove the row "
            "of a log that is not to be imported, then run the command again"
        )
        raise KvstudyError("\n".join(lines))
