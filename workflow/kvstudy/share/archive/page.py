"""The page of a verification: its parts, what came out of each, and how that reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

SHOWN = 8


@dataclass
class Part:
    """``facts`` hold, ``notes`` are for a person to judge, ``faults`` are what does not hold."""

    title: str
    facts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verified:
    """What came out; ``lines`` say what was looked at."""

    title: str
    lines: list[str]
    parts: list[Part]

    @property
    def holds(self) -> bool:
        return not any(part.faults for part in self.parts)


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def as_text(page: Verified, every: bool = False) -> str:
    """The page, as plain text that is Markdown too; ``every`` fault and note, or the first."""
    faults = sum(len(part.faults) for part in page.parts)
    verdict = "All holds." if page.holds else f"{count(faults, 'fault')}: it does not hold."
    lines = [f"# Verification of {page.title}", "", *[f"    {line}" for line in page.lines], ""]
    for part in page.parts:
        state = "FAULT" if part.faults else "holds" if part.facts else "see"
        lines.append(f"## {part.title}: {state}")
        lines.append("")
        lines += [f"- {fact}" for fact in part.facts]
        for word, texts in (("FAULT", part.faults), ("Note", part.notes)):
            shown = texts if every else texts[:SHOWN]
            lines += [f"- {word}: {text}" for text in shown]
            if len(shown) < len(texts):
                lines.append(f"- {word}: ... {len(texts) - len(shown)} more (--output has all)")
        lines.append("")
    lines += [
        f"**{verdict}**",
        "",
        "Notes are for you to judge. Checksums tell accidents and later edits; whoever packs an",
        "archive could also have written the raw logs themselves.",
        "",
    ]
    return "\n".join(lines)
