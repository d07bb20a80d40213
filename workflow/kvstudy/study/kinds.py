"""The kinds of tables and figures, and what all of them have.

A kind is a class derived from ``Exhibit`` in a module of ``present/figures/`` or ``present/tables/``,
with its name as the type of its field ``kind``. It says which keys a study file gives, makes the
rows and shows them. A module is imported when a study uses a kind of it. So it must not import
libraries like Matplotlib at its top, see ``kvstudy.libraries``: every command reads the study, and
most draw nothing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union, get_args

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from kvstudy.errors import InputError
from kvstudy.language.current import _
from kvstudy.language.locale import Place, Text
from kvstudy.study.base import Name, Strict, as_list
from kvstudy.study.naming import check_known, did_you_mean
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.study.model import Study

# How the class of a kind names it.
KIND = re.compile(r'^    kind: Literal\["([\w-]+)"\]', re.M)
# Keys that name a store.
ROLES = ("baseline", "store", "database", "cache")


class Exhibit(Strict):
    """A table or figure of the report: what every kind of them has.

    The class variables say what of a run it is made of: of which of the planned cells, whether of
    the controls or of the probes too, and whether of one cell only, the first measured one.
    """

    # The headline sizes; or those of all cells that run as fast as they can; or the open-loop
    # cells and the trial cells that set their rates.
    cells: ClassVar[Literal["headline", "every size", "open loop", "all", "none"]] = "headline"
    # Whether it tells stores apart, by the spread of all cells that run as fast as they can.
    compares: ClassVar[bool] = False
    controls: ClassVar[bool] = False
    probes: ClassVar[bool] = False
    one_cell: ClassVar[bool] = False
    # Caption of those that a report has by itself, {} is the workload's title.
    own_caption: ClassVar[str] = ""
    # No study names it: the report has it by itself.
    by_itself: ClassVar[bool] = False

    name: Name
    source: Place = Field(default="", description="Its number in the source.")
    caption: Text = Field(description="Its caption in the report.")

    @classmethod
    def automatic(cls, study: Study) -> list[Self]:
        """Return the exhibits that every report of ``study`` has: one, or one per workload."""
        (kind,) = get_args(cls.model_fields["kind"].annotation)
        caption = _(cls.own_caption)
        if "workload" not in cls.model_fields:
            return [cls(name=kind, kind=kind, caption=caption)]
        of_use = {use.name: caption.format(use.title) for use in study.workloads}
        return [
            cls(name=f"{kind}-{name}", kind=kind, caption=text, workload=name)
            for name, text in of_use.items()
        ]

    @property
    def subject(self) -> tuple[str, ...]:
        """Return its identity; an automatic exhibit is left out if the study defines it itself."""
        return tuple(getattr(self, key, "") for key in ("kind", "workload", "store"))

    def workloads_of(self, study: Study) -> list[str]:
        """The workloads of the study that it is of."""
        named = self._named_workloads() or [MEAN]
        return study.workload_names if MEAN in named else named

    def stores_of(self, study: Study) -> list[str]:
        """The stores of the study that it is of, without controls."""
        named = [getattr(self, role) for role in ROLES if hasattr(self, role)]
        return named or getattr(self, "stores", None) or study.store_names

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise InputError when the study in the file ``path`` has not what ``key`` is to show."""
        for name in self._named_workloads():
            check_known(f"{path}: {key}.workload", "workload", name, study.workload_names)
        for role in (*ROLES, "base", "stores"):
            for name in as_list(getattr(self, role, None) or None):
                check_known(f"{path}: {key}.{role}", "store", name, study.store_names)

    def _named_workloads(self) -> list[str]:
        return as_list(getattr(self, "workload", getattr(self, "workloads", None)))


class AnyTable(Exhibit):
    """A table of the report."""

    source: Place = Field(default="", description="Number of the table in the source.")

    def plain_means(self, study: Study) -> bool:
        """Return whether it reproduces a table of the source, with arithmetic means of rates."""
        return bool(self.source and study.source)


class AnyFigure(Exhibit):
    """A figure of the report; what is drawn derives from ``present.drawing.draw.DrawnFigure``."""

    # Else it is text.
    drawn: ClassVar[bool] = True

    source: Place = Field(default="", description="Number of the figure in the source.")

    @property
    def in_overview(self) -> bool:
        """Return whether it is in the comparison of all workloads, or otherwise in a section."""
        return False


