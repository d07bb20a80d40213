"""What a reader sees of a report in each of its formats, for tests that compare them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w])")
NARROW = "\N{NARROW NO-BREAK SPACE}"


def plain(path: Path) -> str:
    """The text of an HTML page or a Word file; tables line by line, scripts left out."""
    command = ["pandoc", str(path), "--to=plain", "--wrap=none"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def pdf_text(path: Path) -> str:
    command = ["pdftotext", "-layout", str(path), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def numbers(text: str) -> list[str]:
    """All numbers of a text, the groups of their digits joined."""
    joined = re.sub(rf"(?<=\d){NARROW}(?=\d)", "", text).replace("\u200b", "")
    return NUMBER.findall(joined)


def numbers_of_pdf(path: Path) -> set[str]:
    """All that may be a number of the page: its text has plain spaces between groups."""
    text = pdf_text(path)
    grouped = re.sub(r"(?<=\d)[ \u2009\u202f](?=\d{3}(?!\d))", "", text)
    return {*numbers(text), *numbers(grouped)}
