"""Tables, figures, reports and all else that people read of a run."""

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, configuration
from kvstudy.study.run_names import find_name


@click.command("tabulate")
@click.argument("run")
@LANGUAGE
def tabulate(run: str) -> None:
    """Write the tables of RUN as LaTeX, HTML and unrounded CSV.

    Each HTML file has a table and its notes, to include in a web page.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.tables import write_tables
    from kvstudy.study.raw import noted

    of = find_run(run)
    with noted(of.tables, "tabulate") as outputs:
        written = write_tables(of, of.tables)
        outputs += [
            path.with_suffix(form) for path in written for form in (".csv", ".tex", ".html")
        ]
    print(f"{of.tables}: {len(written)} tables")


@click.command("workbook")
@click.argument("run")
def workbook(run: str) -> None:
    """Write RUN as a workbook (.xlsx).

    Contains the tables of the report, the first one with a chart, a sheet of means and
    spread, one sheet per store with every measurement, and the cells with the checksums
    of their logs. Numbers of single runs are formulas; their values are stored too, for
    programs that do not calculate.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.workbook.write import write_workbook

    of = find_run(run)
    output = of.folder / f"{of.name}.xlsx"
    names = write_workbook(of, output)
    print(f"{output}: {len(names)} sheets")


@click.command("draw")
@click.argument("run")
@LANGUAGE
@click.option("--figure", "figures", multiple=True, help="Draw only this figure (may be repeated).")
def draw(run: str, figures: tuple[str, ...]) -> None:
    """Draw the figures of RUN (PDF, SVG, PNG, interactive) and write their data.

    Besides the figures that the study defines, every run has figures of the ratios of
    its stores, the order of measurement, the throughput over time and the percentiles
    of latency. In bar charts, dots are single measurements and whiskers 95 %
    confidence intervals. If a bar is several times longer than the others on its axis,
    it is drawn with a break and labelled with its value. NAME.vl.json is the
    interactive chart, a Vega-Lite specification.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.figures import write_figures
    from kvstudy.study.raw import noted

    of = find_run(run)
    with noted(of.figures, "draw") as outputs:
        outputs += write_figures(of, of.figures, list(figures))
    print(f"{of.figures}: {len(outputs)} figures")


@click.command("render")
@click.argument("run")
@LANGUAGE
@click.option(
    "--appendix",
    default="",
    help="LaTeX file in results/RUN/report/ to append to the document.",
)
def render(run: str, appendix: str) -> None:
    """Write the report of RUN as Markdown and LaTeX.

    Fills the templates in report/text with the run's data. Writes <run>.md and front.json
    for 'kvstudy build-html' and 'kvstudy build-docx', and <run>.tex, body.tex and
    references.bib for 'kvstudy build-pdf'.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.report.render import render

    of = find_run(run)
    print(render(of, appendix))


@click.command("published")
@click.argument("run")
@LANGUAGE
def published(run: str) -> None:
    """Write a report of a source's published values only, without measurements.

    RUN is STUDY-published or, in a language other than English,
    STUDY-published-LANGUAGE. Reads
    published.csv, quotes.yaml and claims.yaml in the study's folder, if they exist.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.report.published import write_published

    print(write_published(find_run(run, published=True)))


@click.command("build-pdf")
@click.argument("run")
@LANGUAGE
def build_pdf(run: str) -> None:
    """Build the PDF of RUN with latexmk from the LaTeX source of 'kvstudy render'.

    The build fails on undefined references or citations and on duplicate labels. It
    warns about content beyond the margins and about characters that the fonts lack.
    The PDF is written only if the build succeeds.
    """
    from kvstudy.documents.report.build import build_pdf

    of = find_name(run)
    main = of.text / "report" / f"{of.name}.tex"
    for warning in build_pdf(main, main.parent / "build", of.document("pdf"), of.study_file):
        print(f"warning: {warning}")
    print(of.document("pdf"))


@click.command("build-html")
@click.argument("run")
@LANGUAGE
def build_html(run: str) -> None:
    """Build the report of RUN as one HTML page from the Markdown of 'kvstudy render'."""
    from kvstudy.documents.report.html import build_html

    of = find_name(run)
    # Tables and figures of measured values name their cells.
    names = ("provenance.json", "log_lines.json")
    behind = [None if of.published_only else of.folder / name for name in names]
    build_html(of.text / "report" / f"{of.name}.md", of, of.document("html"), *behind)
    print(of.document("html"))


@click.command("build-docx")
@click.argument("run")
@LANGUAGE
def build_docx(run: str) -> None:
    """Build the report of RUN as a Word file from the Markdown of 'kvstudy render'."""
    from kvstudy.documents.report.document import build_docx

    of = find_name(run)
    build_docx(of.text / "report" / f"{of.name}.md", of, of.document("docx"))
    print(of.document("docx"))


@click.command("notebook")
@click.argument("run")
@click.option(
    "--notebook",
    type=click.Path(path_type=Path, dir_okay=False),
    default="workflow/notebooks/analysis.ipynb",
    show_default=True,
    help="The notebook to run; the file itself is not modified.",
)
@click.option("--latex", is_flag=True, help="Also write notebook.tex, to append to the PDF report.")
def notebook(run: str, notebook: Path, latex: bool) -> None:
    """Run the analysis notebook on RUN and export it to HTML.

    The notebook recomputes the results with code of its own, draws the figures and
    shows the tables. If its results differ from the report's, nothing is written.
    Writes the page to report/RUN-analysis.html and the executed notebook to
    results/RUN/analysis.ipynb.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.report.notebook import run_notebook

    print(run_notebook(find_run(run), notebook, latex))


@click.command("export")
@click.argument("run")
@click.option("--language", help="Language of tables and figures.  [default: en]")
def export(run: str, language: str | None) -> None:
    """Export tables, figures and numbers of RUN for a LaTeX document.

    Writes tables as .tex (for \\input) and CSV, figures as PDF, SVG and PNG, numbers.tex with
    macros for all values, references.bib, and an example in English and in Czech to
    results/RUN/export/. The previous contents of that folder are deleted.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.documents.export.folder import export

    print(export(find_run(run), language or configuration().language))


@click.command("commands")
@click.argument("run")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file [default: standard output].",
)
def commands(run: str, output: Path | None) -> None:
    """Write the shell commands of all measured cells of RUN, in the order of measurement.

    To repeat a cell by hand, paste the lines before the first cell into bash, then the
    lines of the cell.
    """
    from kvstudy.documents.export.by_hand import commands_of_run
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import as_measured

    of = find_name(run, published=False)
    text = commands_of_run(
        as_measured(load_study(of.study_file), of.base), of.scale, of.base, of.raw
    )
    if output is None:
        print(text, end="")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(output)
