"""The probe of a store: a short measurement of what one operation makes its server do.

Its steps run one after the other on one server. Updates of all fields come before
updates of one: they leave whole records behind, so the latter start from what was
loaded. Keys are drawn uniformly, and often enough that about every one is drawn.
A step on a slow machine ends by its time; what it had done by then counts.
"""

from dataclasses import dataclass

from kvstudy.study.base import Operation
from kvstudy.study.model import Study
from kvstudy.study.workload import class_of, properties_of
from kvstudy.study.ycsb_properties import RECORD

# What a finished probe has found out, beside YCSB's logs.
FACTS = "probe.json"

# The first records are loaded; behind them are keys that never are.
RECORDS = 1_000
UNKNOWN = 100
THREADS = 4
SCANNED = 10
SECONDS = 10

# What a study may say about its records; the probe's are the same.
SHAPE = (
    *("fieldcount", "fieldlength", "fieldlengthdistribution", "fieldnameprefix"),
    *("minfieldlength", "readallfields", "readallfieldsbyname", "table"),
)


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
    Step("read", "read", 10_000),
    Step("scan", "scan", 1_000),
    Step("update-all", "update", 10_000, all_fields=True),
    Step("update", "update", 10_000),
    Step("read-missing", "read", 1_000, RECORDS, UNKNOWN),
    Step("update-missing", "update", 1_000, RECORDS + UNKNOWN, UNKNOWN),
    # Whether that has created them.
    Step("read-updated", "read", 1_000, RECORDS + UNKNOWN, UNKNOWN),
)


def planned(study: Study) -> dict[str, dict]:
    """For each of the study's stores, by name, what its probe depends on.

    ``shape`` are the YCSB properties of the study that shape its records; where all of its
    workloads have the same record with named fields, also those that make it.
    """
    texts = study.parameters.property_texts
    shape = {name: texts[name] for name in SHAPE if name in texts}
    # What makes a record with named fields; nothing for any other.
    parts = ("workload", "record.fields", "record.keyprefix", "fieldlengthdistribution")
    workloads = [properties_of(study, use) for use in study.workloads]
    records = [
        {name: of[name] for name in parts if name in of and class_of(of) == RECORD}
        for of in workloads
    ]
    if all(record == records[0] for record in records):
        shape |= records[0]
    return {
        use.name: {"store": use.store, "options": dict(use.options), "shape": shape}
        for use in study.stores
    }
