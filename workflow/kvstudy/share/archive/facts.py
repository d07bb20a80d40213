"""What the metadata of an archive says of its run, read from the files of the run."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.study.alike import read_manifests
from kvstudy.study.run_names import RESULTS, RunName

CITATION = Path("CITATION.cff")


@dataclass(frozen=True)
class Person:
    """An author; ``orcid`` is "" or an address."""

    name: str
    orcid: str = ""


@dataclass(frozen=True)
class Citation:
    """What CITATION.cff says of the software."""

    title: str
    version: str
    licence: str
    authors: tuple[Person, ...]


def read_citation() -> Citation:
    """The software's own citation; KvstudyError when the file lacks something."""
    try:
        data = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
        authors = tuple(_author(each) for each in data["authors"])
        return Citation(data["title"], str(data["version"]), data["license"], authors)
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise KvstudyError(
            f"{CITATION}: must give title, version, license and authors ({error!r})"
        ) from None


def _author(data: dict) -> Person:
    parts = [data.get(key, "") for key in ("given-names", "name-particle", "family-names")]
    name = data.get("name") or " ".join(part for part in parts if part)
    if not name:
        raise KeyError("authors: name")
    return Person(name, data.get("orcid", ""))


def parse_person(text: str) -> Person:
    """``NAME`` or ``NAME, ORCID`` as it is given on the command line."""
    name, _, orcid = (part.strip() for part in text.partition(","))
    if not name or (orcid and not orcid.startswith("https://orcid.org/")):
        raise KvstudyError(
            f"--author '{text}': give a name, or a name, a comma and an ORCID as in "
            "'Jana Nováková, https://orcid.org/0000-0002-1825-0097'"
        )
    return Person(name, orcid)


@dataclass(frozen=True)
class Measured:
    """A measured cell: its times in UTC, "" where the logs have none, and its server."""

    path: str
    started: str
    ended: str
    store: str
    workload: str


def measured_cells(run: RunName) -> list[Measured]:
    """The measured cells in the order of their paths."""
    manifests = read_manifests(RESULTS / run.base / "raw")
    return [
        Measured(
            path,
            manifest.get("started") or "",
            _end(manifest),
            manifest["cell"]["store"],
            manifest["cell"]["workload"],
        )
        for path, manifest in manifests.items()
    ]


def _end(manifest: dict) -> str:
    ends = [
        phase["started"] + phase["seconds"]
        for phase in manifest.get("phases", {}).values()
        if phase.get("started") is not None and phase.get("seconds") is not None
    ]
    if not ends:
        return manifest.get("started") or ""
    return datetime.datetime.fromtimestamp(max(ends), datetime.UTC).isoformat(timespec="seconds")


def servers(run: RunName) -> dict[str, str]:
    """The version of each store's server, by the store; "" where it is not known."""
    if run.published_only:
        return {}
    path = RESULTS / run.name / "environment.json"
    try:
        stores = json.loads(path.read_text(encoding="utf-8"))["stores"]
        return {name: store["version"] for name, store in sorted(stores.items())}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); take the file anew") from None


def machine(run: RunName) -> list[tuple[str, str]]:
    """The machine that was measured on: names of its parts with what they are."""
    if run.published_only:
        return []
    path = RESULTS / run.name / "environment.json"
    parts = json.loads(path.read_text(encoding="utf-8"))["components"]
    return [
        (part["component"], ", ".join(map(sentence, filter(None, [part["name"], part["details"]]))))
        for part in parts
    ]


def published_on(run: RunName, cells: list[Measured]) -> str:
    """The day of the last measurement; without one, the day on which the report was built."""
    ends = [cell.ended[:10] for cell in cells if cell.ended]
    if ends:
        return max(ends)
    built = Path(f"report/{run.name}.pdf").stat().st_mtime
    return datetime.datetime.fromtimestamp(built, datetime.UTC).date().isoformat()
