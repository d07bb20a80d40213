"""From the files of a run to the LaTeX source of its report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.audit.files import read_audit
from kvstudy.analyse.findings.files import read_analysis, shown_of
from kvstudy.analyse.tidy.files import read_environment
from kvstudy.analyse.tidy.probes import read_probes
from kvstudy.analyse.tidy.published import read_published
from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, current
from kvstudy.present.report.cell_facts import CELLS, Row, StoreFacts, read_rows
from kvstudy.present.report.cell_names import CellNames
from kvstudy.present.report.claims import claim_facts
from kvstudy.present.report.course import course_facts
from kvstudy.present.report.document import Front, Parts
from kvstudy.present.report.facts import RunFacts
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.latex import write_latex
from kvstudy.present.report.open_loop import open_loop_facts
from kvstudy.present.report.operations import operation_facts
from kvstudy.present.report.rounds import rounds_facts
from kvstudy.present.report.source_parts import against_facts, audit_facts
from kvstudy.present.report.text import as_date, text_folder, write_text
from kvstudy.present.report.workload_facts import SUMMARY, published_rows, workload_facts
from kvstudy.stores.definition import load_stores
from kvstudy.study.cells import Cell, closed_loop, plan, run_name, shown
from kvstudy.study.controls import measured_uses
from kvstudy.study.load import load_study
from kvstudy.study.model import Study
from kvstudy.study.workload import properties_of

REPORT = Path("report")


@dataclass(frozen=True)
class Inputs:
    """Where the parts of a report lie. ``cells`` to ``probes`` are files, the rest folders.

    ``appendix`` is a LaTeX file in the folder of the output, or "".
    """

    study: Path
    cells: Path
    open_loop: Path
    summary: Path
    published: Path | None
    environment: Path
    probes: Path
    analysis: Path
    tables: Path
    figures: Path
    raw: Path
    report: Path = REPORT
    claims: Path | None = None
    audit: Path | None = None
    appendix: str = ""


def render(inputs: Inputs, output: Path, scale: float = 1.0, partial: bool = False) -> Path:
    """Write the report's text and its LaTeX source into ``output``; returns the main file."""
    run = collect(inputs, scale, partial)
    parts = Parts(inputs.tables, inputs.figures, inputs.report)
    _check_source(run.study, parts.references)
    floats = Floats(run.study.source, inputs.tables, inputs.figures)
    text = write_text(text_folder(inputs.report), run, floats, inputs.raw)
    return write_latex(text, _front(run), parts, output, inputs.appendix)


def collect(inputs: Inputs, scale: float, partial: bool) -> RunFacts:
    """What the text speaks about."""
    study = load_study(inputs.study)
    all_cells = plan(study, scale)
    planned = tuple(closed_loop(all_cells))
    cells = read_rows(inputs.cells, CELLS)
    _check_cells(inputs.cells, cells, study, planned, scale)
    # The study's own; control cells are told apart, and not counted as results.
    own = tuple(row for row in cells if row["store"] in study.store_names)
    analysis = read_analysis(inputs.analysis)
    summary = read_rows(inputs.summary, SUMMARY)
    one = shown(study, scale)
    published = published_rows(inputs.published, study) if inputs.published else ()
    environment = read_environment(inputs.environment)
    images = {name: known.get("images", []) for name, known in environment["stores"].items()}
    stores = tuple(
        StoreFacts(
            definition=store,
            cells=tuple(row for row in cells if row["store"] == name),
            images=tuple(images.get(name, [])),
        )
        for name, store in load_stores(study).items()
    )
    workloads = tuple(
        workload_facts(
            use,
            properties_of(study, use),
            study,
            planned,
            own,
            summary,
            published,
            stores,
            analysis,
            one[use.name],
        )
        for use in study.workloads
    )
    operations = operation_facts(
        read_probes(inputs.probes),
        study,
        {store.definition.name: store.title for store in stores},
        {store.definition.name: store.clients for store in stores},
    )
    at_rates = read_rows(inputs.open_loop, CELLS)
    _check_open_loop(inputs.open_loop, at_rates, all_cells)
    titles = {store.definition.name: store.title for store in stores}
    return RunFacts(
        name=run_name(study.name, scale) + ("-partial" if partial else ""),
        scale=scale,
        partial=partial,
        study=study,
        plan=planned,
        cells=own,
        controls=tuple(row for row in cells if row not in own),
        stores=stores,
        workloads=workloads,
        environment=environment,
        operations=operations,
        analysis=analysis,
        course=course_facts(
            study,
            titles,
            analysis,
            shown_of(analysis, one),
            summary,
            published,
            CellNames.of(study, planned),
        ),
        claims=claim_facts(inputs.claims) if inputs.claims else None,
        open_loop=open_loop_facts(study, at_rates, analysis, titles),
        published_operations=frozenset(row["operation"] for row in published),
        audit=audit_facts(read_audit(inputs.audit) if inputs.audit else None, study, titles),
        against=against_facts(study, analysis.pairs),
        rounds=rounds_facts(
            study, analysis, read_published(inputs.published) if inputs.published else None
        ),
    )


