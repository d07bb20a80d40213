"""The records of a workload: the class that makes them, and the names of their fields.

Stores with a table need its columns before the first record comes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kvstudy.errors import KvstudyError
from kvstudy.study import rounds

CORE = "site.ycsb.workloads.CoreWorkload"
# CoreWorkload with named fields, of kvstudy's bindings.
RECORD = "kvstudy.workload.RecordWorkload"
# What a workload class reads beside CoreWorkload's properties; of any other nothing is known.
OF_CLASS = {
    CORE: frozenset(),
    RECORD: frozenset({"record.fields", "record.keyprefix"}),
    rounds.WORKLOAD: frozenset(rounds.PROPERTIES),
}

# As in RecordField.java; lower case, since SQL does not tell letters apart.
_FIELD = re.compile(r"([a-z][a-z0-9_]*):(text|number):([1-9]\d{0,5})-([1-9]\d{0,5})")
# YCSB's own records.
_COUNT, _PREFIX = "10", "field"


def class_of(properties: dict[str, str]) -> str:
    """The Java class of the workload."""
    return properties.get("workload", CORE)


def field_names(properties: dict[str, str]) -> list[str]:
    """The fields of a record in their order, for properties that ``check_record`` has passed."""
    if record := named_record(properties):
        return [field.name for field in record.fields]
    count = int(properties.get("fieldcount", _COUNT))
    return [f"{properties.get('fieldnameprefix', _PREFIX)}{number}" for number in range(count)]


@dataclass(frozen=True)
class NamedField:
    """A field of a record: ``kind`` is text or number, sizes are in bytes."""

    name: str
    kind: str
    shortest: int
    longest: int


@dataclass(frozen=True)
class NamedRecord:
    """What a record with named fields looks like; ``lengths`` is the distribution of sizes."""

    fields: tuple[NamedField, ...]
    lengths: str
    key_prefix: str


def named_record(properties: dict[str, str]) -> NamedRecord | None:
    """The record of properties that ``check_record`` has passed; None where it is YCSB's own."""
    if class_of(properties) != RECORD:
        return None
    matches = [_FIELD.fullmatch(field) for field in properties["record.fields"].split()]
    return NamedRecord(
        tuple(NamedField(m[1], m[2], int(m[3]), int(m[4])) for m in matches),
        properties.get("fieldlengthdistribution", "constant"),
        properties.get("record.keyprefix", "user"),
    )


def check_record(place: str, properties: dict[str, str]) -> None:
    """KvstudyError (naming ``place``) when no record can be made of the properties."""
    count = properties.get("fieldcount", _COUNT)
    if not re.fullmatch(r"[1-9]\d{0,3}", count):
        raise KvstudyError(f"{place}: fieldcount: '{count}' is no number of fields; give 1 to 9999")
    if class_of(properties) != RECORD:
        return
    if not properties.get("record.fields"):
        raise KvstudyError(
            f"{place}: record.fields: is missing; {RECORD} needs the record's fields, "
            "like name:text:1-100 price:number:1-4"
        )
    names = []
    for field in properties["record.fields"].split():
        match = _FIELD.fullmatch(field)
        if not match or int(match[3]) > int(match[4]):
            raise KvstudyError(
                f"{place}: record.fields: '{field}': give each field as name:text:1-100 or "
                "name:number:1-4, sizes in bytes, the smaller first, names in lower case"
            )
        names.append(match[1])
    for name in names:
        if names.count(name) > 1:
            raise KvstudyError(
                f"{place}: record.fields: '{name}' stands there twice; give another name"
            )
