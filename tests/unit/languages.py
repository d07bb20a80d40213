"""What tests of the text compare between languages."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from kvstudy.documents.report import render
from kvstudy.language.current import ORIGINAL, current, languages, using

NUMBER = re.compile(r"\d+(?:[\u202f\u00a0]\d{3})*(?:[.,]\d+)*")
# Addresses and names of files have numbers of their own, and a code of the language.
CODE = re.compile(r"```.*?```|`[^`]*`|<https?://[^>]*>", re.S)
# Their translation has begun: what is missing is English.
BEGUN = ["de"]
OTHER_LANGUAGES = [language for language in languages() if language not in {ORIGINAL, *BEGUN}]


def numbers(markdown: str) -> Counter[str]:
    """How often each number is in the text, whatever the decimal mark and the grouping."""
    matches = NUMBER.findall(CODE.sub(" ", markdown).replace("\\", ""))
    return Counter(re.sub(r"[\u202f\u00a0]", "", number).replace(",", ".") for number in matches)


def check_numbers(english: str, other: str, language: str) -> None:
    """Fail where the texts have not the same numbers."""
    ours, theirs = numbers(english), numbers(other)
    assert theirs == ours, f"{language}: lacks {ours - theirs}, has besides {theirs - ours}"


@pytest.fixture(autouse=True)
def in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text that a test renders is rendered in the other languages too: equal numbers."""
    fill = render.fill

    def fill_all(folder: Path, *arguments: object) -> str:
        written = fill(folder, *arguments)
        for language in OTHER_LANGUAGES if current() == ORIGINAL else []:
            with using(language):
                check_numbers(written, fill(folder, *arguments), language)
        return written

    monkeypatch.setattr(render, "fill", fill_all)