class Kinds:
    """The kinds in the modules of ``package``.

    As the annotation of a field of a model it validates a part by its ``kind``.
    """

    def __init__(self, package: str):
        folder = Path(__file__).parents[2].joinpath(*package.split("."))
        # Each with its module, which is not imported to know that.
        self.modules = {
            name: f"{package}.{path.stem}"
            for path in folder.glob("*.py")
            for name in KIND.findall(path.read_text(encoding="utf-8"))
        }
        self.names = sorted(self.modules)

    def __getitem__(self, name: str) -> type[Exhibit]:
        classes = vars(importlib.import_module(self.modules[name])).values()
        (kind,) = (
            value
            for value in classes
            if isinstance(value, type)
            and issubclass(value, Exhibit)
            and "kind" in value.model_fields
            and get_args(value.model_fields["kind"].annotation) == (name,)
        )
        return kind

    @property
    def for_studies(self) -> list[str]:
        """The kinds that a study may name."""
        return [name for name in self.names if not self[name].by_itself]

    def validate(self, value: object) -> Exhibit:
        """The part that the keys and values in ``value`` are; pydantic's errors where they fail."""
        if isinstance(value, Exhibit):
            return value
        if not isinstance(value, dict):
            raise ValueError("must be keys and values")
        if "kind" not in value:
            raise ValueError("kind: is missing; add it")
        kind = str(value["kind"])
        if kind not in self.names or self[kind].by_itself:
            hint = did_you_mean(kind, self.for_studies)
            raise ValueError(f"kind: unknown kind '{kind}'{hint}")
        return self[kind].model_validate(value)

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        dump = core_schema.plain_serializer_function_ser_schema(lambda part: part.model_dump())
        return core_schema.no_info_plain_validator_function(self.validate, serialization=dump)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        union = Union[tuple(self[name] for name in self.for_studies)]  # noqa: UP007
        kinds = TypeAdapter(Annotated[union, Field(discriminator="kind")])
        return handler(kinds.core_schema)


FIGURES = Kinds("kvstudy.present.figures")
Figure = Annotated[AnyFigure, FIGURES]
TABLES = Kinds("kvstudy.present.tables")
Table = Annotated[AnyTable, TABLES]


def added(own: list, parts: Iterable[Exhibit]) -> list:
    """``own``, and those of ``parts`` that it does not name."""
    named = {part.subject for part in own}
    return own + [part for part in parts if part.subject not in named]


def with_automatic(own: list, kinds: Iterable[type[Exhibit]], study: Study) -> list:
    """``own``, and what a report has besides, of ``kinds``: first what is of all workloads."""
    parts = [part for kind in kinds for part in kind.automatic(study)]
    rank = {name: place for place, name in enumerate(study.workload_names, 1)}
    return added(own, sorted(parts, key=lambda part: rank.get(getattr(part, "workload", ""), 0)))


# *Relative performance* is the time of the baseline by that of the store, for the same operations:
# 1:30 says that the store does in one second what takes the baseline 30.
OfRound = Literal["insert", "read", "delete"]


class RoundsExhibit(Strict):
    """Something of a workload with rounds."""

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise InputError for names that the study does not have, or a workload without rounds."""
        from kvstudy.study.workload import properties_of, rounds_of
        from kvstudy.study.ycsb_properties import ROUNDS

        super().check(study, path, key)
        if rounds_of(properties_of(study, study.workload(self.workload))) is None:
            raise InputError(
                f"{path}: {key}.workload: '{self.workload}' has no rounds, so a {self.kind} "
                f"{key.partition('s[')[0]} has no times; name a workload of {ROUNDS}"
            )


class TwoStores(RoundsExhibit):
    """Whose times are compared, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    baseline: Name = Field(description="The store that is the 1 of 1:x.")
    store: Name = Field(description="The store that is compared with it.")


class Caching(RoundsExhibit):
    """A database and what could be a cache before it, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    database: Name = Field(description="The store that holds the records.")
    cache: Name = Field(description="The store that would be its cache.")
