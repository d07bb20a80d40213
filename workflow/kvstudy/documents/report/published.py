"""The report of what a source published: no server, no logs, no run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.results import read_published
from kvstudy.documents.figures import write_figure
from kvstudy.documents.report.cells import DisplayNames, joined
from kvstudy.documents.report.context import AuditFacts, ClaimFacts, audit_facts, claim_facts
from kvstudy.documents.report.markdown import listed
from kvstudy.documents.report.render import write_report
from kvstudy.documents.tables import write_table
from kvstudy.errors import InputError
from kvstudy.exhibits.printed import PublishedSource
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.layout.looks import StyleSheet
from kvstudy.layout.numbers import sign
from kvstudy.render.paper import use_style
from kvstudy.render.tables import write_grids
from kvstudy.study.exhibits import AnyFigure, AnyTable
from kvstudy.study.load import STUDIES
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

# What is in sentences of a metric and an operation, in small letters.
WORDS = [
    *[N_("throughput"), N_("run time"), N_("operations")],
    *[N_("average"), N_("minimum"), N_("maximum")],
    *[N_("95th percentile"), N_("99th percentile")],
    *[N_("runtime"), N_("latency mean"), N_("latency min"), N_("latency max")],
    *[N_("latency p95"), N_("latency p99"), N_("relative performance")],
    *[N_("throughput change"), N_("failed share"), N_("failed"), N_("overall")],
    *[N_("break even"), N_("hit probability"), N_("reads/write")],
]


class PublishedValue(NamedTuple):
    """A value of the source, and where it stands."""

    place: str
    what: str
    value: str


@dataclass(frozen=True)
class PublishedFacts:
    """All that the text says of a source.

    ``silent`` are stores with the workloads of which nothing was published about them. ``left``
    are tables and figures that cannot be made from published values, by the reason. ``lacking`` are
    figures by what was not published of them, ``notes`` what their captions say of it. No table
    shows the ``others``.
    """

    name: str
    study: Study
    silent: dict[str, list[str]]
    has_values: bool
    tables: list[AnyTable]
    figures: list[AnyFigure]
    left: dict[str, list]
    lacking: dict[tuple[str, ...], list[AnyFigure]]
    notes: dict[str, str]
    others: list[PublishedValue]
    claims: ClaimFacts | None
    audit: AuditFacts | None


def write_published(run: Run) -> Path:
    """Write tables, figures and the LaTeX source of the report; returns its main file.

    InputError where the study of ``run`` has no source, or there is nothing of it.
    """
    study = run.study
    if study.source is None:
        raise InputError(
            f"{run.study_file}: source: the study has none; nothing was published that could be "
            "drawn"
        )
    values = read_published(None) if run.published is None else run.published
    source = PublishedSource(study, values, run.titles, run.audit)
    for folder in (run.tables, run.figures):
        folder.mkdir(parents=True, exist_ok=True)
    tables, no_tables = _make_tables(source, run.tables)
    figures, no_figures = _make_figures(run)
    if run.claims_file:
        write_table(study.tables_of("claims")[0], run, run.tables)
    lacking = joined((missing, figure) for figure, missing in figures if missing)
    none_of = _("The source printed no values for {}.")
    published = PublishedFacts(
        name=run.name,
        study=study,
        silent=_silent(source),
        has_values=bool(values["value"].notna().any()),
        tables=tables,
        figures=[figure for figure, _lacking in figures],
        left=joined((_reason(item), item) for item in no_tables + no_figures),
        lacking=lacking,
        notes={
            figure.name: none_of.format(listed(names))
            for names, of in lacking.items()
            for figure in of
        },
        others=_others(source, tables),
        claims=claim_facts(run.tables) if run.claims_file else None,
        audit=audit_facts(run.audit, DisplayNames(study, run.titles, {})),
    )
    author, title = study.source.author, study.source.title
    return write_report(
        run,
        "published.md.j2",
        {"published": published, "audit": published.audit, "place": STUDIES / study.name},
        _("Published by {}: {} ({})").format(author, title, study.source.year),
        _("Only published values; nothing was measured"),
        _("Published values of {}: {}").format(author, title),
    )


def _make_tables(source: PublishedSource, output: Path) -> tuple[list[AnyTable], list[AnyTable]]:
    """Write the tables that the study's file names; those made, and those that cannot be."""
    tables, left = [], []
    for table in source.study.tables:
        if table.kind == "audit":
            if source.audit is not None:
                write_table(table, source, output)
        elif table.name not in source.study.automatic_names["tables"]:
            grid = table.published_grid(source)
            (left if grid is None else tables).append(table)
            if grid:
                write_grids(table.name, "printed", grid.frame(), [grid], output)
    return tables, left


def _make_figures(
    run: Run,
) -> tuple[list[tuple[AnyFigure, tuple[str, ...]]], list[AnyFigure]]:
    """Write the figures that the study's file names; those made with what they lack, the others."""
    looks, figures, left = StyleSheet.of(run), [], []
    use_style()
    for figure in run.study.figures:
        if figure.name in run.study.automatic_names["figures"]:
            continue
        rows = pd.DataFrame()
        if figure.drawn and run.published is not None:
            rows = figure.published_rows(run)
        if rows.empty:
            left.append(figure)
        else:
            write_figure(figure, rows, looks, run.figures)
            figures.append((figure, _missing(figure, rows)))
    return figures, left


def _missing(figure: AnyFigure, rows: pd.DataFrame) -> tuple[str, ...]:
    """Return what the figure lacks; empty places in bar charts are labelled themselves."""
    if "metric" not in rows:
        return ()
    present = set(rows.loc[rows["value"].notna(), "metric"])
    return tuple(_(METRICS[name].short.lower()) for name in figure.metrics if name not in present)


def _reason(item: object) -> str:
    if isinstance(item, AnyFigure) and not item.drawn:
        return _("only measured cells have commands and output")
    if item.kind == "comparison":
        return _("the source has no values for one of the two")
    return _("the source printed no values") if item.source else _("the source has no such values")


def _silent(source: PublishedSource) -> dict[str, list[str]]:
    """Stores with the workloads of which nothing was published about them."""
    values = source.values.dropna(subset="value")
    known = set(zip(values["store"], values["workload"], strict=True))
    return joined(
        (source.title(store), use.title)
        for store in source.study.store_names
        for use in source.study.workloads
        if (store, use.name) not in known
    )


def _others(source: PublishedSource, tables: list[AnyTable]) -> list[PublishedValue]:
    """The values that none of the ``tables`` shows, with their places."""
    shown = pd.Series(False, index=source.values.index)
    for table in tables:
        shown |= table.published_rows(source)
    others = []
    for row in source.values[~shown].dropna(subset="value").itertuples():
        mean = row.workload == MEAN
        titles = [
            source.title(row.store),
            _("mean of the workloads") if mean else source.study.workload(row.workload).title,
            _(row.operation),
            _(row.metric.replace("_", " ")),
        ]
        value = source.printed(row)
        # The source may have printed the unit with it.
        if row.unit not in value and not any(letter.isalpha() for letter in row.printed):
            value = f"{value} {_(sign(row.unit))}"
        what = ", ".join(titles)
        others.append(PublishedValue(sentence(row.table), what, value))
    return others
