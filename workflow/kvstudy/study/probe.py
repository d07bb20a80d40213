"""The probe of a store: a short measurement of what one operation makes its server do.

Its steps run one after the other on one server. Updates of all fields come before
updates of one: they leave whole records behind, so the latter start from what was
loaded. Keys are drawn uniformly, those of updates often enough that about every one is drawn.
A step on a slow machine ends by its time; what it had done by then counts.
"""

from collections import Counter
from dataclasses import dataclass

from kvstudy.study.base import Operation
from kvstudy.study.model import Study
from kvstudy.study.parts import StoreUse
from kvstudy.study.workload import class_of, properties_of
from kvstudy.study.ycsb_properties import CORE, OF_CLASS, PROPERTIES, RECORD, ROUNDS

# What a finished probe has found out, next to YCSB's logs.
FACTS = "probe.json"

# The first records are loaded; behind them are keys that never are.
RECORDS = 1_000
UNKNOWN = 100
THREADS = 4
SCANNED = 10
SECONDS = 10

# What shapes a record, and what is read of it; for updates, the probe does all there is.
SHAPE = (
    *("fieldcount", "fieldlength", "fieldlengthdistribution", "fieldlengthhistogram"),
    *("fieldnameprefix", "minfieldlength", "readallfields", "readallfieldsbyname", "table"),
)
# What shapes one with named fields.
NAMED = ("workload", "record.fields", "record.keyprefix")
_DEFAULTS = {name: known.default for name, known in (PROPERTIES | OF_CLASS[RECORD]).items()}


@dataclass(frozen=True)
class Step:
    """``count`` times ``operation`` on ``keys`` keys from ``first`` on, by one YCSB client."""

    name: str
    operation: Operation
    count: int
    first: int = 0
    keys: int = RECORDS
    all_fields: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """The YCSB properties of the step; ``insert`` is a load phase and has no proportions."""
        values = {
            "recordcount": RECORDS + 2 * UNKNOWN,
            "operationcount": self.count,
            "insertstart": self.first,
            "insertcount": self.keys,
            "requestdistribution": "uniform",
            "minscanlength": SCANNED,
            "maxscanlength": SCANNED,
            "writeallfields": str(self.all_fields).lower(),
        }
        # Unless told otherwise, YCSB mixes these.
        for operation in ("read", "update", "scan"):
            values[f"{operation}proportion"] = int(operation == self.operation)
        if self.operation != "insert":
            values["maxexecutiontime"] = SECONDS
        return {name: str(value) for name, value in values.items()}


STEPS = (
    Step("insert", "insert", RECORDS),
    Step("read", "read", 2_000),
    Step("scan", "scan", 1_000),
    Step("update-all", "update", 5_000, all_fields=True),
    Step("update", "update", 10_000),
    Step("read-missing", "read", 1_000, RECORDS, UNKNOWN),
    Step("update-missing", "update", 1_000, RECORDS + UNKNOWN, UNKNOWN),
    # Whether that has created them.
    Step("read-updated", "read", 1_000, RECORDS + UNKNOWN, UNKNOWN),
)


def planned(study: Study) -> dict[str, dict]:
    """Return what the probe of each of the study's stores depends on, by the store's name.

    ``shape`` are the YCSB properties of the records that most of the store's workloads have, those
    of the first one among equals. What has YCSB's default is left out.
    """
    shapes = _shapes(study)
    return {
        use.name: {
            "store": use.store,
            "options": dict(use.options),
            "shape": _most_used(study, use, shapes),
        }
        for use in study.stores
    }


def other_records(study: Study) -> set[tuple[str, str]]:
    """Return the names of each store and workload of which the probe has other records."""
    shapes, plans = _shapes(study), planned(study)
    return {
        (use.name, name)
        for use in study.stores
        for name in _workloads(study, use)
        if shapes[name] != plans[use.name]["shape"]
    }


def _shapes(study: Study) -> dict[str, dict[str, str] | None]:
    return {use.name: _shape(properties_of(study, use)) for use in study.workloads}


def _shape(properties: dict[str, str]) -> dict[str, str] | None:
    """Return what shapes the records; None of a workload class that may make any."""
    if class_of(properties) not in (CORE, RECORD, ROUNDS):
        return None
    names = SHAPE + (NAMED if class_of(properties) == RECORD else ())
    return {
        name: properties[name]
        for name in names
        if name in properties and properties[name] != _DEFAULTS.get(name)
    }


def _workloads(study: Study, store: StoreUse) -> list[str]:
    return [use.name for use in study.workloads if not use.stores or store.name in use.stores]


def _most_used(study: Study, store: StoreUse, shapes: dict) -> dict[str, str]:
    known = [shapes[name] for name in _workloads(study, store) if shapes[name] is not None]
    counts = Counter(tuple(shape.items()) for shape in known)
    return dict(counts.most_common(1)[0][0]) if counts else {}
