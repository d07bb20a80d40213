"""YCSB workload files: Java property files, read strictly.

YCSB ignores a property that it does not know and then uses its default, so a
typing error would measure another workload without a word. Here it is an error.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from kvstudy.errors import InputError
from kvstudy.study.base import MOST
from kvstudy.study.combinations import Combination
from kvstudy.study.model import Study
from kvstudy.study.naming import check_printable
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.reading import read_text
from kvstudy.study.ycsb_properties import (
    CORE,
    LONGEST_ECHO,
    PROPERTIES,
    RECORD,
    ROUNDS,
    ROUNDS_PROPERTIES,
    joint_problems,
    property_problems,
    proportions_of,
    takes_blanks,
)

WORKLOADS = Path("workloads")

# YCSB counts these; a study gives their values, a workload file only its defaults.
SIZES = ("recordcount", "operationcount")

# Where the client writes the sums of latencies of each round, next to its log.
ROUNDS_FILE = "rounds.csv"
# As in RecordField.java; lower case, since SQL does not tell letters apart.
_FIELD = re.compile(r"([a-z][a-z0-9_]*):(text|number):([1-9]\d{0,5})-([1-9]\d{0,5})")


def class_of(properties: dict[str, str]) -> str:
    """The Java class of the workload."""
    return properties.get("workload", CORE)


def field_names(properties: dict[str, str]) -> list[str]:
    """The fields of a record in their order, for properties that ``named_record`` has passed."""
    if record := named_record(properties):
        return [field.name for field in record.fields]
    values = {name: PROPERTIES[name].default for name in ("fieldcount", "fieldnameprefix")}
    values |= properties
    return [f"{values['fieldnameprefix']}{number}" for number in range(int(values["fieldcount"]))]


class NamedField(NamedTuple):
    """A field of a record: ``kind`` is text or number, sizes are in bytes."""

    name: str
    kind: str
    shortest: int
    longest: int


@dataclass(frozen=True)
class NamedRecord:
    """The form of a record with named fields; ``lengths`` is the distribution of sizes."""

    fields: tuple[NamedField, ...]
    lengths: str
    key_prefix: str


def named_record(properties: dict[str, str], place: str = "") -> NamedRecord | None:
    """The record of the properties, None where it is YCSB's own.

    InputError (naming ``place``) when no record can be made of them.
    """
    if class_of(properties) != RECORD:
        return None
    fields: dict[str, NamedField] = {}
    for text in properties.get("record.fields", "").split():
        match = _FIELD.fullmatch(text)
        if not match or int(match[3]) > int(match[4]):
            raise InputError(
                f"{place}: record.fields: '{text}': give each field as name:text:1-100 or "
                "name:number:1-4, sizes in bytes, the smaller first, names in lower case"
            )
        name, kind, shortest, longest = match.groups()
        if name in fields:
            raise InputError(f"{place}: record.fields: '{name}' appears twice; give another name")
        fields[name] = NamedField(name, kind, int(shortest), int(longest))
    if not fields:
        raise InputError(
            f"{place}: record.fields: is missing; {RECORD} needs the record's fields, "
            "like name:text:1-100 price:number:1-4"
        )
    return NamedRecord(
        tuple(fields.values()),
        properties.get("fieldlengthdistribution", "constant"),
        properties.get("record.keyprefix", "user"),
    )


def project_workloads() -> list[str]:
    """The names of the workload files that the project has."""
    return sorted(path.name for path in WORKLOADS.iterdir() if path.is_file())


def load_workload(path: Path) -> dict[str, str]:
    """The properties of the workload file ``path``; InputError names file, line and key."""
    text = read_text(path)
    check_printable(path, text)
    properties: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        name, equals, value = (part.strip() for part in stripped.partition("="))
        if not (equals and name):
            raise InputError(f"{path}:{number}: '{stripped}' is not a line 'name=value'")
        if name in lines:
            raise InputError(
                f"{path}:{number}: '{name}' appears twice, first in line {lines[name]}; keep "
                "one of them"
            )
        if comment := re.search(r"\s#.*", value):
            raise InputError(
                f"{path}:{number}: {name}: YCSB takes '{comment[0].strip()}' for a part of the "
                "value; write the comment on a line of its own"
            )
        if "\\" in stripped:
            # Java reads \t, \u0041 and a line that ends in one in ways of its own.
            raise InputError(f"{path}:{number}: has a backslash, which YCSB drops; remove it")
        if value and line != line.rstrip() and not takes_blanks(name):
            raise InputError(
                f"{path}:{number}: {name}: YCSB takes the blank at the end of the line for a part "
                "of the value; remove it"
            )
        properties[name] = value
        lines[name] = number
    problems = chain(
        property_problems(properties, [class_of(properties)]), joint_problems(properties)
    )
    for name, problem in problems:
        raise InputError(f"{path}:{lines[name]}: {name[:LONGEST_ECHO]}: {problem}")
    named_record(properties, str(path))
    return properties


def operations_of(properties: dict[str, str]) -> list[str]:
    """The operations that the workload's measured phase performs, in YCSB's order."""
    if load_only(properties):
        return ["insert"]
    if rounds_of(properties):
        return ["read", "insert", "delete"]
    return [operation for operation, share in proportions_of(properties).items() if share > 0]


def divisible(properties: dict[str, str], timed: bool) -> bool:
    """Return whether several clients can share the measured phase.

    Each inserts keys of its own, and of those of the others it knows nothing: where it also reads,
    it would miss them, and in a ``timed`` run nobody knows how many keys each one needs.
    """
    # Rounds empty the table.
    if rounds_of(properties):
        return False
    operations = operations_of(properties)
    inserts_only = load_only(properties) or (operations == ["insert"] and not timed)
    return "insert" not in operations or inserts_only


def main_operation(properties: dict[str, str]) -> str:
    """The operation that the workload asks for most; the first in YCSB's order of several."""
    shares = proportions_of(properties)
    return max(operations_of(properties), key=lambda operation: shares.get(operation, 0))


