"""Rules of the workflow run again after an edit of any module that their command uses."""

import ast
import re
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).parents[2] / "workflow"
SNAKEFILE = (WORKFLOW / "Snakefile").read_text()
# A rule's floors, and its command.
RULE = re.compile(r"^rule (\w+):.*?code=modules\(([^)]*)\).*?kvstudy ([a-z-]+) ", re.M | re.S)
# Its command only executes it; what it uses stands in its own cells.
NOTEBOOK = WORKFLOW / "notebooks" / "analysis.ipynb"


def imported(text: str) -> set[Path]:
    """The files of this package that a Python text imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kvstudy."):
            module = WORKFLOW / node.module.replace(".", "/")
            found |= {module.with_suffix(".py")} | {
                module / f"{alias.name}.py" for alias in node.names
            }
    return {path for path in found if path.is_file()}


def floors_used(text: str) -> set[str]:
    """The floors that a Python text imports from, and what these import from."""
    seen, left = set(), imported(text)
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            left |= imported(path.read_text())
    folders = (path.relative_to(WORKFLOW / "kvstudy").parts for path in seen)
    # Not the commands themselves: they only read options, and no rule names them.
    return {parts[0] for parts in folders if len(parts) > 1} - {"commands"}


def rules() -> list[tuple[str, set[str], str]]:
    analysing = re.search(r"^ANALYSING = \((.*)\)$", SNAKEFILE, re.M)[1]
    found = []
    for path in sorted((WORKFLOW / "rules").glob("*.smk")):
        for part in re.split(r"^(?=rule )", path.read_text(), flags=re.M):
            for name, given, command in RULE.findall(part):
                floors = given.replace("*ANALYSING", analysing)
                found.append((name, set(re.findall(r'"(\w+)"', floors)), command))
    return found


@pytest.mark.parametrize(
    ("floors", "command"), [pytest.param(*rest, id=name) for name, *rest in rules()]
)
def test_a_rule_names_all_floors_that_its_command_uses(floors, command):
    text = (WORKFLOW / "kvstudy" / "commands" / f"{command.replace('-', '_')}.py").read_text()
    used = floors_used(text)
    if command == "notebook":
        used |= set(re.findall(r"from kvstudy\.(\w+)\.", NOTEBOOK.read_text()))
    assert used
    assert used <= floors


def test_all_rules_of_tidy_tables_are_looked_at():
    commands = {command for _, _, command in rules()}
    assert commands >= {"parse", "summarise", "analyse", "claims", "audit", "tabulate", "draw"}
    assert commands >= {"render", "build-pdf", "notebook", "published"}
