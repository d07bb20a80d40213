"""What the report says of where it was measured: the machine, other load, imported logs."""

from __future__ import annotations

import shlex
from collections import Counter
from itertools import product
from types import SimpleNamespace

from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.resources import MUCH
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.present.report.cells import Names, Row, joined
from kvstudy.study.model import Study
from kvstudy.study.parts import Imported

# Components of a machine that tell a reader what kind of machine it is.
TELLING = ("CPU", "Memory", "OS")


def machine_facts(environment: dict, names: Names) -> SimpleNamespace:
    """The parts of environment.json that are not about stores; all may be missing in it.

    ``measured`` are all measured cells, those that kvstudy adds to a study too, and
    ``looked_at`` those for which the machine was looked at. ``findings`` have a consequence and
    were seen, with ``found``: their values as one text; ``unseen`` is what could not be seen, or
    not all of it, and ``good`` what was good in all cells. ``mixed`` is ``what`` differs between
    cells and its ``sides`` with ``value`` and ``cells``; ``hosts`` of their own are ``server``,
    ``clients``, ``round_trip`` (s, quartiles); ``pinned`` the cores that ``server`` and ``client``
    were bound to, and in how many ``cells``. ``limit`` is the share of background load or steal
    that is reported, between 0 and 1.
    """
    findings = [
        finding
        | {name: sentence(finding[name]) for name in ("title", "consequence")}
        | {"found": _(" to ").join(sentence(value) for value in finding["values"])}
        | {"hidden": finding["values"] == ["not visible"]}
        for finding in environment.get("findings", [])
    ]
    worse = {finding["key"] for finding in findings if not finding["good"]}
    return SimpleNamespace(
        in_few_words=_in_few_words(environment.get("machines", [])),
        measured=environment.get("measured", 0),
        looked_at=environment.get("looked_at", 0),
        findings=[finding for finding in findings if finding["good"] is False],
        unseen=[finding for finding in findings if finding["good"] is None],
        good=[finding["title"] for finding in findings if finding["key"] not in worse],
        mixed=environment.get("mixed", []),
        hosts=environment.get("hosts", []),
        pinned=environment.get("pinned", []),
        limit=MUCH / 100,
        background=_disturbance(environment, "background_cpu", names),
        steal=_disturbance(environment, "steal_cpu", names),
    )


def _in_few_words(machines: list[list[dict]]) -> list[str]:
    """The machine, where all cells were measured on one."""
    parts = {part["component"]: part for part in machines[0]} if len(machines) == 1 else {}
    told = [parts[name] for name in TELLING if name in parts]
    texts = [[sentence(part.get(key, "")) for key in ("name", "details")] for part in told]
    return [f"{name} ({details})" if details else name for name, details in texts]


def _disturbance(environment: dict, metric: str, names: Names) -> dict | None:
    """In how many of the ``cells`` that tell it the share was ``above`` the limit.

    The ``worst`` cell has its ``share``, between 0 and 1.
    """
    found = environment.get("disturbance", {}).get(metric)
    if found is None:
        return None
    worst = found["worst"]
    named = {
        "store": names.store(worst["store"]),
        "workload": names.workload(worst["workload"], worst["parameters"]),
        "share": worst["value"] / 100,
    }
    return found | {"worst": worst | named}


def nodes_of(cells: list[Row]) -> SimpleNamespace | None:
    """The nodes of a cluster with their ``repetitions``, and those that several ``shared``.

    None where all cells that tell it were measured on one.
    """
    told = sorted({(int(row["repetition"]), row["node"]) for row in cells if row["node"]})
    repetitions = joined((node, str(repetition)) for repetition, node in told)
    if len(repetitions) < 2:
        return None
    nodes = Counter(str(repetition) for repetition, _node in told)
    shared = [repetition for repetition, number in nodes.items() if number > 1]
    return SimpleNamespace(repetitions=repetitions, shared=shared)


# What logs do not tell, by its name in environment.json: and so the second is not possible.
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


def import_facts(study: Study, environment: dict) -> SimpleNamespace | None:
    """The facts of a run; None when no cell of it was imported.

    ``origin`` is what the study file says of the logs, ``folder`` theirs as a word of a command.
    ``cells`` and ``logs`` are counted. Of ``lacks``, so many ``cells`` lack ``what``, and so
    ``check`` is not possible.
    """
    logs = environment.get("imported")
    if logs is None:
        return None
    origin = study.imported or Imported()
    lacks = [(logs["cells"], *never) for never in NEVER]
    lacks += [(logs["without"][name], *texts) for name, texts in LACKS.items()]
    return SimpleNamespace(
        origin=origin,
        folder=shlex.quote(origin.folder or "FOLDER"),
        cells=logs["cells"],
        logs=logs["logs"],
        lacks=[
            SimpleNamespace(what=_(what), cells=cells, check=_(check))
            for cells, what, check in lacks
            if cells
        ],
    )


def not_imported(names: Names, cells: list[Row]) -> list[tuple[str, list[str]]]:
    """Each store with its workloads that lack a log, and which repetitions if not all do."""
    found = []
    for store, use in product(names.study.store_names, names.study.workloads):
        rows = [row for row in cells if (row["store"], row["workload"]) == (store, use.name)]
        lacking = sorted(row["repetition"] for row in rows if row["reason"] == NOT_IMPORTED)
        if lacking:
            some = _("{} (repetition {})").format(use.title, ", ".join(lacking))
            text = use.title if len(lacking) == len(rows) else some
            found.append((names.store(store), text))
    return list(joined(found).items())
