"""The base of all tables and figures of a report, and what several kinds have in common.

A kind is a subclass of ``Exhibit`` in a module of ``exhibits/figures`` or ``exhibits/tables``, with
its name as the type of its field ``kind``, and a line of ``study.kinds``. It defines the keys of a
study file, makes the rows and shows them. Its module must not import libraries like Matplotlib at
the top, see ``kvstudy.libraries``: every command reads the study, and most draw nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self, get_args

from pydantic import Field

from kvstudy.errors import InputError
from kvstudy.language.current import _
from kvstudy.language.locale import Place, Text
from kvstudy.study.base import Name, Strict, as_list
from kvstudy.study.combinations import series_of
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import properties_of, rounds_of
from kvstudy.study.ycsb_properties import ROUNDS

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
    # In place of it in a study without a source.
    caption_without_source: ClassVar[str] = ""
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
        if cls.caption_without_source and not study.source:
            caption = _(cls.caption_without_source)
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
    """A figure of the report; what is drawn derives from ``exhibits.figure.DrawnFigure``."""

    # Else it is text.
    drawn: ClassVar[bool] = True

    source: Place = Field(default="", description="Number of the figure in the source.")

    @property
    def in_overview(self) -> bool:
        """Return whether it is in the comparison of all workloads, or otherwise in a section."""
        return False


# *Relative performance* is the time of the baseline divided by that of the store, for the same
# operations: 1:30 means that the store needs one second where the baseline needs 30.
OfRound = Literal["insert", "read", "delete"]


class RoundsExhibit(Strict):
    """An exhibit of a workload with rounds."""

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise InputError for names that the study does not have, or a workload without rounds."""
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


def check_lines(part: Exhibit, study: Study, path: Path, key: str) -> None:
    """Raise InputError when a line of ``part`` over the size ``part.over`` has no cells on it."""
    if getattr(part.where, part.over) is not None:
        raise InputError(
            f"{path}: {key}.where.{part.over}: is what the lines go over; remove the key"
        )
    workloads = part.workloads_of(study)
    for line in series_of(study, part.over, part.where, workloads, study.store_names[:1]):
        if len(line.points) < 2:
            sizes = " and ".join(f"{number} {size}" for size, number in line.fixed)
            raise InputError(
                f"{path}: {key}.where: workload '{line.workload}' has {len(line.points)} cells "
                f"over {part.over} with {sizes}; it takes two or more"
            )
