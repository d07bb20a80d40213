"""A store without a server: YCSB's BasicDB lives inside the client."""

from __future__ import annotations

from typing import ClassVar

from kvstudy.stores.server import HOST


class InProcess:
    """Answers the verbs of a server; there is nothing to start or stop."""

    host = HOST
    port = 0
    after_start: ClassVar[list[list[str]]] = []

    def start(self) -> None:
        pass

    def run_beside(self, command: list[str]) -> None:
        pass

    def stop(self) -> None:
        pass

    def died(self) -> None:
        return None

    def process_ids(self) -> list[int]:
        return []

    def describe(self) -> dict:
        return {"provider": "none", "command": []}

    def commands(self) -> dict[str, list[str]]:
        return {"start": ["# no server"], "stop": ["# no server"]}
