"""BibTeX entries for a run: the study as measured here, its source, and the software."""

from __future__ import annotations

import hashlib
import re
from datetime import date, datetime
from pathlib import Path

from kvstudy import __version__
from kvstudy.analyse.run import Run
from kvstudy.errors import DataError
from kvstudy.language.reasons import sentence
from kvstudy.render.latex import Latex, escape
from kvstudy.study.bibliography import REFERENCES, bibliography_entries, missing_entry
from kvstudy.study.raw import SUMS, file_digest

YCSB = "cooper2010"
# BibTeX counts braces, escaped ones too.
BRACES = {r"\{": r"\textbraceleft{}", r"\}": r"\textbraceright{}"}

HINT = "Whoever measured it is the author of the first entry: write your name there.\n"


def references(run: Run) -> str:
    """The text of references.bib; the entries of publications come from the report's.

    DataError when that file lacks the study's source or YCSB's paper.
    """
    source = run.study.source
    started = run.cells.loc[run.cells["status"] == "measured", "started"]
    days = sorted(datetime.fromisoformat(moment).date() for moment in started if moment)
    software = _entry(
        "software-kvstudy",
        author="{The kvstudy developers}",
        title="{kvstudy}: measurements of key-value stores, from servers to the report",
        year=_year(days),
        note=f"Software, version {__version__}",
    )
    entries = [HINT, _study_entry(run, days), software, *_store_entries(run, days)]
    published = bibliography_entries(REFERENCES)
    # Abbreviations, which entries may be made of.
    entries += [f"{published[''].strip()}\n"] if "" in published else []
    for key in [*([source.key] if source else []), YCSB]:
        if problem := missing_entry(key, published):
            raise DataError(problem)
        entries.append(f"{published[key].strip()}\n")
    return "\n".join(entries)


def _entry(key: str, **fields: str) -> str:
    """One entry; values are LaTeX, and the empty ones are left out."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


def _study_entry(run: Run, days: list[date]) -> str:
    """The run itself: what was measured, when, on which machine, and the digest of its logs."""
    when = " to ".join(dict.fromkeys(day.isoformat() for day in (*days[:1], *days[-1:])))
    measured = f"Measured {when}" if when else ""
    parts = {part["component"]: sentence(part["name"]) for part in run.environment["components"]}
    machine = ", ".join(parts[name] for name in ("CPU", "Memory", "OS") if parts.get(name))
    digest = logs_digest(run.raw)
    notes = [
        f"{measured or 'Measured'} on {machine}" if machine else measured,
        f"raw logs: sha256 {digest}" if digest else "",
    ]
    return _entry(
        f"measured-{run.name}",
        author=f"{{{_value(f'kvstudy run {run.name}')}}}",
        title=f"{{{_value(run.study.title)}}}",
        year=_year(days),
        note="; ".join(_value(note) for note in notes if note),
    )


def logs_digest(raw: Path) -> str:
    """Return ``sha256sum */*/*/rep*/SHA256SUMS | sha256sum`` of ``raw``; "" without logs.

    It changes with any file of any cell, and with the list of cells.
    """
    paths = sorted(path.relative_to(raw).as_posix() for path in raw.glob(f"*/*/*/rep*/{SUMS}"))
    if not paths:
        return ""
    lines = [f"{file_digest(raw / path)}  {path}\n" for path in paths]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _store_entries(run: Run, days: list[date]) -> list[str]:
    """One entry for each store's software, with the versions that were measured, and when."""
    entries: dict[str, dict[str, str]] = {}
    for name, store in run.stores.items():
        versions = ", ".join(run.environment["stores"].get(name, {}).get("versions", []))
        folder = store.folder.name
        if not entries.get(folder, {}).get("year"):
            entries[folder] = {
                "author": f"{{{_value(store.product)}}}",
                "title": _value(f"Software, version {versions}" if versions else "Software"),
                "howpublished": rf"\url{{{store.homepage}}}" if store.homepage else "",
                "year": _year(days) if versions else "",
            }
    return [_entry(f"software-{folder}", **fields) for folder, fields in entries.items()]


def _year(days: list[date]) -> str:
    """The year in which the last cell was measured, "" if that is not known."""
    return str(days[-1].year) if days else ""


def _value(text: str) -> Latex:
    """``text`` for a field; single hyphens stay as they are, so that people can read it."""
    latex = re.sub(r"-\{\}(?!-)", "-", escape(text))
    for brace, command in BRACES.items():
        latex = latex.replace(brace, command)
    return Latex(latex)
