"""The words of the code that a program can check: names, first words of docstrings, classes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = sorted(
    path for folder in ("workflow", "tests", "envs") for path in (ROOT / folder).rglob("*.py")
)
JAVA = sorted((ROOT / "workflow/bindings/src").rglob("*.java"))
# Neither nouns nor verbs: a reader cannot know what they hold.
NAMES = {"asked", "beside", "found", "made", "own", "there", "told"}
# A key of the manifests of cells, in finished runs and archives too.
KEPT = {("workflow/kvstudy/study/cells.py", "beside")}
# Begin neither an imperative nor a noun phrase.
BEGINNINGS = {
    "How",
    "Of",
    "So",
    "That",
    "Those",
    "What",
    "Whether",
    "When",
    "Where",
    "Which",
    "Who",
}
DECLARED = re.compile(rf"\b[A-Z][\w.<>\[\], ]* ({'|'.join(sorted(NAMES))})\b *[=;:,)]")


def bindings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_names_are_nouns_or_verbs():
    wrong = {
        (place(path), name)
        for path in PYTHON
        for name in bindings(ast.parse(path.read_text(encoding="utf-8")))
        if name in NAMES
    }
    wrong |= {
        (place(path), match[1])
        for path in JAVA
        for match in DECLARED.finditer(
            re.sub(r"^\s*(\*|//|/\*).*$", "", path.read_text(encoding="utf-8"), flags=re.M)
        )
    }
    assert wrong == KEPT


def test_docstrings_begin_with_an_imperative_or_a_noun():
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    wrong = [
        f"{place(path)}:{getattr(node, 'lineno', 1)}"
        for path in PYTHON
        if path.is_relative_to(ROOT / "workflow")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, documented)
        and (text := ast.get_docstring(node))
        and text.split()[0] in BEGINNINGS
    ]
    assert wrong == []


def test_no_two_classes_of_the_package_share_a_name_unless_one_derives_from_the_other():
    classes = defaultdict(list)
    for path in (ROOT / "workflow/kvstudy").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
                classes[node.name].append((place(path), node.name in bases))
    shared = {
        name: places
        for name, places in classes.items()
        if len([path for path, derived in places if not derived]) > 1
    }
    assert shared == {}
