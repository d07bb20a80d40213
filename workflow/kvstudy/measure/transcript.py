"""The cell's commands as a person can paste them, in the project's folder."""

from __future__ import annotations

import shlex

from kvstudy.measure.phase import Phase
from kvstudy.stores.server import Server
from kvstudy.study.raw import SECOND


def commands_text(
    classpath: str, server: Server, phases: dict[str, Phase], second: list[str] | None = None
) -> str:
    """Shell lines in the sections ``# server``, ``# load``, ``# run``, ``# stop``.

    ``second`` is the command of a second client, which starts just before that of
    the last phase and runs beside it; its section is ``# run-2``.
    """
    commands = server.commands()
    lines = [f"export CLASSPATH={shlex.quote(classpath)}", "", "# server", *commands["start"]]
    for name, phase in phases.items():
        if second and name == [*phases][-1]:
            lines += ["", f"# {SECOND}: beside the next command", f"{shlex.join(second)} &"]
        lines += ["", f"# {name}", shlex.join(phase.command)]
    lines += ["", "# stop", *commands["stop"]]
    return "\n".join(lines) + "\n"
