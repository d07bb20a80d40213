"""From the files of a run to the LaTeX source of its report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.audit.files import read_audit
from kvstudy.analyse.findings.files import read_analysis
from kvstudy.analyse.tidy.files import PROBES, read_environment
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.analyse.tidy.published import read_published
from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, current
from kvstudy.language.locale import long_date
from kvstudy.present.report.cells import CELLS, Row, StoreFacts, read_rows
from kvstudy.present.report.document import Front, Parts, write_latex
from kvstudy.present.report.facts import RunFacts
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.source import claim_facts
from kvstudy.present.report.text import text_folder, write_text
from kvstudy.present.report.workloads import SUMMARY
from kvstudy.stores.definition import load_stores
from kvstudy.study.cells import Cell, closed_loop, plan, run_name
from kvstudy.study.controls import measured_uses
from kvstudy.study.load import load_study
from kvstudy.study.model import Study

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
    """What the text speaks about; KvstudyError for files of another study or scale."""
    study = load_study(inputs.study)
    planned = plan(study, scale)
    cells = read_rows(inputs.cells, CELLS, "kvstudy parse")
    if not cells:
        raise KvstudyError(f"{inputs.cells}: has no cells; write it with 'kvstudy parse'")
    at_rates = read_rows(inputs.open_loop, CELLS, "kvstudy parse")
    for path, rows in ((inputs.cells, cells), (inputs.open_loop, at_rates)):
        _check_cells(path, rows, study, planned, scale)
    # The study's own; control cells are told apart, and not counted as results.
    own = tuple(row for row in cells if row["store"] in study.store_names)
    environment = read_environment(inputs.environment)
    stores = tuple(
        StoreFacts(
            store,
            tuple(row for row in own if row["store"] == name),
            tuple(environment["stores"].get(name, {}).get("images", [])),
        )
        for name, store in load_stores(study).items()
    )
    return RunFacts(
        name=run_name(study.name, scale) + ("-partial" if partial else ""),
        scale=scale,
        partial=partial,
        study=study,
        plan=tuple(closed_loop(planned)),
        cells=own,
        controls=tuple(row for row in cells if row["store"] not in study.store_names),
        at_rates=at_rates,
        stores=stores,
        environment=environment,
        summary=read_rows(inputs.summary, SUMMARY, "kvstudy summarise"),
        analysis=read_analysis(inputs.analysis),
        probes=Probes(PROBES.read(inputs.probes.parent)),
        published=read_published(inputs.published) if inputs.published else None,
        claims=claim_facts(inputs.claims) if inputs.claims else None,
        checks=read_audit(inputs.audit) if inputs.audit else None,
    )


def _check_cells(
    path: Path, rows: tuple[Row, ...], study: Study, planned: list[Cell], scale: float
) -> None:
    """Refuse cells of another study or of another scale: they would just not be found."""
    sizes = {(cell.workload, cell.parameters) for cell in planned}
    stores = [use.name for use in measured_uses(study)]
    for number, row in enumerate(rows, start=2):
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


def _dateline(run: RunFacts) -> str:
    days = [long_date(moment) for moment in run.started]
    span = days[0] if days else ""
    if days and days[0] != days[-1]:
        span = _("{} to {}").format(days[0], days[-1])
    if not run.measured:
        return _("Nothing was measured")
    if run.imports is None:
        return _("Measured {}").format(span)
    if len(days) < len(run.measured):
        return _("Imported logs; when they were measured is not recorded")
    return _("Imported logs, measured {}").format(span)


def _front(run: RunFacts) -> Front:
    study, source = run.study, run.study.source
    subtitle = _("Measurements of key-value stores")
    if source:
        subtitle = _("A reproduction of {}: {} ({})").format(
            source.author, source.title, source.year
        )
    return Front(
        run=run.name,
        title=study.title,
        subtitle=subtitle,
        dateline=_dateline(run),
        author=source.author if source else "",
        subject=subtitle,
        stores=run.names.titles,
        workloads={use.name: use.title for use in study.workloads},
        language=current(),
    )
