"""The table of the machine: what was measured on, beside the source's machine."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.study.model import Study

COLUMNS = ["component", "name", "details", "source_name", "source_details"]


def rows(environment: dict, study: Study, titles: dict[str, str], path: Path) -> pd.DataFrame:
    """One row per component; the source's components that were not looked for here come last.

    ``environment`` is the content of ``environment.json`` and ``path`` its
    place, for error messages. Stores follow as components with their version.
    """
    table: dict[str, dict[str, str]] = {}

    def put(component: str, **values: str) -> None:
        # "Memory" and "memory" are one component.
        row = table.setdefault(component.casefold(), dict.fromkeys(COLUMNS, ""))
        row["component"] = row["component"] or component
        row.update(values)

    try:
        for part in environment["components"]:
            put(part["component"], name=part["name"], details=part.get("details", ""))
        if study.imported:
            put(N_("Machine"), name=study.imported.machine or _("not recorded"))
        for part in study.source.machine if study.source else []:
            put(part.component, source_name=part.name, source_details=part.details)
        if version := _ycsb(environment):
            put("YCSB", name=version)
        known = environment.get("stores", {})
        for store in study.store_names:
            if facts := known.get(store):
                put(titles[store], name=facts["version"], details=facts.get("provider", ""))
    except (KeyError, TypeError) as error:
        raise KvstudyError(
            f"{path}: {error} is missing; measure a cell again or take the file from a good run"
        ) from error
    return pd.DataFrame(table.values(), columns=COLUMNS)


def _ycsb(environment: dict) -> str:
    """Version of YCSB's core on the class paths, as its file is named."""
    names = {
        jar for facts in environment.get("stores", {}).values() for jar in facts.get("jars", {})
    }
    versions = set(environment.get("imported", {}).get("ycsb", []))
    versions |= {found[1] for name in names if (found := re.fullmatch(r"core-(\d.*)\.jar", name))}
    return ", ".join(sorted(versions))


def content(table: pd.DataFrame, study: Study) -> dict[str, object]:
    """What the LaTeX template needs: ``rows`` of component, here, source; the source's name."""
    lines = [
        (
            sentence(row.component),
            _joined(row.name, row.details),
            _joined(row.source_name, row.source_details),
        )
        for row in table.itertuples(index=False, name="Row")
    ]
    source = study.source
    return {
        "heads": [_("Component"), _("Here")],
        "rows": lines,
        "with_source": bool((table["source_name"] != "").any()),
        "source": f"{source.author}, {source.year}" if source else "",
    }


def _joined(name: str, details: str) -> str:
    parts = (sentence(part) for part in (name, details) if part)
    return ", ".join(parts) or "\N{EN DASH}"
