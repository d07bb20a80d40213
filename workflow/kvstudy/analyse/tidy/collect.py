"""From the raw logs of a run to tidy tables.

``measurements.csv``: one row per value of a measured cell. ``cells.csv``: one
row per planned cell, with a reason where there is no valid number.
``environment.json``: the machines, servers and clients behind them, and the study.
``series.csv``: one row per second of a cell's measured phase. ``histograms.csv``:
one row per latency of an operation of that phase, with its count.
``resources.csv``: one row per second of that phase and side, with what it used.
``outcomes.csv``: how its operations ended (see ``tidy.outcomes``). ``rounds.csv``: the
rounds of workloads that have some (see ``tidy.rounds``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.tidy import surroundings
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
from kvstudy.analyse.tidy.foreign import disturbance
from kvstudy.analyse.tidy.imports import NOT_IMPORTED, imported_facts
from kvstudy.analyse.tidy.record import study_record
from kvstudy.analyse.tidy.rows import Rows, key_of
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.alike import differences, refusal
from kvstudy.study.cells import Cell
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
        | {"mixed": surroundings.mixtures(unlike), "disturbance": disturbance(rows.measurements)}
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
        "java": surroundings.java(manifests),
        "findings": surroundings.findings(manifests),
        "measured": len(manifests),
        "looked_at": surroundings.looked_at(manifests),
        "pinned": surroundings.pinnings(manifests),
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
