"""From the raw facts of the probes to ``probes.csv``, and its values for tables and text.

One row per value: ``store``, ``step``, ``kind``, ``name``, ``value``. Kinds:
``operations`` (how many were tried), ``status`` (share of them that ended so),
``command`` (how many the server counted, per operation), ``result`` (hits and misses
that it counted, per operation), ``missed`` (the one of them that counts reads of
missing keys) and ``bytes`` (of a mean record, ``before`` and ``after`` the step). A
row of kind ``client`` has no step and names the YCSB client. A store without a probe
has one row of kind ``none`` with the ``reason``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from kvstudy.analyse.tidy.cell import Unreadable, reading
from kvstudy.analyse.tidy.files import PROBES
from kvstudy.errors import DataError
from kvstudy.libraries import pd
from kvstudy.stores.configuration import changed_plan, check_options
from kvstudy.stores.definition import Store, load_stores
from kvstudy.study.load import properties_of
from kvstudy.study.model import Study
from kvstudy.study.probe import FACTS, other_records, planned
from kvstudy.study.raw import check_sums, is_complete, probe_directory, reason_on_file, renewal
from kvstudy.study.workload import field_names, operations_of

# Connecting, and asking for the counters, is counted too, but not once per operation.
RARE = 0.05
OK = "OK"
NOT_YET = "not-probed"
IMPORTED = "imported-not-probed"


def collect_probes(study: Study, run: str) -> tuple[pd.DataFrame, dict[str, str]]:
    """The rows of ``probes.csv``, and the stores whose probe cannot be read, with the reasons.

    DataError for a probe of other records or options than the study now has.
    """
    rows, unreadable, stores = [], {}, load_stores(study)
    for store, plan in planned(study).items():
        on_file = reason_on_file(run, f"probes/{store}", store)
        why = IMPORTED if study.imported else on_file[1] if on_file else NOT_YET
        of_store = [{"kind": "none", "reason": why}]
        if is_complete(folder := probe_directory(run, store)):
            try:
                of_store = _read(folder, plan, stores[store])
            except Unreadable as error:
                unreadable[store] = str(error)
                of_store = [{"kind": "none", "reason": str(error)}]
        rows += [{"store": store, "step": "", "name": "", "reason": "", **row} for row in of_store]
    return PROBES.frame(rows), unreadable


def _read(folder: Path, plan: dict, store: Store) -> list[dict]:
    """The rows of the finished probe in ``folder``, without the store."""
    with reading(folder, FACTS):
        check_sums(folder)
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        changed = changed_plan(facts, plan)
        rows = list(rows_of(facts))
    if changed:
        raise DataError(
            f"{folder}: probed with other parameters than the study has now: {changed}. Put the "
            f"study or workload file back, or {renewal(folder)}"
        )
    check_options(facts, store, folder)
    return rows


def rows_of(facts: dict) -> Iterator[dict]:
    """The rows of one probe, without the store; ``facts`` is the content of its probe.json."""
    yield {"step": "", "kind": "client", "name": facts["client"]["kind"]}
    for step in facts["steps"]:
        operations = sum(step["returns"].values())
        counters = step["counters"] or {}
        values = [("operations", "", operations)]
        values += [("status", name, count / operations) for name, count in step["returns"].items()]
        for name, count in sorted(counters.items()):
            result = name.lower().endswith(("hits", "misses")) or name == facts["misses"]
            values.append(("result" if result else "command", name, count / operations))
        if facts["misses"] and step["counters"] is not None:
            count = counters.get(facts["misses"], 0)
            values.append(("missed", facts["misses"], count / operations))
        sizes = step["record_bytes"].items()
        values += [("bytes", when, size) for when, size in sizes if size is not None]
        for kind, name, value in values:
            yield {"step": step["step"], "kind": kind, "name": name, "value": value}


class Probes:
    """The results of the probes, by store and step."""

    def __init__(self, frame: pd.DataFrame) -> None:
        without = frame["kind"] == "none"
        self._reasons = frame[without].set_index("store")["reason"].to_dict()
        groups = frame[~without].groupby(["store", "step", "kind"], sort=False)
        self._values = {key: of.set_index("name")["value"].to_dict() for key, of in groups}

    def reason(self, store: str) -> str:
        """Return why the store has no probe; empty if it has one."""
        known = any(key[0] == store for key in self._values)
        return self._reasons.get(store, "" if known else NOT_YET)

    def client(self, store: str) -> str:
        """The kind of YCSB client that was used; empty without a probe."""
        return next(iter(self._of(store, "", "client")), "")

    def operations(self, store: str, step: str) -> int:
        """Return the number of operations in the step; 0 if the store does not have it."""
        return int(self._of(store, step, "operations").get("", 0))

    def statuses(self, store: str, step: str) -> dict[str, float]:
        """The statuses that YCSB reported with their shares, the most frequent first."""
        return _falling(self._of(store, step, "status"))

    def commands(self, store: str, step: str) -> dict[str, float]:
        """Commands per operation as the server named and counted them, most first."""
        counted = self._of(store, step, "command")
        return _falling({name: value for name, value in counted.items() if value >= RARE})

    def missed(self, store: str, step: str) -> float | None:
        """Misses per operation that the server counted; None when it counts none."""
        return next(iter(self._of(store, step, "missed").values()), None)

    def sizes(self, store: str, step: str) -> tuple[float, float] | None:
        """Bytes of a mean record before and after the step, if the server can tell."""
        sizes = self._of(store, step, "bytes")
        return (sizes["before"], sizes["after"]) if len(sizes) == 2 else None

    def creates(self, store: str) -> bool:
        """Return whether an update of a missing key created a record that can be read.

        Some clients say OK to a read that finds nothing; then only the server's misses tell.
        """
        if self.statuses(store, "read-updated").get(OK, 0) < 0.5:
            return False
        missed = self.missed(store, "read-updated")
        silent = self.statuses(store, "read-missing").get(OK, 0) > 0.5
        return not silent if missed is None else missed < 0.5

    def _of(self, store: str, step: str, kind: str) -> dict[str, float]:
        return self._values.get((store, step, kind), {})


def _falling(values: dict[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))


LIGHTER, HEAVIER, KEPT = "lighter", "heavier", "kept"
# Allocators round; a smaller change is none.
SAME = 0.05


# What an update writes.
ONE_FIELD, WHOLE = "one field", "the whole record"


def updates_of(study: Study) -> dict[str, str]:
    """Return ``ONE_FIELD`` or ``WHOLE`` by the name of each workload that has updates."""
    updates = {}
    for use in study.workloads:
        properties = properties_of(study, use)
        if {"update", "read-modify-write"}.intersection(operations_of(properties)):
            every = properties.get("writeallfields") == "true" or len(field_names(properties)) == 1
            updates[use.name] = WHOLE if every else ONE_FIELD
    return updates


def unlike(study: Study) -> set[str]:
    """Return the workloads with other records than the probe, on any of their stores."""
    return {workload for _store, workload in other_records(study)}


def updating(study: Study, what: str = ONE_FIELD) -> set[str]:
    """Return the workloads whose updates write ``what`` of records that were probed."""
    return {name for name, of in updates_of(study).items() if of == what} - unlike(study)


def becomes(sizes: tuple[float, float]) -> str:
    """``LIGHTER``, ``HEAVIER`` or ``KEPT``, from the bytes of a record before and after."""
    change = sizes[1] / sizes[0] - 1
    return LIGHTER if change < -SAME else HEAVIER if change > SAME else KEPT


def records_of(probes: Probes, stores: Iterable[str]) -> dict[str, str]:
    """Return the change of record sizes for each store whose probe shows it."""
    changes = {store: probes.sizes(store, "update") for store in stores}
    return {store: becomes(sizes) for store, sizes in changes.items() if sizes}
