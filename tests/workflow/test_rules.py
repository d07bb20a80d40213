"""Rules of the workflow run again after an edit of any module that their command uses."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kvstudy.cli import MODULES
from kvstudy.code_files import code_files

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


@pytest.mark.parametrize("command", ["parse", "tabulate", "build-html"])
def test_the_code_of_a_command_has_all_that_python_loads_for_it(command):
    module = f"kvstudy.commands.{MODULES[command]}"
    program = f"import sys, {module}; print(*(m.__file__ for m in sys.modules.values()" + (
        " if m.__name__.startswith('kvstudy.') and m.__file__), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = {Path(line) for line in done.stdout.split()}
    used = {ROOT / name for name in code_files(command)}
    assert len(used) > 4
    # A folder's docstring alone changes nothing.
    assert {path for path in loaded if path.name != "__init__.py"} <= used


def test_a_notebook_has_the_code_that_its_cells_import():
    without = set(code_files("notebook"))
    assert set(code_files("notebook", "workflow/notebooks/analysis.ipynb")) > without


def test_the_scripts_of_the_page_belong_to_its_code():
    assert "workflow/kvstudy/present/drawing/mount.js" in code_files("build-html")
