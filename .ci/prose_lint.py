"""Run proselint over the English prose of docs and report templates; fail on any finding.

Only sentences are read: no code, tables, link targets or expressions of Jinja2. Lines keep their
numbers. In ``CHECKS`` are the checks that are off, each with its reason.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from proselint.checks import __register__
from proselint.config import DEFAULT
from proselint.registry import CheckRegistry
from proselint.tools import LintFile

FILES = ("*.md", "docs/*.md", "reference/*.md", "report/text/*.j2")
CHECKS = {
    # Pandoc and LaTeX set quotes and ellipses; the sources are plain ASCII.
    "typography": False,
}
# A sign that is no letter, so that two of them in a row are no repeated word.
MARK = "\N{CURRENCY SIGN}"
# The parts that are no prose, and their replacements.
OTHER = {
    r"(?s)^---\n.*?^---$": "",
    r"(?s)^ *```.*?^ *```$": "",
    r"(?s)\{#.*?#\}|\{%.*?%\}": "",
    r"(?s)\{\{.*?\}\}": MARK,
    r"`[^`]*`|https?://\S+|\d+(?: \d{3})+": MARK,
    r"\]\([^)]*\)": "]",
    r"^ *\|.*$|^    .*$": "",
}


def prose(text: str) -> str:
    """Return ``text`` without the parts that are no prose; its lines stay where they are."""
    for pattern, mark in OTHER.items():
        for match in reversed([*re.finditer(pattern, text, re.M)]):
            instead = mark + "\n" * match[0].count("\n")
            text = text[: match.start()] + instead + text[match.end() :]
    return text


def main() -> int:
    """Return exit code 0 without findings, else 1."""
    CheckRegistry().register_many(__register__)
    config = DEFAULT | {"checks": DEFAULT["checks"] | CHECKS}
    paths = [path for pattern in FILES for path in sorted(Path().glob(pattern))]
    findings = 0
    for path in paths:
        text = prose(path.read_text(encoding="utf-8"))
        for finding in LintFile(source=path, content=text).lint(config):
            line, column = finding.pos
            findings += 1
            print(f"{path}:{line}:{column}: {finding.check_result.message}")
    print(f"proselint: {findings} findings in {len(paths)} files.")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
