"""The content of a study file (``config/studies/<study>/study.yaml``).

These models validate the file, and they are the source of its JSON schema
(``workflow/schemas/study.schema.json``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, PrivateAttr, field_validator, model_validator

from kvstudy.language.current import _
from kvstudy.language.locale import Text
from kvstudy.study.base import Count, Name, Strict, as_list
from kvstudy.study.kinds import FIGURES, TABLES, Figure, Table
from kvstudy.study.parts import (
    MEAN,
    ExpectedFailures,
    Imported,
    OpenLoop,
    Parameters,
    Source,
    StoreUse,
    UntilDecided,
    WorkloadUse,
)

# The scalability law needs so many (stats.laws.LEAST_COUNTS).
THREADS_FOR_SCALING = 6


def with_further(exhibits: list, parts: Iterable[Strict]) -> list:
    """Return the study's exhibits, and those ``parts`` that it does not define itself."""
    subjects = {part.subject for part in exhibits}
    return exhibits + [part for part in parts if part.subject not in subjects]


class Study(Strict):
    """One research question: stores x workloads x parameters x repetitions."""

    name: Name = Field(description="Name of the study's folder.")
    title: Text = Field(description="Title of the report.")
    question: Text = Field(description="The question of the study, in one or two sentences.")
    source: Source | None = Field(
        default=None, description=("The publication that the study reproduces.")
    )
    stores: Annotated[list[StoreUse], Field(min_length=1)] = Field(
        description="The stores, in the order of tables and figures."
    )
    workloads: Annotated[list[WorkloadUse], Field(min_length=1)] = Field(
        description="The workloads, in the order of tables and figures."
    )
    parameters: Parameters = Field(description="Sizes of the cells.")
    planned_repetitions: Count | UntilDecided = Field(
        alias="repetitions",
        description="Measurements of each cell, each on a fresh server: a number, or {from: 3, "
        "to: 12} to stop when every comparison is decided.",
    )
    seed: int = Field(default=1, description="Seed of the random order of the cells.")
    baseline: Name | None = Field(
        default=None,
        description="The reference store of the first page. Default: the first one that was "
        "measured.",
    )
    noise_floor: bool | Name = Field(
        default=True,
        description="Measure one store twice in every repetition, to see how much equal stores "
        "differ by chance: its name, true for the first one, or false.",
    )
    client_ceiling: bool = Field(
        default=True,
        description="Also measure YCSB without a store, to see the client's maximum.",
    )
    trimmed_mean: bool = Field(
        default=False,
        description="Also give trimmed means, without the smallest and the largest fifth of the "
        "repetitions, as some sources do. Needs five repetitions.",
    )
    store_pages: bool = Field(
        default=False,
        description="Add a page for each store to the report, with all of its workloads.",
    )
    expected_failures: list[ExpectedFailures] = Field(
        default=[], description="Failed operations that are expected."
    )
    open_loop: OpenLoop | None = Field(
        default=None,
        description="Open-loop cells, at fixed rates; `true`: two loads, all workloads.",
        json_schema_extra=lambda schema: schema["anyOf"].append({"type": "boolean"}),
    )
    tables: list[Table] = Field(default=[], description="Tables of the report, in order.")
    figures: list[Figure] = Field(default=[], description="Figures of the report, in order.")
    choices: list[Text] = Field(
        default=[], description="Choices of this study where the source is unclear or not followed."
    )
    imported: Imported | None = Field(
        default=None,
        description="Set (true, or its keys) if the cells come from `kvstudy import`: nothing "
        "is measured, and a cell without a log is a gap.",
    )

    # Of a run that is measured until all is decided: how many repetitions it has.
    _reached: int | None = PrivateAttr(None)
    # How many of the tables and figures the file names; the others come with every report.
    _own_tables: int = PrivateAttr(0)
    _own_figures: int = PrivateAttr(0)

    @field_validator("imported", "open_loop", mode="before")
    @classmethod
    def _on_or_off(cls, value: object) -> object:
        return ({} if value else None) if isinstance(value, bool) else value

    @model_validator(mode="after")
    def _enough_to_trim(self) -> Study:
        if self.trimmed_mean and self.repetitions < 5:
            raise ValueError(
                f"trimmed_mean needs 5 repetitions or more, there are {self.repetitions}"
            )
        return self

    @model_validator(mode="after")
    def _always_with_checks(self) -> Study:
        """Add the tables of every report, which show what the others compare."""
        self._own_tables, self._own_figures = len(self.tables), len(self.figures)
        names = ["grid", "operations", "ratios", "bottleneck", "validity", "runs", "percentiles"]
        names += ["trimmed"] if self.trimmed_mean else []
        for use in self.workloads:
            lists = [use.threads or self.parameters.threads, *(sizes.threads for sizes in use.also)]
            if len({number for value in lists for number in as_list(value)}) >= THREADS_FOR_SCALING:
                names.append("scaling")
                break
        names += ["store"] if self.store_pages else []
        tables = self._with_automatic(self.tables, [TABLES[name] for name in names])
        kinds = [FIGURES[name] for name in ("run-order", "ratios", "spectrum")]
        figures = self._with_automatic(self.figures, kinds)
        object.__setattr__(self, "tables", tables)
        object.__setattr__(self, "figures", figures)
        return self

    def _with_automatic(self, exhibits: list[Strict], kinds: Iterable[type[Strict]]) -> list:
        """Return the exhibits and automatic ones of ``kinds``, those of all workloads first."""
        parts = [part for kind in kinds for part in kind.automatic(self)]
        position = {name: number for number, name in enumerate(self.workload_names, 1)}
        parts.sort(key=lambda part: position.get(getattr(part, "workload", ""), 0))
        return with_further(exhibits, parts)

    @property
    def until(self) -> UntilDecided | None:
        """Return the stopping rule; None if the number of repetitions is fixed."""
        planned = self.planned_repetitions
        return planned if isinstance(planned, UntilDecided) else None

    @property
    def repetitions(self) -> int:
        """Return the number of repetitions; the maximum if it is unknown."""
        return self._reached or self.most_repetitions

    @property
    def most_repetitions(self) -> int:
        """Return the maximum number of repetitions."""
        return self.until.last if self.until else self.planned_repetitions

    @property
    def recorded_repetitions(self) -> int | dict[str, float]:
        """Return the file's repetitions as cells record them."""
        said = self.model_dump(include={"planned_repetitions"}, exclude_none=True)
        return said["repetitions"]

    def with_repetitions(self, number: int) -> Study:
        """The study with so many of them, as a run of it has."""
        changed = {} if self.until else {"planned_repetitions": number}
        study = self.model_copy(update=changed)
        study._reached = number if self.until else None
        return study

    @property
    def automatic_names(self) -> dict[str, set[str]]:
        """Names of the ``tables`` and ``figures`` that the file does not name itself; come last."""
        parts = {"tables": self.tables[self._own_tables :]}
        parts["figures"] = self.figures[self._own_figures :]
        return {key: {part.name for part in of} for key, of in parts.items()}

    def tables_of(self, kind: str) -> list[Table]:
        """In the study's order."""
        return [table for table in self.tables if table.kind == kind]

    def figures_of(self, kind: str) -> list[Figure]:
        """In the study's order."""
        return [figure for figure in self.figures if figure.kind == kind]

    @property
    def drawn_figures(self) -> list[Figure]:
        """All but transcripts, which are text."""
        return [figure for figure in self.figures if figure.drawn]

    def with_open_loop(self) -> Study:
        """The study with a table and a figure for each workload of its open loop."""
        update: dict = {}
        for key, kinds in (("tables", TABLES), ("figures", FIGURES)):
            parts = {part.workload: part for part in kinds["open-loop"].automatic(self)}
            update[key] = getattr(self, key) + [parts[name] for name in self.open_loop.workloads]
        return self.model_copy(update=update)

    @property
    def store_names(self) -> list[str]:
        """Return the study's names of its stores, in its order."""
        return [use.name for use in self.stores]

    @property
    def workload_names(self) -> list[str]:
        """The workloads, in the order of tables and figures."""
        return [use.name for use in self.workloads]

    def workload(self, name: str) -> WorkloadUse:
        """The workload called ``name``, or their mean; KeyError when the study has none."""
        for use in self.workloads:
            if use.name == name:
                return use
        if name == MEAN and len(self.workloads) > 1:
            return WorkloadUse(name=MEAN, title=_("Mean of the workloads"), short=_("Mean"))
        raise KeyError(name)


class Design(Study):
    """The measured part of a study, without tables and figures.

    Their kinds take a tenth of a second to load, which each cell would pay.
    """

    @field_validator("tables", "figures", mode="before")
    @classmethod
    def _left_out(cls, value: object) -> list:
        return []

    def _always_with_checks(self) -> Study:
        return self
