"""The cell's commands as a person can paste them, in the project's folder."""

from __future__ import annotations

import shlex

from kvstudy.measure.phase import Phase
from kvstudy.stores.server import Server


def commands_text(classpath: str, server: Server, phases: dict[str, Phase]) -> str:
    """Shell lines in the sections ``# server``, ``# load``, ``# run``, ``# stop``."""
    commands = server.commands()
    lines = [f"export CLASSPATH={shlex.quote(classpath)}", "", "# server", *commands["start"]]
    for name, phase in phases.items():
        lines += ["", f"# {name}", shlex.join(phase.command)]
    lines += ["", "# stop", *commands["stop"]]
    return "\n".join(lines) + "\n"
