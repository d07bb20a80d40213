"""The analysis notebook: executed without a browser, as a page, as LaTeX and to go on with."""

from __future__ import annotations

import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.present.report.notebook_latex import notebook_latex
from kvstudy.whole_file import put

ALTERNATIVE = "Figure; its caption stands above it, its values in the figures' CSV files"
# Dates of figures and of the run would differ in what the same data gives.
FIXED_TIME = {"SOURCE_DATE_EPOCH": "0"}


@dataclass(frozen=True)
class Outputs:
    """Where the notebook goes: the page, itself with its outputs, a part of a LaTeX document.

    ``latex`` is a file; its figures lie in the folder beside it with its name and no suffix.
    """

    page: Path
    notebook: Path | None = None
    latex: Path | None = None


def run_notebook(
    notebook: Path, parameters: dict[str, str | float | None], outputs: Outputs
) -> None:
    """Execute ``notebook`` with ``parameters`` and write the ``outputs``.

    The kernel runs in the present directory, with the Python that runs this.
    The page needs no network. The same data gives the same files. KvstudyError tells which
    cell failed and why; the outputs are then left as they were.
    """
    # The debugger's remark on frozen modules would stand in every log.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ.update(FIXED_TIME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = _execute(notebook, parameters)
        _without_times(book)
        page = _page(book)
        body, figures = notebook_latex(book) if outputs.latex else ("", {})
    if outputs.notebook:
        import nbformat

        put(f"{nbformat.writes(book)}\n".encode(), outputs.notebook)
    if outputs.latex:
        folder = outputs.latex.with_suffix("")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, content in figures.items():
            (folder / name).write_bytes(content)
        put(body.encode(), outputs.latex)
    put(page.encode(), outputs.page)


def _execute(notebook: Path, parameters: dict[str, str | float | None]):
    import papermill
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    # Sockets of the file system: over TCP, anyone on the machine could talk to the kernel.
    sockets = Config({"KernelManager": {"transport": "ipc"}})
    try:
        return papermill.execute_notebook(
            notebook, None, parameters, progress_bar=False, kernel_name="python3", config=sockets
        )
    except PapermillExecutionError as error:
        where = f"{notebook}: cell {error.cell_index + 1}"
        raise KvstudyError(
            f"{where}: {error.ename}: {error.evalue}; open it in Jupyter to see more"
        ) from None
    except (OSError, ValueError) as error:
        raise KvstudyError(f"{notebook}: cannot be run: {error}") from None


def _without_times(book) -> None:
    """Take out when the cells ran, and on what: the data says when it was measured."""
    book.metadata.pop("papermill", None)
    book.metadata.pop("widgets", None)
    for number, cell in enumerate(book.cells, start=1):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        # That of the cell with the parameters would be random.
        cell.id = f"cell-{number}"


def _page(book) -> str:
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    # The defaults of the parameters would stand beside the values that were used.
    config = Config(
        {"TagRemovePreprocessor": {"enabled": True, "remove_cell_tags": ["parameters"]}}
    )
    # Empty addresses: the page has no formulas and no widgets that need scripts of others.
    exporter = HTMLExporter(
        template_name="lab",
        require_js_url="",
        mathjax_url="",
        jquery_url="",
        embed_images=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        config=config,
    )
    # It warns that drawings have no description, and its SVG template takes none.
    exporter.log.setLevel("ERROR")
    page, _ = exporter.from_notebook_node(book)
    page = page.replace("No description has been provided for this image", ALTERNATIVE)
    return page.replace('<script src=""></script>\n', "")
