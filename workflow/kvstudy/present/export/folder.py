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
from kvstudy.analyse.tidy.files import SETTING, read_csv
from kvstudy.analyse.tidy.numbers import significant
from kvstudy.analyse.tidy.results import only
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.errors import KvstudyError
from kvstudy.language.current import using
from kvstudy.language.reasons import sentence
from kvstudy.present.export.bibliography import logs_digest, references
from kvstudy.present.typeset.latex import Latex, escape, fill
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
ROWS = 45
HEAD = r"\providecommand{\tablehead}[1]{#1}%"


def ready_for_input(text: str, name: str, caption: str) -> str:
    """The table ``text`` with a comment on what it needs, scaled to the line if that is possible.

    ``caption`` is that of the report, as plain text.
    """
    if LONG not in text and text.count("\\\\") > ROWS:
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
# Babel's name of the language, and the file of its example.
EXAMPLES = {"english": "thesis.tex", "czech": "thesis-czech.tex"}


def export(run: Run, language: str) -> Path:
    """Make the folder ``export`` of the run anew, in one step; returns it.

    Tables and figures are those in the ``language``; the numbers for LaTeX and the folder's own
    texts are English. KvstudyError for a table or a figure that is not there, and for files that
    cannot be read.
    """
    with using(language):
        output, of_tables, of_figures = run.text / "export", run.tables, run.figures
    templates = REPORT / "templates" / "export"
    beside = output.with_name(f".{output.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    for folder in ("tables", "figures", "example"):
        (beside / folder).mkdir(parents=True)

    tables = _tables(run.study, of_tables, beside / "tables")
    figures = _figures(run.study, of_figures, beside / "figures")
    texts = {
        "numbers.tex": numbers_tex(run, templates / "numbers.tex.j2"),
        "references.bib": references(run, REPORT / "references.bib"),
    }
    about = _about(run, tables, figures) | {"digest": logs_digest(run.raw)}
    for babel, name in EXAMPLES.items():
        texts[f"example/{name}"] = fill(templates / f"{name}.j2", **about, language=babel)
    plain = {name: _as_it_is(value) for name, value in about.items()}
    texts["README.txt"] = fill(templates / "README.txt.j2", **plain)
    for name, text in texts.items():
        (beside / name).write_text(text, encoding="utf-8")
    shutil.rmtree(output, ignore_errors=True)
    beside.replace(output)
    return output


def _tables(study: Study, folder: Path, output: Path) -> dict[str, str]:
    """Copy the tables; returns the caption of each."""
    captions = {table.name: table.caption for table in study.tables}
    for name in captions:
        _there(folder / f"{name}.tex", "kvstudy tabulate")
    # Tables that bring their own captions, such as that of the claims, are there too.
    for path in sorted(folder.glob("*.tex")):
        text = path.read_text(encoding="utf-8")
        text = ready_for_input(text, path.stem, captions.get(path.stem, ""))
        (output / path.name).write_text(text, encoding="utf-8")
        values = path.with_suffix(".csv")
        if values.is_file():
            shutil.copyfile(values, output / values.name)
    return captions


def _figures(study: Study, folder: Path, output: Path) -> dict[str, str]:
    """Copy the figures; returns the caption of each."""
    captions = {figure.name: figure.caption for figure in study.drawn_figures}
    for path in (folder / f"{name}.{form}" for name in captions for form in FORMS):
        shutil.copyfile(_there(path, "kvstudy draw"), output / path.name)
    return captions


def _there(path: Path, command: str) -> Path:
    if not path.is_file():
        raise KvstudyError(f"{path}: no such file; write it with '{command}'")
    return path


def _about(run: Run, tables: dict[str, str], figures: dict[str, str]) -> dict[str, object]:
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
    latencies = summary[of_latencies & summary["store"].isin(measured[:1])]
    results = [table.name for table in study.tables if table.kind == "results"]
    table, figure = next(iter([*results, *tables])), next(iter(figures), "")
    published = run.results.published(stores[0], workload, "overall", "throughput")
    return {
        "title": study.title,
        "run": Latex(run.name),
        "stores": [
            (Latex(name), run.stores[name].title, Latex(run.stores[name].folder.name))
            for name in stores
        ],
        "workload": Latex(workload),
        "workload_title": study.workload(workload).title,
        "compared": len(measured) > 1,
        "published": published is not None,
        "operation": Latex(latencies["operation"].iloc[0]) if len(latencies) else "",
        "intervals": bool((speeds["n"] > 1).any()),
        "table": Latex(table),
        "table_caption": tables[table],
        "figure": Latex(figure),
        "figure_caption": figures.get(figure, ""),
        "source": Latex(study.source.key) if study.source else "",
    }


def _as_it_is(value: object) -> object:
    """Text for a file that is no LaTeX."""
    if isinstance(value, list):
        return [tuple(map(_as_it_is, entry)) for entry in value]
    return Latex(value) if isinstance(value, str) else value


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
ENDS = ["ratio", "low", "high"]
KEYS = [*SETTING, "operation", "metric"]


def numbers_tex(run: Run, template: Path) -> str:
    """The text of numbers.tex: macros, and what they print.

    That are each value of ``summary.csv`` with its 95 % interval, each published value, and the
    ratios of each two stores. Stores and workloads of the plan without a value have the reason
    instead.
    """
    study, summary = run.study, run.summary
    swept = Swept(study, run.scale, summary, run.cells, run.published)
    own = run.cells[run.cells["store"].isin(study.store_names)]
    planned = list(dict.fromkeys(own[SETTING].itertuples(index=False, name=None)))
    there = set(summary[SETTING].itertuples(index=False, name=None))
    single = {name: swept.operations(name) for name in study.workload_names}
    rejected = Latex("the audit of the source rejects this value")
    return fill(
        template,
        run=Latex(run.name),
        numbers=list(_numbers(summary, repetitions.INTERVALS.read(run.analysis_folder))),
        published=[
            (_key(row), _unit(row.unit), _digits(row.value), rejected if row.rejected else "")
            for row in swept.published_values.itertuples()
        ],
        ratios=[*_ratios(pairs.PAIRS.read(run.analysis_folder)), *_of_all(run)],
        gaps=[
            (Latex("/".join(place)), _plain(sentence(swept.reason(*place))))
            for place in planned
            if place not in there
        ],
        names=[(Latex(at), Latex(", ".join(below))) for at, below in _names(summary, planned)],
        shown=[*run.headline.items(), (MEAN, "all"), (ALL, "all")],
        only=[(name, *operations) for name, operations in single.items() if len(operations) == 1],
        raw=Latex,
    )


def _key(row) -> Latex:
    return Latex("/".join(getattr(row, name) for name in KEYS))


def _unit(unit: str) -> Latex:
    # A unit that is not known is left as it is: siunitx prints it.
    return Latex(UNITS.get(unit, unit))


def _digits(value: float) -> Latex:
    """``value`` with all digits that a text can ask for; "" for NaN."""
    return Latex("" if math.isnan(value) else significant(value, DIGITS))


def _numbers(summary: pd.DataFrame, bounds: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Each value; ``geometric`` mean and its bounds are "" where it has none."""
    bounds = bounds.set_index(KEYS)[["value", "low", "high"]]
    for row in summary.itertuples():
        key = tuple(getattr(row, name) for name in KEYS)
        geometric, low, high = bounds.loc[key] if key in bounds.index else [math.nan] * 3
        yield {
            "key": _key(row),
            "unit": _unit(row.unit),
            "n": int(row.n),
            "mean": _digits(row.mean),
            "sd": _digits(row.sd),
            "geometric": _digits(geometric),
            "low": _digits(low),
            "high": _digits(high),
        }


def _ratios(rows: pd.DataFrame) -> Iterator[tuple[Latex, ...]]:
    """Of each two stores in both directions: key, ratio, and its interval."""
    for row in rows.itertuples():
        for one, other in ((row.faster, row.slower), (row.slower, row.faster)):
            key = Latex("/".join([one, other, row.workload, row.parameters]))
            yield key, *map(_digits, pairs.ratio_of(row, one))


def _of_all(run: Run) -> Iterator[tuple[Latex, ...]]:
    """The ratios of the first page that are of all workloads together."""
    (name,) = [table.name for table in run.study.tables_of("grid")]
    columns = ["metric", "baseline", "workload", "store", *ENDS]
    made_by = "written by `kvstudy tabulate`"
    rows = read_csv(run.tables / f"{name}.csv", columns, ENDS, made_by)
    rows = rows[(rows["metric"] == "throughput") & (rows["workload"] == MEAN)]
    for row in rows.dropna(subset="ratio").itertuples():
        if row.store in run.study.store_names and row.store != row.baseline:
            key = Latex("/".join([row.store, row.baseline, ALL, "all"]))
            yield key, *(_digits(getattr(row, end)) for end in ENDS)


def _names(summary: pd.DataFrame, planned: list[tuple[str, ...]]) -> list[tuple[str, list[str]]]:
    """What there is below each part of a name: stores below "", their workloads, and so on."""
    names: dict[str, dict[str, None]] = {}
    for key in [*planned, *summary[KEYS].itertuples(index=False, name=None)]:
        for depth, name in enumerate(key):
            names.setdefault("/".join(key[:depth]), {})[name] = None
    return [(at, list(below)) for at, below in names.items()]


def _plain(text: str) -> Latex:
    """``text`` for a message on the terminal, where nothing is typeset."""
    harmless = "".join(" " if letter in "\\{}%#~^$&" else letter for letter in text)
    return Latex(" ".join(harmless.split()))
