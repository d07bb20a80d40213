"""The kinds of tables and figures, and their common base.

A kind is a subclass of ``Exhibit`` in a module of ``present/figures/`` or ``present/tables/``, with
its name as the type of its field ``kind``. It defines the keys of a study file, makes the rows and
shows them. ``FIGURES`` and ``TABLES`` list the kinds with their modules, which are imported when a
study uses them. They must not import libraries like Matplotlib at the top, see
``kvstudy.libraries``: every command reads the study, and most draw nothing.
"""

from __future__ import annotations

import importlib
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


# Keys that name a store.
ROLES = ("baseline", "store", "database", "cache")


class Exhibit(Strict):
    """A table or figure of the report: the base of all kinds.

    The class variables define the part of a run that it uses: which planned cells, also controls or
    probes, and whether only one cell, the first measured one.
    """

    # The headline sizes; or all closed-loop cells; or open-loop cells with their trial cells.
    cells: ClassVar[Literal["headline", "every size", "open loop", "all", "none"]] = "headline"
    # It decides between stores, by the spread of all closed-loop cells.
    compares: ClassVar[bool] = False
    controls: ClassVar[bool] = False
    probes: ClassVar[bool] = False
    one_cell: ClassVar[bool] = False
    # Caption of an automatic exhibit; {} is the workload's title.
    own_caption: ClassVar[str] = ""
    # A template of the report places it; others are at the end of its results.
    in_template: ClassVar[bool] = False
    # Every report has it; a study cannot name it.
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
    """The kinds in a ``package``: ``modules`` by module name.

    As the annotation of a field of a model it validates an exhibit by its ``kind``.
    """

    def __init__(self, package: str, modules: dict[str, list[str]]):
        self.modules = {
            name: f"{package}.{module}" for module, names in modules.items() for name in names
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


FIGURES = Kinds(
    "kvstudy.present.figures",
    {
        "bars": ["bars", "averages"],
        "curves": ["curves"],
        "heatmap": ["heatmap"],
        "latencies": ["box", "spectrum"],
        "open_loop": ["open-loop"],
        "ratios": ["ratios"],
        "rounds": ["relative", "break-even"],
        "run_order": ["run-order"],
        "scatter": ["scatter"],
        "separation": ["separation"],
        "time": ["time"],
        "tradeoff": ["tradeoff"],
        "transcript": ["transcript"],
    },
)
Figure = Annotated[AnyFigure, FIGURES]
TABLES = Kinds(
    "kvstudy.present.tables",
    {
        "comparison": ["comparison"],
        "grid": ["grid"],
        "latencies": ["percentiles", "open-loop"],
        "pairs": ["ratios", "ranking"],
        "results": ["results"],
        "rounds": ["relative", "break-even"],
        "setting": ["machine", "properties", "operations"],
        "sizes": ["sweep", "scaling"],
        "source": ["audit", "scoreboard"],
        "stores": ["runs", "bottleneck", "trimmed", "validity", "store"],
    },
)
Table = Annotated[AnyTable, TABLES]


def added(exhibits: list, parts: Iterable[Exhibit]) -> list:
    """Return the study's exhibits, and those ``parts`` that it does not define itself."""
    subjects = {part.subject for part in exhibits}
    return exhibits + [part for part in parts if part.subject not in subjects]


def with_automatic(exhibits: list, kinds: Iterable[type[Exhibit]], study: Study) -> list:
    """Return the study's exhibits and automatic ones of ``kinds``, those of all workloads first."""
    parts = [part for kind in kinds for part in kind.automatic(study)]
    position = {name: number for number, name in enumerate(study.workload_names, 1)}
    return added(
        exhibits, sorted(parts, key=lambda part: position.get(getattr(part, "workload", ""), 0))
    )


# *Relative performance* is the time of the baseline divided by that of the store, for the same
# operations: 1:30 means that the store needs one second where the baseline needs 30.
OfRound = Literal["insert", "read", "delete"]


class RoundsExhibit(Strict):
    """An exhibit of a workload with rounds."""

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
    """An exhibit that compares the times of two stores under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    baseline: Name = Field(description="The store that is the 1 of 1:x.")
    store: Name = Field(description="The store that is compared with it.")


class Caching(RoundsExhibit):
    """An exhibit of a database and a possible cache, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    database: Name = Field(description="The store that holds the records.")
    cache: Name = Field(description="The store that would be its cache.")