def _check_cells(
    path: Path, cells: tuple[Row, ...], study: Study, planned: tuple[Cell, ...], scale: float
) -> None:
    """Refuse cells of another study or of another scale: they would just not be found."""
    sizes = {(cell.workload, cell.parameters) for cell in planned}
    if not cells:
        raise KvstudyError(f"{path}: has no cells; write it with 'kvstudy parse'")
    stores = [use.name for use in measured_uses(study)]
    for number, row in enumerate(cells, start=2):
        if row["store"] not in stores or row["workload"] not in study.workload_names:
            raise KvstudyError(
                f"{path}:{number}: {row['store']}/{row['workload']} is not part of the study "
                f"'{study.name}'; give the study that it belongs to, or parse again"
            )
        if (row["workload"], row["parameters"]) not in sizes:
            raise KvstudyError(
                f"{path}:{number}: {row['workload']}/{row['parameters']} is not planned at scale "
                f"{scale:g}; give the scale of the run with --scale, or parse again"
            )


def _check_open_loop(path: Path, rows: tuple[Row, ...], planned: list[Cell]) -> None:
    names = {(cell.store, cell.workload, cell.parameters) for cell in planned}
    for number, row in enumerate(rows, start=2):
        key = (row["store"], row["workload"], row["parameters"])
        if key not in names:
            raise KvstudyError(
                f"{path}:{number}: {'/'.join(key)} is not planned; give the study and the scale "
                "of the run, or parse again"
            )


def _check_source(study: Study, bibliography: Path) -> None:
    """The source must be in the bibliography, or every citation of it is a question mark."""
    try:
        text = bibliography.read_text(encoding="utf-8")
    except OSError as error:
        raise KvstudyError(f"{bibliography}: cannot be read: {error.strerror}") from None
    keys = re.findall(r"^@\w+\{([^,\s]+),", text, re.M)
    if study.source and study.source.key not in keys:
        raise KvstudyError(
            f"{bibliography}: has no entry '{study.source.key}', which the study "
            f"'{study.name}' names as its source; add one"
        )


def _dateline(run: RunFacts, span: str) -> str:
    if not run.measured:
        return _("Nothing was measured")
    if run.imports is None:
        return _("Measured {}").format(span)
    if len(run.started) < len(run.measured):
        return _("Imported logs; when they were measured is not recorded")
    return _("Imported logs, measured {}").format(span)


def _front(run: RunFacts) -> Front:
    study, source = run.study, run.study.source
    days = [as_date(moment) for moment in run.started]
    span = (
        days[0]
        if days and days[0] == days[-1]
        else _("{} to {}").format(days[0], days[-1])
        if days
        else ""
    )
    subtitle = _("Measurements of key-value stores")
    if source:
        subtitle = _("A reproduction of {}: {} ({})").format(
            source.author, source.title, source.year
        )
    return Front(
        run=run.name,
        title=study.title,
        subtitle=subtitle,
        dateline=_dateline(run, span),
        author=source.author if source else "",
        subject=subtitle,
        stores={store.definition.name: store.title for store in run.stores},
        workloads={each.use.name: each.title for each in run.workloads},
        language=current(),
    )
