"""What the text says of imported logs: where they are from, what they cannot tell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kvstudy.study.model import Study
from kvstudy.study.parts import Imported
from kvstudy.tidy.imports import NOT_IMPORTED


@dataclass(frozen=True)
class Lack:
    """Something that logs do not tell: ``cells`` lack it, and so ``check`` is not possible."""

    what: str
    cells: int
    check: str


@dataclass(frozen=True)
class ImportFacts:
    """``origin`` is what the study file says of the logs; cells and logs are counted."""

    origin: Imported
    cells: int
    logs: int
    lacks: list[Lack]

    @property
    def folder(self) -> str:
        """The folder as a word of a command."""
        return shlex.quote(self.origin.folder or "FOLDER")


# By the name in environment.json.
LACKS = {
    "start": (
        "when a cell was measured, which the clock in YCSB's status lines (option -s) tells",
        "the order of these runs is not known, nor whether the machine drifted",
    ),
    "seconds": (
        "how many operations each second had (-s and status.interval=1)",
        "nobody can tell whether these runs were steady, or how long they warmed up",
    ),
    "histograms": (
        "how often each latency occurred (hdrhistogram.fileoutput=true)",
        "these runs have no percentiles of all repetitions together; those in tables of results "
        "are means of the single runs'",
    ),
    "load": (
        "how the store was loaded",
        "the number of records is what the command of the run asked for",
    ),
    "command": (
        "how YCSB was called",
        "store, workload and sizes are what a person gave",
    ),
}
# No log of YCSB tells these.
NEVER = (
    (
        "the server: its version, its settings, whether it was fresh and empty",
        "a difference may come from any of these",
    ),
    (
        "what the server itself counted",
        "a client that calls a miss OK is not found out, and nothing was probed",
    ),
    (
        "the CPU time of client and server, and other load on the machine",
        "only the time that the client's threads waited tells whether the store was the limit",
    ),
)


def import_facts(study: Study, environment: dict) -> ImportFacts | None:
    """The facts of a run; None when no cell of it was imported."""
    found = environment.get("imported")
    if found is None:
        return None
    lacks = [Lack(what, found["cells"], check) for what, check in NEVER]
    for name, (what, check) in LACKS.items():
        if number := found["without"][name]:
            lacks.append(Lack(what, number, check))
    return ImportFacts(study.imported or Imported(), found["cells"], found["logs"], lacks)


def not_imported(study: Study, cells: list[dict[str, str]]) -> list[tuple[str, list[str]]]:
    """Each store with its workloads that lack a log, and which repetitions if not all do."""
    found = []
    for store in study.store_names:
        texts = []
        for use in study.workloads:
            rows = [row for row in cells if (row["store"], row["workload"]) == (store, use.name)]
            lacking = [row["repetition"] for row in rows if row["reason"] == NOT_IMPORTED]
            if lacking and len(lacking) == len(rows):
                texts.append(use.title)
            elif lacking:
                texts.append(f"{use.title} (repetition {', '.join(sorted(lacking))})")
        if texts:
            found.append((store, texts))
    return found
