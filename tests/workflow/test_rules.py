"""Rules of the workflow run again after an edit of any module that their command uses."""

import ast
import re
from pathlib import Path

import pytest
from kvstudy.cli import MODULES
from kvstudy.code_files import CODE, code_files

from tests.import_graph import MODULES as IMPORTED
from tests.import_graph import graph, modules_in, tree_of

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflow"
# These write what no edit of the code changes: a measurement, and why one is missing.
MEASURING = {"measure", "probe", "gap"}


def rules() -> list[tuple[str, str]]:
    """Each rule with a command of ours: its text and the command."""
    texts = [
        text
        for path in sorted((WORKFLOW / "rules").glob("*.smk"))
        for text in re.split(r"^(?= *rule )", path.read_text(), flags=re.M)
    ]
    commands_of_rules = [
        (text, re.search(r'^ *"?kvstudy ([a-z-]+) ', text, re.M)) for text in texts
    ]
    return [(text, match[1]) for text, match in commands_of_rules if match]


@pytest.mark.parametrize(
    ("text", "command"), [pytest.param(*each, id=each[0].split(":")[0]) for each in rules()]
)
def test_a_rule_has_the_code_of_its_command(text, command):
    assert (f'code=code_of("{command}"' in text) == (command not in MEASURING)


def test_all_commands_are_looked_at():
    commands = {command for _, command in rules()}
    assert commands >= {"parse", "analyse", "claims", "audit", "tabulate", "draw"}
    assert commands >= {"render", "build-pdf", "notebook", "published"}


def imports_of(command: str) -> set[str]:
    """The modules that a command imports; its module has other commands, too."""
    tree = tree_of(IMPORTED[f"kvstudy.commands.{MODULES[command]}"])
    for node in list(tree.body):
        decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
        names = [each for each in decorators if each.startswith("click.command(")]
        if names and names != [f"click.command('{command}')"]:
            tree.body.remove(node)
    return modules_in(tree)


@pytest.mark.parametrize("command", CODE)
def test_the_code_of_a_command_has_all_that_it_imports(command):
    imports, used = graph(), {ROOT / name for name in code_files(command)}
    # Only commands that measure ask it for more than the configuration.
    imports["kvstudy.commands.options"] = {"kvstudy.study.config", "kvstudy.study.load"}
    modules = imports_of(command)
    if command == "notebook":
        modules |= modules_in(tree_of(WORKFLOW / "notebooks/analysis.ipynb"))
    # The kinds of tables and figures are imported by their names.
    if command in ("tabulate", "render", "export", "provenance"):
        modules |= {name for name in IMPORTED if name.startswith("kvstudy.exhibits.tables.")}
    if command in ("draw", "render", "export", "provenance"):
        modules |= {name for name in IMPORTED if name.startswith("kvstudy.exhibits.figures.")}
    new = modules
    while new := set().union(*(imports[name] for name in new)) - modules:
        modules |= new
    # A folder's docstring alone changes nothing.
    files = {IMPORTED[name] for name in [*modules, f"kvstudy.commands.{MODULES[command]}"]}
    assert {path for path in files if path.name != "__init__.py"} <= used


def test_the_scripts_of_the_page_belong_to_its_code():
    assert "workflow/kvstudy/render/mount.js" in code_files("build-html")
