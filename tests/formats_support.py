"""What a reader sees of a report in each of its formats, for tests that compare them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w])")
NARROW = "\N{NARROW NO-BREAK SPACE}"
# What only the page has: the cells behind a table or figure, the values of a figure, contents with
# subsections, and the numbers of an axis within a table.
MORE_ON_THE_PAGE = re.compile(r'<(details|nav)\b.*?</\1>|<td class="drawn".*?</td>', re.S)


def plain(path: Path) -> str:
    """The text of an HTML page or a Word file: no scripts, captions once."""
    content = path.read_bytes()
    if path.suffix == ".html":
        content = MORE_ON_THE_PAGE.sub("", content.decode()).encode()
    tree = json.loads(_pandoc(content, f"--from={path.suffix[1:]}", "--to=json"))
    text = _pandoc(json.dumps(_without_pictures(tree)).encode(), "--from=json", "--to=plain")
    # Pandoc 2 takes the caption on a page for the picture's description alone, pandoc 3 that in a
    # Word file.
    alone = [words for words in _descriptions(tree) if words not in text.decode()]
    return "\n\n".join([text.decode(), *alone])


def _pandoc(given: bytes, *options: str) -> bytes:
    command = ["pandoc", "--wrap=none", *options]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def _without_pictures(node):
    """Pandoc's tree without its images: in a Word file, each has its caption as description."""
    if isinstance(node, dict):
        return {key: _without_pictures(value) for key, value in node.items()}
    if isinstance(node, list):
        shown = (each for each in node if not (isinstance(each, dict) and each.get("t") == "Image"))
        return [_without_pictures(each) for each in shown]
    return node


def _descriptions(node) -> Iterator[str]:
    """The words of the images of pandoc's tree, but for those that have a caption apart."""
    if isinstance(node, dict) and node.get("t") == "Image":
        yield "".join(_words(node["c"][1]))
    elif isinstance(node, dict) and node.get("t") != "Figure":
        yield from _descriptions([*node.values()])
    elif isinstance(node, list):
        for each in node:
            yield from _descriptions(each)


def _words(node) -> Iterator[str]:
    if isinstance(node, dict):
        yield from [node["c"]] if node["t"] == "Str" else _words(node.get("c", " "))
    elif isinstance(node, list):
        for each in node:
            yield from _words(each)
    elif node == " ":
        yield node


def text_of(pdf: Path) -> str:
    command = ["pdftotext", "-layout", str(pdf), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def numbers(text: str) -> list[str]:
    """All numbers of a text, the groups of their digits joined."""
    joined = re.sub(rf"(?<=\d){NARROW}(?=\d)", "", text).replace("\u200b", "")
    return NUMBER.findall(joined)


def numbers_of_pdf(path: Path) -> set[str]:
    """All that may be a number of the page: its text has plain spaces between groups."""
    text = text_of(path)
    grouped = re.sub(r"(?<=\d)[ \u2009\u202f](?=\d{3}(?!\d))", "", text)
    return {*numbers(text), *numbers(grouped)}
