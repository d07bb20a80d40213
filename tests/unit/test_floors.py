"""Modules import only from floors before their own, as CONTRIBUTING.md shows them."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "workflow" / "kvstudy"
# These may import from everywhere; nothing imports them.
TOP = {"documentation", "translation", "commands", "cli", "__main__", "__init__"}
# What the stores are called.
ALSO = {"report": {"stores"}, "comparison": {"stores"}, "export": {"stores"}}


def floors() -> dict[str, set[str]]:
    """Each floor with those before it."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    block = text[text.index("has floors") :].split("```")[1]
    before: dict[str, set[str]] = {}
    for line in block.strip().splitlines():
        seen: set[str] = set()
        for step in line.split("<"):
            names = set(re.findall(r"\w+", step))
            for name in names:
                before.setdefault(name, set()).update(seen)
            seen |= names
    return before


def imported(path: Path) -> set[str]:
    """The floors that a module imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kvstudy."):
            found.add(node.module.split(".")[1])
    return found


def test_every_folder_is_on_a_floor():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= floors().keys()


def test_no_module_imports_from_a_floor_above_its_own():
    before = floors()
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        floor = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if floor in TOP:
            continue
        allowed = before[floor] | ALSO.get(floor, set()) | {floor}
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in imported(path) - allowed]
    assert wrong == []