def load_only(properties: dict[str, str]) -> bool:
    """True for a workload without a run phase (operationcount=0): its load is measured."""
    return properties.get("operationcount") == "0"


def properties_of(study: Study, use: WorkloadUse) -> dict[str, str]:
    """All YCSB properties of a workload: those of its file, over them the study's, then its own."""
    in_file = load_workload(WORKLOADS / use.file)
    return in_file | study.parameters.property_texts | use.property_texts


@dataclass(frozen=True)
class Rounds:
    """The numbers of warm-up rounds, measured rounds, and deletes per round."""

    warmup: int
    measured: int
    deletes: int

    @property
    def number(self) -> int:
        """All rounds."""
        return self.warmup + self.measured

    def counts(self, records: int, reads: int) -> dict[str, int]:
        """Return the number of each operation in a round."""
        return {"insert": records, "read": reads, "delete": min(records, self.deletes)}

    def executed(self, records: int, reads: int) -> int:
        """All operations of the run phase."""
        return self.number * sum(self.counts(records, reads).values()) - records


def rounds_of(properties: Mapping[str, str]) -> Rounds | None:
    """The rounds of a workload with these YCSB properties; None for one without rounds."""
    if properties.get("workload") != ROUNDS:
        return None
    values = {name: each.default for name, each in ROUNDS_PROPERTIES.items()} | dict(properties)
    return Rounds(*(int(values[name]) for name in ROUNDS_PROPERTIES))


def key_of_read(number: int) -> int:
    """The key of the read with this number (from 0 on), as in the Java class."""
    return 1 + number % 200 * number % 200


def hits_of(records: int, reads: int) -> int:
    """Return the number of reads in a round that request one of the keys 1 to ``records``."""
    return sum(key_of_read(number) <= records for number in range(reads))


def rounds_problems(properties: dict[str, str], several: list[Combination]) -> Iterator[str]:
    """Return why a workload with rounds of these sizes cannot be measured, with the remedy."""
    if properties.get("fieldcount") != "1":
        yield "fieldcount: a record of the rounds is one field; give 1"
    if any(sizes.threads != 1 for sizes in several):
        yield "threads: the rounds have one thread; give 1"
    for sizes in several:
        executed = rounds_of(properties).executed(sizes.records, sizes.operations)
        if executed > MOST:
            yield (
                f"with {sizes.records} records, its rounds have {executed} operations, and YCSB "
                f"counts to {MOST}; give less"
            )
