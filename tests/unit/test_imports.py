"""The package's modules import what there is, and never one another in circles."""

import ast
import importlib.util
import json
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.project import ROOT

PACKAGE = ROOT / "workflow/kvstudy"
NOTEBOOK = ROOT / "workflow/notebooks/analysis.ipynb"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def imports_in(source: str) -> Iterator[tuple[str, str]]:
    """Yield each module and name that is imported, also inside functions and for annotations."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("kvstudy"):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from ((name, "") for name in names if name.startswith("kvstudy"))


def source_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_all_that_is_imported_is_there():
    """Also what is imported inside functions, and by the notebook, which runs last of all."""
    files = [*MODULES.values(), NOTEBOOK]
    imported = {one for path in files for one in imports_in(source_of(path))}
    assert len(imported) > 400
    missing = [
        f"{module}: {name}"
        for module, name in sorted(imported)
        if not hasattr(importlib.import_module(module), name or "__name__")
        and importlib.util.find_spec(f"{module}.{name}") is None
    ]
    assert not missing


def test_no_modules_import_one_another_in_circles():
    graph = {
        importer: {
            f"{module}.{name}" if f"{module}.{name}" in MODULES else module
            for module, name in imports_in(source_of(path))
        }
        for importer, path in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
        circle = []
    except CycleError as error:
        circle = error.args[1]
    assert circle == []
