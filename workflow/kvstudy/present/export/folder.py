"""The folder for a thesis of one's own: tables, figures, numbers, references, an example."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kvstudy.analyse.tidy.files import CELLS, SUMMARY, read_csv, read_environment
from kvstudy.errors import KvstudyError
from kvstudy.present.export.bibliography import logs_digest, references
from kvstudy.present.export.numbers import numbers_tex
from kvstudy.present.typeset.latex import Latex, escape, fill
from kvstudy.stores.definition import Store, load_stores
from kvstudy.study.cells import run_name
from kvstudy.study.load import load_study
from kvstudy.study.model import Study

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
    else:
        text = (
            f"\\begingroup{PLAIN}%\n"
            f"\\noindent\\resizebox{{\\linewidth}}{{!}}{{\\begin{{minipage}}{{{WIDTH}}}%\n"
            f"{text.strip()}%\n\\end{{minipage}}}}%\n\\endgroup\n"
        )
    needs = [package for package, pattern in PACKAGES.items() if re.search(pattern, text)]
    return "\n".join(
        [
            f"% Needs: \\usepackage{{{', '.join(needs)}}}",
            *(f"% Caption of the report: {line}" for line in [" ".join(caption.split())] if line),
            *_how(text, name),
            text,
        ]
    )


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


def _how(text: str, name: str) -> list[str]:
    if LONG in text:
        return [
            rf"% It runs over pages and has its caption and label: \input{{tables/{name}}} alone.",
            f"% Made for lines of {WIDTH}.",
        ]
    return [
        rf"% Use: \begin{{table}}\caption{{...}}\centering \input{{tables/{name}}}\end{{table}}",
        f"% Made for lines of {WIDTH}; it scales itself to yours.",
    ]


INTERVALS = ["store", "workload", "parameters", "operation", "metric", "unit"]
BOUNDS = ["n", "value", "low", "high", "cov"]
FORMS = ("pdf", "svg", "png", "csv")
# Babel's name of the language, and the file of its example.
EXAMPLES = {"english": "thesis.tex", "czech": "thesis-czech.tex"}


@dataclass(frozen=True)
class Sources:
    """Where the parts of a run lie: files up to ``bibliography``, then folders."""

    study: Path
    summary: Path
    cells: Path
    environment: Path
    intervals: Path
    bibliography: Path
    tables: Path
    figures: Path
    raw: Path
    templates: Path


def export(sources: Sources, output: Path, scale: float = 1.0, partial: bool = False) -> Path:
    """Make the folder ``output`` anew, in one step; returns it.

    KvstudyError for a table or a figure that is not there, and for files that cannot be read.
    """
    study = load_study(sources.study)
    run = run_name(study.name, scale) + ("-partial" if partial else "")
    summary = SUMMARY.read(sources.summary.parent)
    cells = CELLS.read(sources.cells.parent)
    intervals = read_csv(
        sources.intervals, INTERVALS + BOUNDS, BOUNDS, "written by `kvstudy analyse`"
    )
    stores = load_stores(study)
    beside = output.with_name(f".{output.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    for folder in ("tables", "figures", "example"):
        (beside / folder).mkdir(parents=True)

    tables = _tables(study, sources.tables, beside / "tables")
    figures = _figures(study, sources.figures, beside / "figures")
    template = sources.templates / "numbers.tex.j2"
    numbers = numbers_tex(study, scale, run, summary, intervals, cells, template)
    (beside / "numbers.tex").write_text(numbers, encoding="utf-8")
    text = references(
        study,
        run,
        cells,
        read_environment(sources.environment),
        stores,
        sources.raw,
        sources.bibliography,
    )
    (beside / "references.bib").write_text(text, encoding="utf-8")
    about = _about(study, run, stores, summary, tables, figures) | {
        "digest": logs_digest(sources.raw)
    }
    for language, name in EXAMPLES.items():
        text = fill(sources.templates / f"{name}.j2", **about, language=language)
        (beside / "example" / name).write_text(text, encoding="utf-8")
    readme = fill(
        sources.templates / "README.txt.j2",
        **{name: _as_it_is(value) for name, value in about.items()},
    )
    (beside / "README.txt").write_text(readme, encoding="utf-8")
    shutil.rmtree(output, ignore_errors=True)
    beside.replace(output)
    return output


def _tables(study: Study, folder: Path, output: Path) -> dict[str, str]:
    """Copy the tables; returns the caption of each."""
    captions = {table.name: table.caption for table in study.tables + study.open_loop_tables}
    paths = {path.stem: path for path in sorted(folder.glob("*.tex"))}
    for name in captions:
        if name not in paths:
            raise KvstudyError(
                f"{folder / name}.tex: no such file; write it with 'kvstudy tabulate'"
            )
    # Tables that bring their own captions, such as that of the claims, are there too.
    for name, path in paths.items():
        text = ready_for_input(path.read_text(encoding="utf-8"), name, captions.get(name, ""))
        (output / path.name).write_text(text, encoding="utf-8")
        if path.with_suffix(".csv").is_file():
            shutil.copyfile(path.with_suffix(".csv"), output / f"{name}.csv")
    return captions


def _figures(study: Study, folder: Path, output: Path) -> dict[str, str]:
    """Copy the figures; returns the caption of each."""
    captions = {figure.name: figure.caption for figure in study.drawn_figures}
    for name in captions:
        for form in FORMS:
            path = folder / f"{name}.{form}"
            if not path.is_file():
                raise KvstudyError(f"{path}: no such file; write it with 'kvstudy draw'")
            shutil.copyfile(path, output / path.name)
    return captions


def _about(
    study: Study,
    run: str,
    stores: dict[str, Store],
    summary: pd.DataFrame,
    tables: dict[str, str],
    figures: dict[str, str],
) -> dict[str, object]:
    """What the example and the README speak about."""
    speeds = summary[
        (summary["metric"] == "throughput") & summary["workload"].isin(study.workload_names)
    ]
    # The workload that most stores have, and of these the first two.
    counts = speeds.groupby("workload", sort=False)["store"].nunique()
    workload = counts.idxmax() if len(counts) else study.workload_names[0]
    measured = list(dict.fromkeys(speeds.loc[speeds["workload"] == workload, "store"]))
    latencies = summary[
        (summary["workload"] == workload)
        & (summary["metric"] == "latency_mean")
        & summary["store"].isin(measured[:1])
    ]
    results = [table.name for table in study.tables if table.kind == "results"]
    table = next(iter([*results, *tables]))
    figure = next(iter(figures), "")
    return {
        "title": study.title,
        "run": Latex(run),
        "stores": [
            (Latex(name), stores[name].title, Latex(stores[name].folder.name))
            for name in (measured or study.store_names)[:2]
        ],
        "workload": Latex(workload),
        "workload_title": study.workload(workload).title,
        "operation": Latex(latencies["operation"].iloc[0]) if len(latencies) else "",
        "intervals": bool((speeds.loc[speeds["workload"] == workload, "n"] > 1).any()),
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
