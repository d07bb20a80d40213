"""What a study is, in the few words that captions of Snakemake's own report have room for."""

from __future__ import annotations

import re

from kvstudy.study.model import Study


def described(study: Study, run: str, scale: float, published_only: bool = False) -> dict[str, str]:
    """Title, question, source and what was measured, each as text of reStructuredText."""
    source = ""
    if study.source:
        source = f"After {study.source.author}, {study.source.title}, {study.source.year}."
    if published_only:
        measured = "All values are the source's own; nothing was measured."
    elif study.imported:
        measured = f"The logs were made elsewhere and imported ({run})."
    else:
        repetitions = "repetition" if study.repetitions == 1 else "repetitions"
        measured = f"Measured with {study.repetitions} {repetitions} ({run})."
    if scale != 1 and not published_only:
        measured += f" Sizes are {scale:g} times those of the study: no measurement of the stores."
    texts = {
        "title": study.title,
        "question": study.question,
        "source": source,
        "measured": measured,
    }
    return {name: escaped(text) for name, text in texts.items()}


def escaped(text: str) -> str:
    """``text`` on one line, without any mark-up of reStructuredText."""
    return re.sub(r"([^\w\s,.;()'-])|(_)", r"\\\1\2", " ".join(text.split()))


def label(text: str) -> str:
    """``text`` without what Snakemake would take for wildcards."""
    return text.translate({ord("{"): "(", ord("}"): ")"})
