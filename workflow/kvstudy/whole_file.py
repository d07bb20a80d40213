"""Files that are there as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError


def put(content: bytes, output: Path) -> None:
    """Write beside the goal, then rename: a reader never sees half a file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = output.with_name(f".{output.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise KvstudyError(f"{output}: cannot be written: {error.strerror}") from None
