"""The configuration files of a server, filled in from templates of the store's folder."""

from __future__ import annotations

import shlex
import string
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import Store


def filled_in(store: Store, files: dict[str, str], values: dict) -> dict[str, str]:
    """Text of each file by its name; ``files`` maps that name to the template.

    A template says $name where store.yaml says {name}, since configurations
    are full of braces, and $port_name for {ports[name]}. KvstudyError names the
    template that cannot be read or asks for an unknown value.
    """
    values = values | {f"port_{name}": port for name, port in values["ports"].items()}
    texts = {}
    for name, template in files.items():
        source = store.folder / template
        try:
            texts[name] = string.Template(source.read_text(encoding="utf-8")).substitute(values)
        except (OSError, KeyError, ValueError) as error:
            raise KvstudyError(f"{source}: cannot be filled in: {error!r}") from None
    return texts


def shell_line(path: Path, text: str) -> str:
    """One line for a shell that writes the file."""
    words = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return f"printf %b {shlex.quote(words)} > {shlex.quote(str(path))}"
