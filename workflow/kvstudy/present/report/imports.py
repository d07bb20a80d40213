"""What the text says of imported logs: where they are from, what they cannot tell."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kvstudy.analyse.tidy.imports import NOT_IMPORTED
from kvstudy.language.current import N_, _
from kvstudy.study.model import Study
from kvstudy.study.parts import Imported


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
        N_("when a cell was measured, which the clock in YCSB's status lines (option -s) tells"),
        N_("the order of these runs is not known, nor whether the machine drifted"),
    ),
    "seconds": (
        N_("how many operations each second had (-s and status.interval=1)"),
        N_("nobody can tell whether these runs were steady, or how long they warmed up"),
    ),
    "histograms": (
        N_("how often each latency occurred (hdrhistogram.fileoutput=true)"),
        N_(
            "these runs have no percentiles of all repetitions together; those in tables of "
            "results are means of the single runs'"
        ),
    ),
    "load": (
        N_("how the store was loaded"),
        N_("the number of records is what the command of the run asked for"),
    ),
    "command": (
        N_("how YCSB was called"),
        N_("store, workload and sizes are what a person gave"),
    ),
}
# No log of YCSB tells these.
NEVER = (
    (
        N_("the server: its version, its settings, whether it was fresh and empty"),
        N_("a difference may come from any of these"),
    ),
    (
        N_("what the server itself counted"),
        N_("a client that calls a miss OK is not found out, and nothing was probed"),
    ),
    (
        N_("the CPU time of client and server, and other load on the machine"),
        N_("only the time that the client's threads waited tells whether the store was the limit"),
    ),
)


def import_facts(study: Study, environment: dict) -> ImportFacts | None:
    """The facts of a run; None when no cell of it was imported."""
    found = environment.get("imported")
    if found is None:
        return None
    lacks = [Lack(_(what), found["cells"], _(check)) for what, check in NEVER]
    for name, (what, check) in LACKS.items():
        if number := found["without"][name]:
            lacks.append(Lack(_(what), number, _(check)))
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
                texts.append(_("{} (repetition {})").format(use.title, ", ".join(sorted(lacking))))
        if texts:
            found.append((store, texts))
    return found
