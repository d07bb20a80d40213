"""The analysis notebook: executed without a browser, as a page, as LaTeX and to go on with."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import warnings
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.documents.report.document import TEMPLATES
from kvstudy.errors import InputError
from kvstudy.render.latex import escape
from kvstudy.study.run_names import REPORT
from kvstudy.whole_file import put

ALTERNATIVE = "Figure; its caption is above it, its values in the figures' CSV files"
FOLDER = "notebook"
# Rows of a table that fit on a page.
ROWS = 45
# Characters of a cell that needs more than one line.
LONG = 60
# Characters of a line of code that fit on a line.
WIDTH = 100
# The title is first: not the parameters, nor what finds the run and prints it.
NOT_SHOWN = {
    "enabled": True,
    "remove_cell_tags": ["parameters", "injected-parameters"],
    "remove_input_tags": ["remove_input"],
}
# Identifiers of its own: those of the report are taken.
MARKUP = "markdown-auto_identifiers-tex_math_dollars-latex_macros+smart"


def run_notebook(run: Run, notebook: Path, latex: bool = False) -> Path:
    """Execute ``notebook`` on ``run``; returns its page.

    It writes the notebook with its outputs too, and with ``latex`` its part of the report, whose
    figures are in a folder next to it. The kernel runs in the present directory, with the Python
    that runs this. The page needs no network. The same data gives the same files. InputError
    shows which cell failed and why; what was written before is then left as it was.
    """
    # The debugger's remark on frozen modules would be in every log.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    # Dates of figures and of the run would differ in what the same data gives.
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    import nbformat

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = _execute(notebook, {"run": run.name} | ({"latex": True} if latex else {}))
        book.metadata["title"] = f"{run.study.title}: analysis of the run {run.name}"
        _without_chance(book)
        html = _page(book)
        body, figures = notebook_latex(book) if latex else ("", {})
    put(f"{nbformat.writes(book)}\n".encode(), run.folder / "analysis.ipynb")
    if latex:
        folder = run.folder / "report" / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, content in figures.items():
            (folder / name).write_bytes(content)
        put(body.encode(), folder.with_suffix(".tex"))
    page = REPORT / f"{run.name}-analysis.html"
    put(html.encode(), page)
    return page


def _execute(notebook: Path, parameters: dict[str, str | bool]):
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    try:
        # Sockets of the file system: over TCP, anyone on the machine could talk to the kernel. In a
        # folder of their own: Jupyter sets the sticky bit of the folder that they are in.
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/kernel.json"
            sockets = Config({"KernelManager": {"transport": "ipc", "connection_file": file}})
            return papermill.execute_notebook(
                notebook,
                None,
                parameters,
                progress_bar=False,
                kernel_name="python3",
                config=sockets,
            )
    except PapermillExecutionError as error:
        where = f"{notebook}: cell {error.cell_index + 1}"
        raise InputError(
            f"{where}: {error.ename}: {error.evalue}; open it in Jupyter to see more"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{notebook}: cannot be run: {error}") from None


def _without_chance(book) -> None:
    """Take out when the cells ran, and on what: the data says when it was measured.

    And what libraries say next to the results: on a new machine, Matplotlib that it makes a list
    of fonts. The same logs then made another notebook, and an archive did not hold.
    """
    book.metadata.pop("papermill", None)
    book.metadata.pop("widgets", None)
    for number, cell in enumerate(book.cells, start=1):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        # That of the cell with the parameters would be random.
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]


def _page(book) -> str:
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    # Empty addresses: the page has no formulas and no widgets that need scripts of others.
    exporter = HTMLExporter(
        template_name="lab",
        require_js_url="",
        mathjax_url="",
        jquery_url="",
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        config=Config({"TagRemovePreprocessor": NOT_SHOWN}),
    )
    # It warns that drawings have no description, and its SVG template takes none.
    exporter.log.setLevel("ERROR")
    page, _ = exporter.from_notebook_node(book)
    page = page.replace("No description has been provided for this image", ALTERNATIVE)
    return page.replace('<script src=""></script>\n', "")


def notebook_latex(book) -> tuple[str, dict[str, bytes]]:
    """``book`` (of nbformat) without a preamble, and its figures by their file names.

    The document refers to them in a folder ``notebook``. It needs graphicx, xcolor and
    booktabs. Raises InputError where the template is not there.
    """
    from nbconvert import LatexExporter
    from traitlets.config import Config

    if not (TEMPLATES / FOLDER / "index.tex.j2").is_file():
        raise InputError(f"{TEMPLATES / FOLDER}: no template; run this in the project's folder")
    config = Config({"TagRemovePreprocessor": NOT_SHOWN})
    config.SVG2PDFPreprocessor.enabled = False
    config.ExtractOutputPreprocessor.extract_output_types = {"application/pdf"}
    config.ExtractOutputPreprocessor.output_filename_template = (
        "figure-{cell_index}-{index}{extension}"
    )
    exporter = LatexExporter(
        config=config, extra_template_basedirs=[str(TEMPLATES)], template_name=FOLDER
    )
    for function in (_text, _caption, _code, _table, _figure):
        exporter.register_filter(f"notebook{function.__name__}", function)
    body, resources = exporter.from_notebook_node(book, {"output_files_dir": ""})
    figures = {Path(name).name: content for name, content in resources["outputs"].items()}
    return re.sub(r"\n{3,}", "\n\n", body).strip() + "\n", figures


def _text(source: str) -> str:
    from nbconvert.filters.markdown import markdown2latex

    return f"\n{markdown2latex(source, MARKUP)}\n"


def _caption(source: str) -> str:
    """Text that stays on one page, with what follows."""
    return f"\n{{\\interlinepenalty10000 {_text(source).strip()}\\par\\nobreak}}\n"


def _code(source: str) -> str:
    """Code and printed text, letter by letter: spaces stay, quotes are straight."""
    lines = []
    for line in source.splitlines():
        for at in range(0, len(line) or 1, WIDTH):
            piece = escape(line[at : at + WIDTH])
            piece = piece.replace("'", r"\textquotesingle{}").replace(" ", "~")
            lines.append(rf"\mbox{{{piece}}}")
    text = "\\par\n".join(lines)
    return (
        "\n{\\par\\medskip\\noindent\\color{black!70}\\ttfamily\\fontsize{8}{9.6}\\selectfont"
        "\\setlength{\\parskip}{0pt}\\setlength{\\parindent}{0pt}\\raggedright\n"
        f"{text}\\par\\medskip}}\n"
    )


def _table(source: str) -> str:
    """A table as wide as the text at most, cut where a page could not hold its rows."""
    match = re.search(r"(?s)(.*\\midrule\n)(.*?)(\\bottomrule.*)", source)
    if not match:
        return _fitted(source)
    head, rows, foot = match.groups()
    lines = rows.splitlines()
    head = _with_paragraphs(head, lines)
    parts = [lines[at : at + ROWS] for at in range(0, len(lines), ROWS)] or [[]]
    return "".join(_fitted("\n".join([head.rstrip(), *part, foot])) for part in parts)


def _with_paragraphs(head: str, lines: list[str]) -> str:
    """``head`` with columns of long text as paragraphs: else all letters would get small."""
    spec = re.search(r"\\begin\{tabular\}\{([lrc]+)\}", head)
    if not spec:
        return head
    columns = list(spec[1])
    for line in lines:
        cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
        for number, cell in enumerate(cells[: len(columns)]):
            if len(cell.strip()) > LONG:
                columns[number] = r"p{0.5\linewidth}"
    return head.replace(spec[0], r"\begin{tabular}{" + "".join(columns) + "}")


def _fitted(tabular: str) -> str:
    return (
        "\n\\par\\medskip\\noindent\\sbox0{\\small%\n"
        f"{tabular.strip()}%\n}}%\n"
        "\\ifdim\\wd0>\\linewidth\\resizebox{\\linewidth}{!}{\\usebox0}\\else\\usebox0\\fi"
        "\\par\\medskip\n"
    )


def _figure(name: str) -> str:
    return (
        # With its caption, which is above it.
        "\n\\par\\nobreak\\medskip\\nobreak\\noindent"
        f"\\includegraphics[width=\\linewidth]{{{FOLDER}/{Path(name).name}}}\\par\\medskip\n"
    )
