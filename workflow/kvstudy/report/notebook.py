"""The analysis notebook: executed without a browser, exported to one HTML file."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from kvstudy.errors import KvstudyError

ALTERNATIVE = "Figure; its caption stands above it, its values in the figures' CSV files"


def run_notebook(notebook: Path, parameters: dict[str, str | float | None], output: Path) -> None:
    """Execute ``notebook`` with ``parameters`` and write it as HTML to ``output``.

    The kernel runs in the present directory, with the Python that runs this.
    The page needs no network. KvstudyError tells which cell failed and why;
    ``output`` is then left as it was.
    """
    # The debugger's remark on frozen modules would stand in every log.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    # Drawings bear a date, else that of today: the same data make the same page.
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = _page(_execute(notebook, parameters))
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = output.with_name(f".{output.name}.new")
    try:
        beside.write_text(page, encoding="utf-8")
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise KvstudyError(f"{output}: cannot be written: {error.strerror}") from None


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


def _page(book) -> str:
    from nbconvert import HTMLExporter

    # Empty addresses: the page has no formulas and no widgets that need scripts of others.
    exporter = HTMLExporter(
        template_name="lab", require_js_url="", mathjax_url="", jquery_url="", embed_images=True
    )
    # It warns that drawings have no description, and its SVG template takes none.
    exporter.log.setLevel("ERROR")
    # The cell with the parameters gets a random one.
    for number, cell in enumerate(book.cells, start=1):
        cell.id = f"cell-{number}"
    page, _ = exporter.from_notebook_node(book)
    page = page.replace("No description has been provided for this image", ALTERNATIVE)
    return page.replace('<script src=""></script>\n', "")
