"""The folder for a thesis of one's own: tables, figures, numbers, references, an example."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from kvstudy.analyse.findings import pairs, repetitions
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SETTING, CsvTable
from kvstudy.analyse.tidy.results import only
from kvstudy.documents.export.bibliography import references
from kvstudy.errors import DataError
from kvstudy.language.current import using
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import significant
from kvstudy.render.latex import DELIMITERS, escape, printed
from kvstudy.render.templates import fill
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.run_names import REPORT

# Which package brings what a table uses.
PACKAGES = {
    "booktabs": r"\\(?:toprule|midrule|cmidrule|addlinespace)",
    "array": r"[@!{}lrc]>\{|\\arraybackslash",
    "longtable": r"\\begin\{longtable\}",
    "graphicx": r"\\(?:rotatebox|resizebox|includegraphics)",
    "xcolor": r"\\(?:text)?color\b",
    "textcomp": r"\\text(?:mu|minus|times|pm|textdagger|asciitilde)\b",
    "multirow": r"\\multirow",
    "siunitx": r"\\(?:num|SI|qty|sisetup)\b|\{S\[",
}
# The report's text width, which the tables are made for.
WIDTH = "16cm"
# Babel gives these a meaning in some languages: with Czech, \cmidrule{2-3} would be an error.
PLAIN = "".join(rf"\catcode`\{letter}=12" for letter in "-=:'" + '"') + r"\relax"
# Tables over several pages cannot be scaled, since TeX must be able to break them.
LONG = r"\begin{longtable}"
# Lines of a table that fit on a page of most documents.
ROWS, LINES = 45, re.compile(r"\\\\|\\par\b")
HEAD = r"\providecommand{\tablehead}[1]{#1}%"


def ready_for_input(text: str, name: str, caption: str) -> str:
    """The table ``text`` with a comment on what it needs, scaled to the line if that is possible.

    ``caption`` is that of the report, as plain text.
    """
    if LONG not in text and len(LINES.findall(text)) > ROWS:
        text = _long(text, name, caption)
    if LONG in text:
        text = f"\\begingroup{PLAIN}%\n{text.strip()}\n\\endgroup\n"
        how = [
            rf"% It runs over pages and has its caption and label: \input{{tables/{name}}} alone.",
            f"% Made for lines of {WIDTH}.",
        ]
    else:
        text = (
            f"\\begingroup{PLAIN}%\n"
            f"\\noindent\\resizebox{{\\linewidth}}{{!}}{{\\begin{{minipage}}{{{WIDTH}}}%\n"
            f"{text.strip()}%\n\\end{{minipage}}}}%\n\\endgroup\n"
        )
        how = [
            r"% Use: \begin{table}\caption{...}\centering "
            rf"\input{{tables/{name}}}\end{{table}}",
            f"% Made for lines of {WIDTH}; it scales itself to yours.",
        ]
    needs = [package for package, pattern in PACKAGES.items() if re.search(pattern, text)]
    lines = [f"% Needs: \\usepackage{{{', '.join(needs)}}}"]
    if words := " ".join(caption.split()):
        lines.append(f"% Caption of the report: {words}")
    return "\n".join([*lines, *how, text])


def _long(text: str, name: str, caption: str) -> str:
    """As a table that goes on over pages below its head, with its caption and label."""
    text = text.replace(HEAD, r"\def\tablehead#1{#1\endfirsthead #1\endhead}%")
    text = re.sub(r"\\begin\{tabular(?:\}|\*\}\{\\linewidth\})", lambda _: LONG, text)
    text = re.sub(r"\\end\{tabular\*?\}", lambda _: r"\end{longtable}", text)
    above = rf"\caption{{{escape(caption)}}}\label{{table:{name}}}\\" + "\n"
    return (
        text.replace(r"\tablehead{", above + r"\tablehead{", 1)
        .replace(r"\begin{minipage}{\linewidth}", r"\begingroup")
        .replace(r"\end{minipage}", r"\endgroup")
    )


FORMS = ("pdf", "svg", "png", "csv")


def export(run: Run, language: str) -> Path:
    """Make the folder ``export`` of the run again, in one step; returns it.

    Tables and figures are those in the ``language``; the numbers for LaTeX and the folder's own
    texts are English. DataError for a table or a figure that is not there, and for files that
    cannot be read.
    """
    with using(language):
        output, of_tables, of_figures = run.text / "export", run.tables, run.figures
    templates = REPORT / "templates" / "export"
    staging = output.with_name(f".{output.name}.new")
    shutil.rmtree(staging, ignore_errors=True)
    for folder in ("tables", "figures", "example"):
        (staging / folder).mkdir(parents=True)

    tables = _tables(run.study, of_tables, staging / "tables")
    figures = {figure.name: figure.caption for figure in run.study.drawn_figures}
    for path in (of_figures / f"{name}.{form}" for name in figures for form in FORMS):
        shutil.copyfile(_there(path, "kvstudy draw"), staging / "figures" / path.name)
    about = _about(run, tables, figures)
    texts = {
        "numbers.tex": numbers_tex(run, templates),
        "references.bib": references(run),
        "README.txt": fill(templates / "README.txt.j2", about, **DELIMITERS),
        "example/thesis.tex": fill(templates / "thesis.tex.j2", about, **DELIMITERS),
        "example/thesis-czech.tex": fill(templates / "thesis-czech.tex.j2", about, **DELIMITERS),
    }
    for name, text in texts.items():
        (staging / name).write_text(text, encoding="utf-8")
    shutil.rmtree(output, ignore_errors=True)
    staging.replace(output)
    return output


def _tables(study: Study, folder: Path, output: Path) -> dict[str, str]:
    """Copy the tables; returns the caption of each."""
    captions = {table.name: table.caption for table in study.tables}
    for name, caption in captions.items():
        path = _there(folder / f"{name}.tex", "kvstudy tabulate")
        text = ready_for_input(path.read_text(encoding="utf-8"), name, caption)
        (output / path.name).write_text(text, encoding="utf-8")
        shutil.copyfile(path.with_suffix(".csv"), output / f"{name}.csv")
    return captions


def _there(path: Path, command: str) -> Path:
    if not path.is_file():
        raise DataError(f"{path}: no such file; write it with '{command}'")
    return path


def _about(run: Run, tables: dict[str, str], figures: dict[str, str]) -> dict[str, object]:
    """Return the values in README and examples: two stores, a workload and its numbers."""
    # A macro without a size means that of the tables.
    study, summary = run.study, only(run.summary, run.headline)
    speeds = summary[
        (summary["metric"] == "throughput") & summary["workload"].isin(study.workload_names)
    ]
    # The workload that most stores have, and of these the first two.
    counts = speeds.groupby("workload", sort=False)["store"].nunique()
    workload = counts.idxmax() if len(counts) else study.workload_names[0]
    speeds = speeds[speeds["workload"] == workload]
    measured = list(dict.fromkeys(speeds["store"]))
    stores = (measured or study.store_names)[:2]
    of_latencies = (summary["workload"] == workload) & (summary["metric"] == "latency_mean")
    operations = summary.loc[of_latencies & summary["store"].isin(measured[:1]), "operation"]
    results = [table.name for table in study.tables if table.kind == "results"]
    table, figure = next(iter([*results, *tables])), next(iter(figures), "")
    published = run.results.published(stores[0], workload, "overall", "throughput")
    return {
        "title": study.title,
        "run": run.name,
        "stores": [
            (name, printed(run.stores[name].title), run.stores[name].folder.name) for name in stores
        ],
        "workload": workload,
        "workload_title": printed(study.workload(workload).title),
        "compared": len(measured) > 1,
        "published": published is not None,
        "operation": next(iter(operations), ""),
        "intervals": bool((speeds["n"] > 1).any()),
        "table": table,
        "table_caption": printed(tables[table]),
        "figure": figure,
        "figure_caption": printed(figures.get(figure, "")),
        "source": study.source.key if study.source else "",
    }


# Units as siunitx writes them; the macros of our own are in the template.
UNITS = {
    "ops/s": r"\kvops\per\second",
    "us": r"\micro\second",
    "ms": r"\milli\second",
    "%": r"\percent",
    "cores": r"\kvcores",
    "share": "",
    # All of their digits are printed.
    "count": "count",
    "place": "count",
}
# The digits that a text can ask for; siunitx rounds to fewer.
DIGITS = 6
# All workloads together, as a name in numbers.tex.
ALL = "all"
ENDS = ["value", "low", "high"]
KEYS = [*SETTING, "operation", "metric"]


def numbers_tex(run: Run, templates: Path) -> str:
    """The text of numbers.tex: macros, and what they print.

    That are each value of ``summary.csv`` with its 95 % interval, each published value, and the
    ratios of each two stores. Stores and workloads of the plan without a value have the reason
    instead.
    """
    study, summary, swept = run.study, run.summary, run.swept
    # With that of latencies and the like, the intervals have it too.
    summary = summary.drop(columns="geometric")
    rows = run.cells[run.cells["store"].isin(study.store_names)]
    planned = list(dict.fromkeys(rows[SETTING].itertuples(index=False, name=None)))
    settings = set(summary[SETTING].itertuples(index=False, name=None))
    bounds = repetitions.INTERVALS.read(run.analysis_folder)
    bounds = bounds[[*KEYS, *ENDS]].rename(columns={"value": "geometric"})
    single = {name: swept.operations(name) for name in study.workload_names}
    values = {
        "run": run.name,
        "numbers": _keyed(summary.astype({"n": int}).merge(bounds, on=KEYS, how="left")),
        "published": _keyed(swept.published_values),
        "ratios": [*_ratios(pairs.PAIRS.read(run.analysis_folder)), *_of_all(run)],
        "gaps": [
            ("/".join(place), _plain(sentence(swept.reason(*place))))
            for place in planned
            if place not in settings
        ],
        "names": _names(summary, planned),
        "shown": [*run.headline.items(), (MEAN, "all"), (ALL, "all")],
        "only": [(name, *names) for name, names in single.items() if len(names) == 1],
        # All that a text can ask for; NaN has none.
        "digits": lambda value: "" if math.isnan(value) else significant(value, DIGITS),
    }
    return fill(templates / "numbers.tex.j2", values, **DELIMITERS)


def _keyed(rows: pd.DataFrame) -> Iterator[tuple]:
    """``rows`` with what names the value, and its unit as siunitx prints it."""
    keys = ["/".join(key) for key in rows[KEYS].itertuples(index=False, name=None)]
    # A unit that is not known is left as it is.
    return rows.assign(key=keys, unit=rows["unit"].replace(UNITS)).itertuples()


def _ratios(rows: pd.DataFrame) -> Iterator[tuple]:
    """Return each pair of stores in both directions: key, ratio, and its interval."""
    for row in rows.itertuples():
        for one, other in ((row.faster, row.slower), (row.slower, row.faster)):
            key = "/".join([one, other, row.workload, row.parameters])
            yield key, *pairs.ratio_of(row, one)


def _of_all(run: Run) -> Iterator[tuple]:
    """The ratios of the first page that are of all workloads together."""
    (name,) = [table.name for table in run.study.tables_of("grid")]
    numbers = ["ratio", "low", "high"]
    columns = ["metric", "baseline", "workload", "store", *numbers]
    rows = CsvTable(name, columns, numbers, "tabulate").read(run.tables)
    rows = rows[(rows["metric"] == "throughput") & (rows["workload"] == MEAN)]
    for row in rows.dropna(subset="ratio").itertuples():
        if row.store in run.study.store_names and row.store != row.baseline:
            key = "/".join([row.store, row.baseline, ALL, "all"])
            yield key, row.ratio, row.low, row.high


def _names(summary: pd.DataFrame, planned: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return the names below each part of a name: stores below "", their workloads, and so on."""
    names: dict[str, dict[str, None]] = {}
    for key in [*planned, *summary[KEYS].itertuples(index=False, name=None)]:
        for depth, name in enumerate(key):
            names.setdefault("/".join(key[:depth]), {})[name] = None
    return [(at, ", ".join(below)) for at, below in names.items()]


def _plain(text: str) -> str:
    """``text`` for a message on the terminal, where nothing is typeset."""
    harmless = "".join(" " if letter in "\\{}%#~^$&" else letter for letter in text)
    return " ".join(harmless.split())
