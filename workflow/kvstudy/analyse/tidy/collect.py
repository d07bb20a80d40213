"""From the raw logs of a run to tidy tables.

``measurements.csv``: one row per value of a measured cell. ``cells.csv``: one
row per planned cell, with a reason where there is no valid number.
``environment.json``: the machines, servers and clients behind them, and the study.
``series.csv``: one row per second of a cell's measured phase. ``histograms.csv``:
one row per latency of an operation of that phase, with its count.
``resources.csv``: one row per second of that phase and side, with what it used.
``outcomes.csv``: how its operations ended (see ``tidy.outcomes``). ``rounds.csv``: the
rounds of workloads that have some (see ``tidy.rows.rounds``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kvstudy.analyse.tidy.cell import Unreadable, read_cell, reading
from kvstudy.analyse.tidy.files import (
    CELLS,
    HISTOGRAMS,
    MEASUREMENTS,
    OUTCOMES,
    RESOURCES,
    ROUNDS,
    SERIES,
)
from kvstudy.analyse.tidy.rows import NOT_IMPORTED, Rows, imported_facts, key_of
from kvstudy.analyse.tidy.usage import disturbance
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.alike import Difference, differences, refusal
from kvstudy.study.cells import Cell, closed_loop
from kvstudy.study.model import Study
from kvstudy.study.raw import (
    GAP,
    PROVIDER_IMPORTED,
    check_sums,
    is_gap,
    is_measured,
    raw_directory,
    recorded_reason,
)


class Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoreRecord(Record):
    """A store of the study. ``folder`` is its name under envs/stores/."""

    name: str
    folder: str
    title: str
    options: dict[str, str]


class WorkloadRecord(Record):
    """A workload of the study, with all YCSB properties but the sizes."""

    name: str
    title: str
    properties: dict[str, str]


class StudyRecord(Record):
    """The key ``study`` of ``environment.json``.

    The repetitions of an ``imported`` run only share a number: they are not paired.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    imported: bool
    stores: list[StoreRecord]
    workloads: list[WorkloadRecord]


def study_record(study: Study, cells: list[Cell]) -> StudyRecord:
    """The record of ``study``; ``cells`` is its plan. A title that it does not give is "".

    A workload that no closed-loop cell has is left out, as in a part of a plan.
    """
    properties = {cell.workload: dict(cell.properties) for cell in closed_loop(cells)}
    return StudyRecord(
        name=study.name,
        title=study.title,
        seed=study.seed,
        repetitions=study.repetitions,
        imported=study.imported is not None,
        stores=[
            StoreRecord(name=use.name, folder=use.store, title=use.title, options=use.options)
            for use in study.stores
        ],
        workloads=[
            WorkloadRecord(name=use.name, title=use.title, properties=properties[use.name])
            for use in study.workloads
            if use.name in properties
        ],
    )


# In the order of ``Collected``.
TABLES = (CELLS, MEASUREMENTS, SERIES, HISTOGRAMS, RESOURCES, OUTCOMES, ROUNDS)


@dataclass(frozen=True)
class Collected:
    """The tidy tables of a run and what it was measured on.

    ``unreadable`` are cells whose raw logs are there and cannot be read, with the reasons.
    """

    cells: pd.DataFrame
    measurements: pd.DataFrame
    series: pd.DataFrame
    histograms: pd.DataFrame
    resources: pd.DataFrame
    outcomes: pd.DataFrame
    rounds: pd.DataFrame
    environment: dict
    unreadable: dict[Cell, str]


def collect(study: Study, cells: list[Cell], run: str, mixed: bool = False) -> Collected:
    """Read all raw logs of ``run``.

    A cell that cannot be read, or whose files differ from their checksums, is a failed one.
    KvstudyError for cells of other parameters than the study now has, and for cells that
    were not measured alike, unless ``mixed``.
    """
    rows = Rows()
    manifests: dict[str, dict] = {}
    unreadable: dict[Cell, str] = {}
    for position, cell in enumerate(cells, start=1):
        raw = raw_directory(run, cell)
        try:
            if not is_measured(run, cell) or is_gap(run, cell):
                gap = _gap(cell, run)
                if study.imported and gap["status"] != "failed":
                    gap["reason"] = NOT_IMPORTED
                rows.cells.append(gap | {"position": position})
                continue
            manifests[cell.path], own = read_cell(study, cell, raw)
            rows.add(own)
        except Unreadable as error:
            unreadable[cell] = str(error)
            failed = {"status": "failed", "reason": str(error), "position": position}
            rows.cells.append(key_of(cell) | failed)
    unlike = differences(manifests)
    if unlike and not mixed:
        raise KvstudyError(refusal(unlike, Path("results") / run / "raw"))
    return Collected(
        *(table.frame(getattr(rows, table.name)) for table in TABLES),
        _environment(list(manifests.values()))
        | imported_facts(list(manifests.values()))
        | {"mixed": mixtures(unlike), "disturbance": disturbance(rows.measurements)}
        | {"study": study_record(study, cells).model_dump()},
        unreadable,
    )


