"""Numbers in the text of a source (``config/studies/<study>/quotes.yaml``).

Each quoted number is next to what it should equal: an expression over the values that
the source's tables give.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from kvstudy.language.locale import Noted, Place
from kvstudy.study.base import CLAIM_ID, Asked, Count, Name, Operation, Strict
from kvstudy.study.load import known_stores
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN
from kvstudy.study.published import KEYS, read_rows
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import project_workloads

NUMBER = r"^-?\d+(\.\d+)?$"
WORD = r"(?:\*|[a-z][a-z0-9-]*)"
OPERATION = r"(?:\*|[a-z][a-z+-]*)"
ADDRESS = rf"^{WORD}/{WORD}/{OPERATION}/[a-z0-9_]+( (records|operations|threads)=\d+)*$"


def is_number(text: str) -> bool:
    """Return whether it is a printed number, and not an address."""
    return re.match(NUMBER, text) is not None


def _digits(value: object) -> object:
    """Whole numbers keep their digits in YAML, others only as text."""
    if isinstance(value, float):
        raise ValueError("loses digits without quotation marks; give it as text")
    text = str(value)
    if not is_number(text):
        raise ValueError("is no number like '5081.13' or '-20'; leave unit and groups out")
    return text


def _operand(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, dict | Computed | str | int | float):
        raise ValueError("must be an address, a number, or a key like 'ratio: [...]'")
    if isinstance(value, str) and not is_number(value) and not re.match(ADDRESS, value):
        raise ValueError(
            "is no store/workload/operation/metric, with sizes behind it like ' threads=4'"
        )
    return value


Printed = Annotated[
    str,
    BeforeValidator(_digits),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": NUMBER}, {"type": "integer"}]}),
]


class Computed(Strict):
    """A number computed from others; exactly one key."""

    ratio: Two | None = Field(default=None, description="The first divided by the second.")
    change: Two | None = Field(
        default=None, description="How much more the first is than the second, in % of the second."
    )
    difference: Two | None = Field(default=None, description="The first minus the second.")
    product: Some | None = Field(default=None, description="All of them multiplied.")
    sum: Some | None = Field(default=None, description="All of them added.")
    mean: Some | None = Field(default=None, description="Their arithmetic mean.")
    least: Some | None = Field(default=None, description="The smallest of them.")
    most: Some | None = Field(default=None, description="The largest of them.")

    @model_validator(mode="after")
    def _one_key(self) -> Computed:
        if len(self.model_fields_set) != 1 or self.parts is None:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}")
        divisor = str(self.parts[1]) if self.how in ("ratio", "change") else ""
        if is_number(divisor) and float(divisor) == 0:
            raise ValueError(f"{self.how}: divides by 0; give another second value")
        return self

    @property
    def how(self) -> str:
        """Return the key that is given."""
        (name,) = self.model_fields_set
        return name

    @property
    def parts(self) -> list:
        return getattr(self, self.how)


# An address, or a number as it is printed.
Text = Annotated[str, WithJsonSchema({"type": "string", "pattern": f"{ADDRESS}|{NUMBER}"})]
Operand = Annotated[Computed | Text | float, BeforeValidator(_operand)]
Two = Annotated[list[Operand], Field(min_length=2, max_length=2)]
Some = Annotated[list[Operand], Field(min_length=1)]
Computed.model_rebuild()


class PublishedSetup(Strict):
    """The source's setup, as far as the audit needs it and the tables do not give it."""

    threads: Count | None = Field(default=None, description="Client threads of every cell.")
    runs: Count | None = Field(default=None, description="Runs that each printed value averages.")
    operations: dict[Name, Count] = Field(
        default={}, description="Operations of a run, by workload or by operation."
    )
    decimals: int = Field(
        default=0,
        ge=0,
        description="Decimals of the tables that leave out `.00`: a whole number is as exact.",
    )


class StatedFailures(Strict):
    "Failed operations that the source mentions."

    place: Place = Field(description="Where the source says it.")
    store: Name = Field(description="The store.")
    operation: Operation = Field(description="The operation that failed.")
    percent: Printed = Field(description="Share of these operations that failed, in %.")


class Quote(Strict):
    """A number in the source's text."""

    place: Place = Field(description="The place: section, page or paragraph.")
    says: Noted = Field(description="A description in a few English words.")
    value: Printed = Field(
        description="The number with all its printed digits (a decimal point, a minus where it is "
        "'less'); in quotation marks unless whole."
    )
    unit: str = Field(default="", description="Its unit; % for shares and changes.")
    about: bool = Field(
        default=False,
        description="The source says about: zeros at the end of the number are not exact.",
    )
    relation: Literal["equal", "at least", "at most"] = Field(
        default="equal", description="The relation of the expected to the quoted number."
    )
    expected: Operand | None = Field(
        default=None,
        description="What the number should equal: an address (store/workload/operation/metric "
        "of published.csv, with `*` for any, and with sizes behind where there are several: "
        "`redis/a/overall/throughput threads=4`), a number (in quotation marks: one that is "
        "printed so, and rounded), or a computation of these. Left out where no table of the "
        "source shows.",
    )
    note: Noted = Field(default="", description="A remark, for example on a slip of the pen.")
    claim: Annotated[str, Field(pattern=rf"^{CLAIM_ID}/[1-9][0-9]*(/{WORD})?$")] | None = Field(
        default=None,
        description="Where claims.yaml claims it too: the claim, which of its statements, and the "
        "workload if the number is of one, for example J4/1 or J4/1/b. What does not fit is then "
        "not supported by the source's own data.",
    )


class Quotes(Strict):
    """The numbers in the text of a study's source."""

    setting: PublishedSetup = Field(
        default_factory=PublishedSetup, description="How the source measured."
    )
    failures: list[StatedFailures] = Field(
        default=[], description="Failed operations that the source mentions."
    )
    quotes: list[Quote] = Field(default=[], description="The numbers in its text.")


def load_quotes(path: Path, study: Study, published: Path | None) -> Quotes:
    """The quotes in ``path``; KvstudyError for what the study or ``published`` does not have."""
    said = read_yaml(path, Quotes)
    settings = [*study.workload_names, MEAN, *project_workloads(), *get_args(Asked)]
    for name in said.setting.operations:
        check_known(f"{path}: setting.operations", "workload or operation", name, settings)
    for index, failure in enumerate(said.failures):
        check_known(f"{path}: failures[{index}].store", "store", failure.store, known_stores(study))
    if published is None:
        return said
    rows = read_rows(published)
    known = {key: list(dict.fromkeys(row[key] for row in rows)) for key in KEYS}
    for index, quote in enumerate(said.quotes):
        for address in addresses(quote.expected):
            where = f"quotes[{index}].expected: {address}"
            for kind, name in split_address(address)[0].items():
                if name != "*":
                    check_known(f"{path}: {where}", f"{kind} of published.csv", name, known[kind])
    return said


def addresses(operand) -> list[str]:
    """All addresses in an expression."""
    if isinstance(operand, Computed):
        return [address for part in operand.parts for address in addresses(part)]
    return [operand] if isinstance(operand, str) and not is_number(operand) else []


def split_address(address: str) -> tuple[dict[str, str], dict[str, float]]:
    """Store, workload, operation and metric of an address, and its sizes."""
    path, *sizes = address.split(" ")
    keys = dict(zip(KEYS, path.split("/"), strict=False))
    return keys, {name: float(number) for name, number in (size.split("=") for size in sizes)}
