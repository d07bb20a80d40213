"""What a kind of table does, what it is made of, and what several kinds share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kvstudy.analyse.tidy.numbers import between, significant
from kvstudy.language.current import _
from kvstudy.libraries import pd
from kvstudy.present.typeset.grid import Grid, Line, Section, texts
from kvstudy.present.typeset.markup import rejected_note
from kvstudy.study.kinds import AnyTable

if TYPE_CHECKING:
    from kvstudy.analyse.findings.files import Analysis
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.probes import Probes
    from kvstudy.analyse.tidy.results import Results
    from kvstudy.analyse.tidy.swept import Swept
    from kvstudy.present.typeset.source import Source
    from kvstudy.study.model import Study


@dataclass(frozen=True)
class RunValues:
    """What the tables of a run are made from.

    ``titles`` and ``meanings`` are what each store and its operations are called; ``swept``
    and ``scalings`` (``findings.scaling``) have all sizes, ``results`` and ``analysis`` the
    headline sizes. ``environment`` is the content of the file ``environment_path``. ``audited``
    are the checks of the source (``audit.files``), if it has any.
    """

    study: Study
    results: Results
    probes: Probes
    analysis: Analysis
    environment: dict
    environment_path: Path
    titles: dict[str, str]
    meanings: dict[str, dict[str, str]]
    swept: Swept
    scalings: pd.DataFrame
    audited: pd.DataFrame | None = None


def run_values(run: Run) -> RunValues:
    """The values of a finished ``run``; KvstudyError names a file that is missing or broken."""
    from kvstudy.analyse.findings.scaling import scaling
    from kvstudy.study.cells import sizes

    return RunValues(
        study=run.study,
        results=run.results_of_runs,
        probes=run.probes,
        analysis=run.headline_analysis,
        environment=run.environment,
        environment_path=run.folder / "environment.json",
        titles=run.titles,
        meanings={name: store.operations for name, store in run.stores.items()},
        swept=run.swept,
        scalings=scaling(run.values, sizes(run.study, run.scale)),
        audited=run.audit,
    )


class Table(AnyTable):
    """A kind of table: its rows, and how they are shown."""

    def rows(self, run: RunValues) -> pd.DataFrame:
        """What the table shows of a run, unrounded: its CSV."""
        raise NotImplementedError

    def grids(self, rows: pd.DataFrame, run: RunValues) -> list[Grid]:
        """How the rows are shown: tables below each other, most often one."""
        raise NotImplementedError

    def published_rows(self, source: Source) -> pd.Series:
        """Which values of its source the table shows without a run, as True and False."""
        return source.values["table"].eq(self.source) & (self.source != "")

    def published_grid(self, source: Source) -> Grid | None:
        """What the table shows of its source alone, as it printed it; None where it has nothing."""
        values = source.values[self.published_rows(source)]
        if values["value"].isna().all() and not values["printed"].any():
            return None
        return source.grid(values)


def write_tables(run: RunValues, templates: Path, output: Path) -> list[Path]:
    """Write ``<name>.csv``, ``.tex`` and ``.html`` of each table of the study; returns the .tex.

    KvstudyError for what is missing.
    """
    tables = run.study.tables + run.study.open_loop_tables
    return [write_table(table, run, templates, output) for table in tables]


def write_table(table: Table, run: RunValues, templates: Path, output: Path) -> Path:
    """Write the three files of a ``table`` into ``output``, made if missing; returns the .tex."""
    rows = table.rows(run)
    return write(table.name, table.kind, rows, table.grids(rows, run), templates, output)


def write_published(table: Table, source: Source, templates: Path, output: Path) -> Grid | None:
    """The same of what a source published alone; the grid, None where there is nothing of it."""
    grid = table.published_grid(source)
    if grid is not None:
        if any(getattr(cell, "unmarked", "") for line in grid.lines for cell in line.cells):
            grid.notes.append(rejected_note())
        write(table.name, "printed", grid.frame(), [grid], templates, output)
    return grid


def write(
    name: str, kind: str, rows: pd.DataFrame, grids: list[Grid], templates: Path, output: Path
) -> Path:
    """``<name>.csv`` of the ``rows``, ``.tex`` and ``.html`` of the ``grids``; the .tex."""
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{name}.tex"
    for form, text in zip((".tex", ".html"), texts(grids, kind, templates), strict=True):
        path.with_suffix(form).write_text(text, encoding="utf-8")
    rows.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
    return path


def operation_word(operation: str, sign: str = "+") -> str:
    """``read`` or ``read+update`` as people read it."""
    return sign.join(_(name) for name in operation.split("+"))


def interval(low: float, high: float) -> str:
    """``0.9 to 1.1``; in place of the interval that one run does not have, that it is one."""
    return _("one run") if pd.isna(low) else between(significant(low), significant(high))


def interval_head() -> str:
    """The head of intervals, whose number stays with its sign."""
    return _("95 % interval").replace(" %", "\N{NARROW NO-BREAK SPACE}%")


def two_lines(label: str, cells: list[tuple[str, str]], store: str) -> list[Line]:
    """One line, and a second one below it if any cell has something there."""
    first, second = ([cell[place] for cell in cells] for place in (0, 1))
    return [Line(label, first, store), *([Line("", second, store)] if any(second) else [])]


def sections_of(
    frame: pd.DataFrame, study: Study, line: Callable[[str, pd.DataFrame], Line]
) -> list[Section]:
    """A section per workload and parameters, with a line per store: ``line(store, its rows)``."""
    sections = []
    for title, rows in by_workload(frame, study):
        lines = [
            line(store, rows[rows["store"] == store])
            for store in study.store_names
            if (rows["store"] == store).any()
        ]
        sections.append(Section(title, lines, workload=rows["workload"].iloc[0]))
    return sections


def by_workload(frame: pd.DataFrame, study: Study) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each workload and its parameters, with the title of their section."""
    for use in study.workloads:
        for parameters, rows in by_parameters(frame, use.name):
            yield (f"{use.title}, {parameters}" if parameters else use.title), rows


def by_parameters(frame: pd.DataFrame, workload: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of ``workload`` by their parameters, which have a name only if there are several."""
    groups = list(frame[frame["workload"] == workload].groupby("parameters", sort=False))
    return groups if len(groups) > 1 else [("", rows) for _, rows in groups]


def by_store(rows: pd.DataFrame, titles: dict[str, str], *more: str) -> Iterator[tuple]:
    """The groups of ``rows`` by store (and ``more``), the stores as in ``titles``."""
    for store in titles:
        yield from rows[rows["store"] == store].groupby(["store", *more], sort=False)