def _gap(cell: Cell, run: str) -> dict:
    """A cell without raw logs, with the reason that is on file."""
    results = Path("results") / run
    failures = sorted((results / "failed" / cell.path).glob("*/failure.json"))
    no_server = results / "gaps" / f"{cell.store}.json"
    if is_gap(run, cell):
        raw = raw_directory(run, cell)
        with reading(raw, GAP):
            check_sums(raw)
            status, reason = "not measured", recorded_reason(raw / GAP)
    elif failures:
        status, reason = "failed", recorded_reason(failures[-1])
    elif no_server.is_file():
        status, reason = "not measured", recorded_reason(no_server)
    else:
        status, reason = "not measured", "no-logs"
    return key_of(cell) | {"status": status, "reason": reason}


def _environment(manifests: list[dict]) -> dict:
    """Distinct machines, and per store its versions, providers, images and clients."""
    machines: list[list[dict]] = []
    stores: dict[str, dict] = {}
    for manifest in manifests:
        if manifest["environment"] and manifest["environment"] not in machines:
            machines.append(manifest["environment"])
        store = stores.setdefault(
            manifest["cell"]["store"], {"versions": [], "providers": [], "images": [], "jars": {}}
        )
        server = manifest["server"]
        _add(store["versions"], server["version"])
        _add(store["providers"], server["provider"])
        if server.get("image"):
            _add(store["images"], f"{server['image']} ({server['digest']})")
        store["jars"] |= manifest["client"]["jars"]
    return {
        "machines": machines,
        "components": machines[0] if machines else [],
        "java": java(manifests),
        "findings": findings(manifests),
        "measured": len(manifests),
        "looked_at": looked_at(manifests),
        "pinned": pinnings(manifests),
        "stores": {
            name: store
            | {
                "version": ", ".join(store["versions"])
                or ("not recorded" if PROVIDER_IMPORTED in store["providers"] else ""),
                "provider": ", ".join(store["providers"]),
            }
            for name, store in sorted(stores.items())
        },
    }


def _add(values: list[str], value: str | None) -> None:
    if value and value not in values:
        values.append(value)


def findings(manifests: list[dict]) -> list[dict]:
    """The findings of the cells, equal ones together.

    Each has ``key``, ``title``, ``good``, ``consequence``, the number of
    ``cells`` with it, and their ``values``: the different ones, or the lowest
    and the highest where they are numbers.
    """
    found: dict[tuple, dict] = {}
    for manifest in manifests:
        for each in manifest.get("findings") or []:
            same = (each["key"], each["good"], each["consequence"])
            entry = found.setdefault(
                same,
                {key: each[key] for key in ("key", "title", "good", "consequence")}
                | {"cells": 0, "values": {}},
            )
            entry["cells"] += 1
            entry["values"].setdefault(each["value"], each.get("number"))
    order = list(dict.fromkeys(key for key, *_ in found))
    entries = sorted(found.values(), key=lambda entry: order.index(entry["key"]))
    return [entry | {"values": _values(entry["values"])} for entry in entries]


def _values(values: dict[str, float | None]) -> list[str]:
    if None in values.values() or len(values) < 3:
        return list(values)
    ordered = sorted(values, key=lambda value: values[value])
    return [ordered[0], ordered[-1]]


def looked_at(manifests: list[dict]) -> int:
    """How many cells have findings at all."""
    return sum(bool(manifest.get("findings")) for manifest in manifests)


def pinnings(manifests: list[dict]) -> list[dict]:
    """The cores that server and client were bound to, with the number of cells."""
    found: dict[tuple[str, str], int] = {}
    for manifest in manifests:
        if pinned := manifest.get("pinning"):
            sides = (pinned["server"], pinned["client"])
            found[sides] = found.get(sides, 0) + 1
    return [
        {"server": server, "client": client, "cells": cells}
        for (server, client), cells in found.items()
    ]


def java(manifests: list[dict]) -> list[dict]:
    """Each different Java with its flags."""
    found: list[dict] = []
    for manifest in manifests:
        told = manifest.get("java")
        if told and told not in found:
            found.append(told)
    return found


def mixtures(found: list[Difference]) -> list[dict]:
    """What was mixed, with the number of cells on each side."""
    return [
        {
            "what": difference.what,
            "sides": [asdict(side) | {"cells": len(side.cells)} for side in difference.sides],
        }
        for difference in found
    ]
