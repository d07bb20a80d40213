"""The report of what a source published: no server, no logs, no run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from kvstudy.analyse.audit.files import audit, judged_values
from kvstudy.analyse.claims.table import judge_source
from kvstudy.analyse.tidy.numbers import sign
from kvstudy.analyse.tidy.results import nothing_published, read_published
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _, current
from kvstudy.language.reasons import sentence
from kvstudy.present.claims import write_source_claims
from kvstudy.present.drawing.draw import looks, use_style
from kvstudy.present.drawing.figure import Looks
from kvstudy.present.drawing.write import write_figure
from kvstudy.present.report.cells import Names
from kvstudy.present.report.document import Front, Parts, write_latex
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.markdown import fill, listed
from kvstudy.present.report.source import AuditFacts, ClaimFacts, audit_facts, claim_facts
from kvstudy.present.report.text import OF_A_SOURCE, text_folder
from kvstudy.present.typeset.source import Source
from kvstudy.present.typeset.table import write_published as write_table_of_source
from kvstudy.present.typeset.table import write_table
from kvstudy.stores.definition import load_stores
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import Files, published_name

# What stands in sentences of a metric and an operation, in small letters.
WORDS = [
    *[N_("throughput"), N_("run time"), N_("operations")],
    *[N_("average"), N_("minimum"), N_("maximum")],
    *[N_("95th percentile"), N_("99th percentile")],
    *[N_("runtime"), N_("latency mean"), N_("latency min"), N_("latency max")],
    *[N_("latency p95"), N_("latency p99"), N_("relative performance")],
    *[N_("throughput change"), N_("failed share"), N_("failed"), N_("overall")],
    *[N_("break even"), N_("hit probability"), N_("reads/write")],
]


@dataclass(frozen=True)
class Other:
    """A published value that no table of the study shows."""

    place: str
    what: str
    value: str


@dataclass(frozen=True)
class Published:
    """What the text speaks about.

    ``left`` are tables and figures that cannot be made from published values, by the reason;
    ``lacking`` figures, by what was not published of them.
    """

    name: str
    study: Study
    tables: list[AnyTable]
    figures: list
    left: dict[str, list]
    lacking: dict[tuple[str, ...], list]
    silent: list[tuple[str, list[str]]]
    others: list[Other]
    has_values: bool
    claims: ClaimFacts | None = None
    audit: AuditFacts | None = None

    def not_printed(self, figure: object) -> str:
        """What belongs to the caption of a figure that lacks something."""
        for names, figures in self.lacking.items():
            if figure in figures:
                return _("The source printed no values of the {}.").format(listed(names))
        return ""


def write_published(
    study_file: Path, report: Path, tables: Path, figures: Path, output: Path
) -> Path:
    """Write tables, figures and the LaTeX source of the report; returns its main file.

    What the source published is beside ``study_file``; ``report`` is the folder of the
    templates. KvstudyError where there is no source, or nothing of it.
    """
    study = load_study(study_file)
    if study.source is None:
        raise KvstudyError(
            f"{study_file}: source: the study has none; nothing was published that could be drawn"
        )
    files = Files.beside(study_file)
    values = read_published(files.values) if files.values else nothing_published()
    audited = files.values or files.quotes
    checks = audit(study, files.values, files.quotes) if audited else None
    if checks is not None:
        values = judged_values(values, checks)
    stores = load_stores(study)
    titles = {name: store.title for name, store in stores.items()}
    look = looks(titles, {name: store.color for name, store in stores.items()})
    for folder in (tables, figures):
        folder.mkdir(parents=True, exist_ok=True)
    source = Source(study, values, titles, checks)
    found = replace(
        _make(study, source, look, report, tables, figures),
        claims=_judged(files, source, checks, report, tables),
        audit=_audited(checks, source, report, tables),
    )

    author = study.source.author
    front = Front(
        run=found.name,
        title=study.title,
        subtitle=_("What {} published: {} ({})").format(
            author, study.source.title, study.source.year
        ),
        dateline=_("Drawn from published values alone; nothing was measured"),
        author=author,
        subject=_("Published values of {}: {}").format(author, study.source.title),
        language=current(),
        stores=titles,
        workloads={use.name: use.title for use in study.workloads},
    )
    text = _text(found, Floats(study.source, tables, figures), text_folder(report))
    return write_latex(text, front, Parts(tables, figures, report), output)


def _make(study: Study, source: Source, look: dict, report: Path, tables: Path, figures: Path):
    left: dict[str, list] = {}
    made: list[AnyTable] = []
    shown = pd.Series(False, index=source.values.index)
    for table in study.tables[: len(study.tables) - len(_automatic(study, "tables"))]:
        if table.kind in ("audit", "audited"):
            continue
        if write_table_of_source(table, source, report / "templates" / "tables", tables) is None:
            left.setdefault(_reason(table), []).append(table)
            continue
        made.append(table)
        shown |= table.published_rows(source)
    drawn = []
    lacking: dict[tuple[str, ...], list] = {}
    use_style()
    for figure in study.figures[: len(study.figures) - len(_automatic(study, "figures"))]:
        rows = figure.published_rows(study, source.values) if figure.drawn else None
        if rows is None or source.values.empty:
            left.setdefault(_reason(figure), []).append(figure)
            continue
        write_figure(figure, rows, Looks(study, look), figures)
        drawn.append(figure)
        if missing := _missing(figure, rows):
            lacking.setdefault(tuple(missing), []).append(figure)
    others = source.values[~shown].dropna(subset="value")
    return Published(
        name=published_name(study.name, current()),
        study=study,
        tables=made,
        figures=drawn,
        left=left,
        lacking=lacking,
        silent=_silent(study, source),
        others=[_other(row, source) for row in others.itertuples()],
        has_values=bool(source.values["value"].notna().any()),
    )


def _judged(
    files: Files, source: Source, checks: pd.DataFrame | None, report: Path, tables: Path
) -> ClaimFacts | None:
    if not files.claims:
        return None
    rows = judge_source(files.claims, source.study, source.values, checks, source.titles)
    return claim_facts(write_source_claims(rows, report / "templates" / "tables", tables))


def _audited(
    checks: pd.DataFrame | None, source: Source, report: Path, tables: Path
) -> AuditFacts | None:
    if checks is None:
        return None
    study, titles = source.study, source.titles
    for table in study.tables:
        if table.kind in ("audit", "audited"):
            write_table(table, source, report / "templates" / "tables", tables)
    return audit_facts(checks, Names(study, titles, {}))


def _automatic(study: Study, kind: str) -> list[str]:
    """Names of the tables or figures that the file does not name, which come last."""
    open_loop = {each.name for each in getattr(study, f"open_loop_{kind}")}
    return [name for name in study.automatic_names[kind] if name not in open_loop]


def _missing(figure: object, frame: pd.DataFrame) -> list[str]:
    """What the figure should show but has no value of; places without a bar say so themselves."""
    if "metric" not in frame:
        return []
    there = set(frame.loc[frame["value"].notna(), "metric"])
    return [_(METRICS[name].short.lower()) for name in figure.metrics if name not in there]


def _reason(item: object) -> str:
    if isinstance(item, AnyFigure) and not item.drawn:
        return _("only a measured cell has commands and their output")
    if item.kind == "comparison":
        return _("the source has no values of one of the two")
    return _("the source printed no values") if item.source else _("the source has none such")


def _silent(study: Study, source: Source) -> list[tuple[str, list[str]]]:
    """Stores with the workloads of which nothing was published about them."""
    values = source.values.dropna(subset="value")
    known = set(zip(values["store"], values["workload"], strict=True))
    found = []
    for store in study.store_names:
        names = [each.title for each in study.workloads if (store, each.name) not in known]
        if names:
            found.append((source.title(store), names))
    return found


def _other(row, source: Source) -> Other:
    workload = row.workload if row.workload != MEAN else ""
    titles = [
        source.title(row.store),
        source.study.workload(row.workload).title if workload else _("mean of the workloads"),
        _(row.operation),
        _(row.metric.replace("_", " ")),
    ]
    return Other(sentence(row.table), ", ".join(titles), _with_unit(source.printed(row), row))


def _with_unit(text: str, row) -> str:
    """The printed value and its unit, which the source may have printed with it."""
    has_it = row.unit in text or any(letter.isalpha() for letter in row.printed)
    return text if has_it else f"{text} {_(sign(row.unit))}"


def _text(found: Published, floats: Floats, folder: Path) -> str:
    values = {
        **OF_A_SOURCE,
        "published": found,
        "audit": found.audit,
        "study": found.study,
        "source": found.study.source,
        "floats": floats,
        "place": STUDIES / found.study.name,
    }
    return fill(folder, "published.md.j2", values)
