"""The report of what a source published: no server, no logs, no run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.audit.files import audit, judged_values
from kvstudy.analyse.claims.table import judge_source
from kvstudy.analyse.findings.rounds import ROUNDS
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELLS, SUMMARY
from kvstudy.analyse.tidy.numbers import sign
from kvstudy.analyse.tidy.results import nothing_published, read_published
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _, current
from kvstudy.language.reasons import sentence
from kvstudy.present.claims import write_claims
from kvstudy.present.drawing.draw import Looks, use_style
from kvstudy.present.drawing.write import write_figure
from kvstudy.present.report.cells import Names, joined
from kvstudy.present.report.document import Parts, write_latex
from kvstudy.present.report.markdown import Floats, fill, listed
from kvstudy.present.report.render import OF_A_SOURCE, front_of
from kvstudy.present.report.source import audit_facts, claim_facts
from kvstudy.present.typeset.source import Source
from kvstudy.present.typeset.table import write_published as write_table_of_source
from kvstudy.present.typeset.table import write_table
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.load import STUDIES
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import Files
from kvstudy.study.run_names import REPORT

TEMPLATES = REPORT / "templates" / "tables"
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


@dataclass
class Published:
    """What the text speaks about.

    ``silent`` are stores with the workloads of which nothing was published about them; ``left``
    are tables and figures that cannot be made from published values, by the reason; ``lacking``
    figures, by what was not published of them; ``others`` values that no table shows.
    """

    name: str
    silent: list[tuple[str, list[str]]]
    has_values: bool
    tables: list[AnyTable] = field(default_factory=list)
    figures: list[AnyFigure] = field(default_factory=list)
    left: dict[str, list] = field(default_factory=dict)
    lacking: dict[tuple[str, ...], list] = field(default_factory=dict)
    others: list[SimpleNamespace] = field(default_factory=list)
    claims: SimpleNamespace | None = None
    audit: SimpleNamespace | None = None

    def not_printed(self, figure: object) -> str:
        """What belongs to the caption of a figure that lacks something."""
        for names, figures in self.lacking.items():
            if figure in figures:
                return _("The source printed no values of the {}.").format(listed(names))
        return ""


def write_published(run: Run) -> Path:
    """Write tables, figures and the LaTeX source of the report; returns its main file.

    KvstudyError where the study of ``run`` has no source, or there is nothing of it.
    """
    study = run.study
    if study.source is None:
        raise KvstudyError(
            f"{run.study_file}: source: the study has none; nothing was published that could be "
            "drawn"
        )
    files = Files.beside(run.study_file)
    values = read_published(files.values) if files.values else nothing_published()
    checks = None
    if files.values or files.quotes:
        checks = audit(study, files.values, files.quotes)
        values = judged_values(values, checks)
    source = Source(study, values, run.titles, checks)
    known = bool(values["value"].notna().any())
    published = Published(run.name, _silent(study, source), known)
    for folder in (run.tables, run.figures):
        folder.mkdir(parents=True, exist_ok=True)
    _make_tables(published, source, run.tables)
    _make_figures(published, source, Looks.of(run), run.figures)
    if files.claims:
        rows = judge_source(files.claims, study, values, checks, run.titles)
        write_claims(rows, TEMPLATES, run.tables, run.tables, measured=False)
        published.claims = claim_facts(run.tables / "claims.csv")
    if checks is not None:
        published.audit = audit_facts(checks, Names(study, run.titles, {}))

    author, title = study.source.author, study.source.title
    front = front_of(
        run,
        _("What {} published: {} ({})").format(author, title, study.source.year),
        _("Drawn from published values alone; nothing was measured"),
        _("Published values of {}: {}").format(author, title),
    )
    floats = Floats(study.source, run.tables, run.figures)
    text = _text(REPORT / "text" / current(), published, study, floats)
    parts = Parts(run.tables, run.figures, REPORT)
    return write_latex(text, front, parts, run.text / "report")


def _make_tables(published: Published, source: Source, output: Path) -> None:
    study = source.study
    shown = pd.Series(False, index=source.values.index)
    for table in study.tables:
        if table.kind in ("audit", "audited"):
            if source.audit is not None:
                write_table(table, source, TEMPLATES, output)
        elif table.name in _automatic(study, "tables"):
            continue
        elif write_table_of_source(table, source, TEMPLATES, output) is None:
            published.left.setdefault(_reason(table), []).append(table)
        else:
            published.tables.append(table)
            shown |= table.published_rows(source)
    others = source.values[~shown].dropna(subset="value")
    published.others = [_other(row, source) for row in others.itertuples()]


def _make_figures(published: Published, source: Source, looks: Looks, output: Path) -> None:
    study = source.study
    swept = Swept(study, 1.0, SUMMARY.frame(), CELLS.frame(), source.values)
    analysis = SimpleNamespace(rounds=ROUNDS.frame())
    run = SimpleNamespace(study=study, scale=1.0, swept=swept, headline_analysis=analysis)
    run.results = swept.shown(SUMMARY.frame)
    use_style()
    for figure in study.figures[: len(study.figures) - len(_automatic(study, "figures"))]:
        rows = figure.published_rows(run) if figure.drawn else pd.DataFrame()
        if rows.empty or source.values.empty:
            published.left.setdefault(_reason(figure), []).append(figure)
            continue
        write_figure(figure, rows, looks, output)
        published.figures.append(figure)
        if missing := _missing(figure, rows):
            published.lacking.setdefault(tuple(missing), []).append(figure)


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
    values = source.values.dropna(subset="value")
    known = set(zip(values["store"], values["workload"], strict=True))
    missing = (
        (source.title(store), each.title)
        for store in study.store_names
        for each in study.workloads
        if (store, each.name) not in known
    )
    return list(joined(missing).items())


def _other(row, source: Source) -> SimpleNamespace:
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
    return SimpleNamespace(place=sentence(row.table), what=", ".join(titles), value=value)


def _text(folder: Path, published: Published, study: Study, floats: Floats) -> str:
    values = {
        **OF_A_SOURCE,
        "published": published,
        "audit": published.audit,
        "study": study,
        "source": study.source,
        "floats": floats,
        "place": STUDIES / study.name,
    }
    return fill(folder, "published.md.j2", values)
