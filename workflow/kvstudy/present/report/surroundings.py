"""What the report says of where it was measured: the machine, other load, imported logs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.resources import MUCH
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.present.report.cells import Names, Row
from kvstudy.study.model import Study
from kvstudy.study.parts import Imported

# Components of a machine that tell a reader what kind of machine it is.
TELLING = ("CPU", "Memory", "OS")


@dataclass(frozen=True)
class Worst:
    """The cell with the largest share (between 0 and 1), by the titles of the report."""

    store: str
    workload: str
    repetition: int
    share: float


@dataclass(frozen=True)
class Disturbance:
    """In how many of the cells that tell it a share was above the limit."""

    cells: int
    above: int
    worst: Worst


@dataclass(frozen=True)
class Surroundings:
    """The parts of environment.json that are not about stores; all may be missing in it."""

    environment: dict
    names: Names

    @property
    def in_few_words(self) -> list[str]:
        """The machine, where all cells were measured on one."""
        machines = self.environment.get("machines", [])
        parts = {part["component"]: part for part in machines[0]} if len(machines) == 1 else {}
        return [_component(parts[name]) for name in TELLING if name in parts]

    @property
    def measured(self) -> int:
        """All measured cells, those that kvstudy adds to a study too."""
        return self.environment.get("measured", 0)

    @property
    def looked_at(self) -> int:
        """Cells for which the machine was looked at."""
        return self.environment.get("looked_at", 0)

    @cached_property
    def findings(self) -> list[dict]:
        """What has a consequence and was seen, with ``found``: its values as one text."""
        return [finding for finding in self._all if finding["good"] is False]

    @cached_property
    def unseen(self) -> list[dict]:
        """What could not be seen, or not all of it."""
        return [finding for finding in self._all if finding["good"] is None]

    @property
    def good(self) -> list[str]:
        """Titles of what was good in all cells."""
        others = {finding["key"] for finding in self.findings + self.unseen}
        return [finding["title"] for finding in self._all if finding["key"] not in others]

    @property
    def _all(self) -> list[dict]:
        return [
            finding
            | {name: sentence(finding[name]) for name in ("title", "consequence")}
            | {"found": _(" to ").join(sentence(value) for value in finding["values"])}
            | {"hidden": finding["values"] == ["not visible"]}
            for finding in self.environment.get("findings", [])
        ]

    @property
    def mixed(self) -> list[dict]:
        """What differs between cells: ``what`` and its ``sides`` with ``value`` and ``cells``."""
        return self.environment.get("mixed", [])

    @property
    def hosts(self) -> list[dict]:
        """Hosts of their own: ``server``, ``clients``, ``round_trip`` (s, quartiles)."""
        return self.environment.get("hosts", [])

    @property
    def pinned(self) -> list[dict]:
        """The cores that ``server`` and ``client`` were bound to, and in how many ``cells``."""
        return self.environment.get("pinned", [])

    @property
    def limit(self) -> float:
        """The share of background load or steal that is reported, between 0 and 1."""
        return MUCH / 100

    @property
    def background(self) -> Disturbance | None:
        return self._disturbance("background_cpu")

    @property
    def steal(self) -> Disturbance | None:
        return self._disturbance("steal_cpu")

    def _disturbance(self, metric: str) -> Disturbance | None:
        share = self.environment.get("disturbance", {}).get(metric)
        if share is None:
            return None
        worst = share["worst"]
        return Disturbance(
            share["cells"],
            share["above"],
            Worst(
                self.names.store(worst["store"]),
                self.names.workload(worst["workload"], worst["parameters"]),
                worst["repetition"],
                worst["value"] / 100,
            ),
        )


@dataclass(frozen=True)
class Nodes:
    """The nodes of a cluster with their repetitions, and the repetitions that several share."""

    repetitions: dict[str, list[str]]
    shared: list[str]


def nodes_of(cells: list[Row]) -> Nodes | None:
    """None where all cells that tell it were measured on one."""
    told = sorted({(int(row["repetition"]), row["node"]) for row in cells if row["node"]})
    repetitions: dict[str, list[str]] = {}
    nodes: dict[str, int] = {}
    for repetition, node in told:
        repetitions.setdefault(node, []).append(str(repetition))
        nodes[str(repetition)] = nodes.get(str(repetition), 0) + 1
    shared = [repetition for repetition, number in nodes.items() if number > 1]
    return Nodes(repetitions, shared) if len(repetitions) > 1 else None


def _component(part: dict) -> str:
    name, details = (sentence(part.get(key, "")) for key in ("name", "details"))
    return f"{name} ({details})" if details else name


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
        N_("when a cell was measured, which the clock in YCSB's status lines (option -s) shows"),
        N_("the order of these runs is not known, nor whether the machine drifted"),
    ),
    "seconds": (
        N_("how many operations each second had (-s and status.interval=1)"),
        N_("it is unknown whether these runs were steady, and how long they warmed up"),
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
    "command": (N_("how YCSB was called"), N_("store, workload and sizes are what a person gave")),
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
        N_("only the time that the client's threads waited shows whether the store was the limit"),
    ),
)


def import_facts(study: Study, environment: dict) -> ImportFacts | None:
    """The facts of a run; None when no cell of it was imported."""
    logs = environment.get("imported")
    if logs is None:
        return None
    lacks = [Lack(_(what), logs["cells"], _(check)) for what, check in NEVER]
    for name, (what, check) in LACKS.items():
        if number := logs["without"][name]:
            lacks.append(Lack(_(what), number, _(check)))
    return ImportFacts(study.imported or Imported(), logs["cells"], logs["logs"], lacks)


def not_imported(names: Names, cells: list[Row]) -> list[tuple[str, list[str]]]:
    """Each store with its workloads that lack a log, and which repetitions if not all do."""
    stores = []
    for store in names.study.store_names:
        texts = []
        for use in names.study.workloads:
            rows = [row for row in cells if (row["store"], row["workload"]) == (store, use.name)]
            lacking = [row["repetition"] for row in rows if row["reason"] == NOT_IMPORTED]
            if lacking and len(lacking) == len(rows):
                texts.append(use.title)
            elif lacking:
                texts.append(_("{} (repetition {})").format(use.title, ", ".join(sorted(lacking))))
        if texts:
            stores.append((names.store(store), texts))
    return stores
