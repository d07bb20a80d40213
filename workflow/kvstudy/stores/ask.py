"""Shared code of several stores' verbs.py: line-based queries, the version of a jar."""

import re
import socket
from pathlib import Path

from kvstudy.errors import EnvironmentFault

# Our bindings with the drivers, and the stores that are jars next to them.
LIBRARY = Path("workflow/bindings/target/lib")


def ask(host: str, port: int, question: str, until: str, timeout: float = 2.0) -> str:
    """Send ``question`` and return the answer up to the first ``until`` in it.

    ValueError when the server refuses or closes the connection, OSError when it
    cannot be reached or is silent for ``timeout`` seconds.
    """
    with socket.create_connection((host, port), timeout=timeout) as connection:
        connection.sendall(question.encode())
        answer = b""
        while until.encode() not in answer:
            part = connection.recv(65536)
            if not part:
                raise ValueError(f"the server closed the connection after {answer[:80]!r}")
            answer += part
            if answer.startswith((b"-", b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR")):
                raise ValueError(f"the server answered {answer[:80]!r}")
        return answer.decode("utf-8", errors="replace")


def version_of(artifact: str) -> str:
    """The version of an embedded store, from the name of its jar."""
    for jar in LIBRARY.glob(f"{artifact}-*.jar"):
        if version := re.match(r"\d+(\.\d+)+", jar.name.removeprefix(f"{artifact}-")):
            return version[0]
    raise EnvironmentFault(f"{LIBRARY}: there is no {artifact} in it; run 'make setup'")
