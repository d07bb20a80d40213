"""A report before it has a format: its Markdown, and what stands on its front."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import ORIGINAL


@dataclass(frozen=True)
class Front:
    """What stands before the text; ``run`` names the files.

    ``stores`` and ``workloads`` are titles by names, for a reader's filters.
    """

    run: str
    title: str
    subtitle: str
    dateline: str
    author: str
    subject: str
    language: str = ORIGINAL
    stores: dict[str, str] = field(default_factory=dict)
    workloads: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Parts:
    """The folders of a report's tables and figures, and of its templates and references."""

    tables: Path
    figures: Path
    report: Path

    @property
    def templates(self) -> Path:
        return self.report / "templates"

    @property
    def references(self) -> Path:
        return self.report / "references.bib"


def write_document(text: str, front: Front, output: Path) -> Path:
    """Write <run>.md and front.json into ``output``; returns the <run>.md."""
    output.mkdir(parents=True, exist_ok=True)
    markdown = output / f"{front.run}.md"
    markdown.write_text(text, encoding="utf-8")
    told = json.dumps(asdict(front), indent=2, ensure_ascii=False)
    (output / "front.json").write_text(told + "\n", encoding="utf-8")
    return markdown


def read_document(markdown: Path) -> tuple[str, Front]:
    """The text and the front that ``write_document`` wrote."""
    told = markdown.with_name("front.json")
    try:
        text = markdown.read_text(encoding="utf-8")
        values = json.loads(told.read_text(encoding="utf-8"))
        return text, Front(**{each.name: values[each.name] for each in fields(Front)})
    except OSError as error:
        raise KvstudyError(
            f"{error.filename}: {error.strerror}; write it with 'kvstudy render'"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise KvstudyError(
            f"{told}: not the front of a report ({error}); write it again with 'kvstudy render'"
        ) from None
