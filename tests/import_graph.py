"""The imports of the package's modules, also those inside functions and for annotations."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from tests.project import ROOT

PACKAGE = ROOT / "workflow/kvstudy"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


def tree_of(path: Path) -> ast.Module:
    """The code of a module or of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        lines = [line for cell in cells for line in [*cell["source"], "\n"]]
        # A line with % is an order to IPython.
        text = "".join(line for line in lines if not line.startswith("%"))
    return ast.parse(text)


def names_in(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each module of the package and each name that is imported of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("kvstudy"):
            yield from ((node.module, alias.name) for alias in node.names)


def modules_in(tree: ast.AST) -> set[str]:
    """The modules of the package that are imported."""
    return {
        f"{module}.{name}" if f"{module}.{name}" in MODULES else module
        for module, name in names_in(tree)
    }


def graph() -> dict[str, set[str]]:
    """The modules that each module imports."""
    return {name: modules_in(tree_of(path)) for name, path in MODULES.items()}
