"""The metadata of an archive: a Workflow Run RO-Crate.

The workflow is the Snakefile. One action is the whole run, from the study to the report; each
measured cell is an action of its own, whose result is the folder of its raw logs. The files of a
cell are named by its SHA256SUMS, so the metadata stay readable for thousands of cells.
"""

from __future__ import annotations

import datetime
import json
import mimetypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml
from rocrate.model import ContextEntity, Dataset, File
from rocrate.rocrate import ROCrate

from kvstudy.errors import InputError
from kvstudy.language.reasons import sentence
from kvstudy.share.archive.contents import (
    CONFIG,
    FACTS,
    README,
    Contents,
    environment_of,
    is_input,
)
from kvstudy.study.consistency import read_manifests
from kvstudy.study.raw import IMPORTS, SUMS

CITATION = Path("CITATION.cff")
# The newest profiles that this version of RO-Crate belongs to.
VERSION = "1.1"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
# Of the terms for runs only this one is used; naming it here saves a reader their whole list.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
DONE = "http://schema.org/CompletedActionStatus"
YCSB = "https://github.com/brianfrankcooper/YCSB"
YCSB_VERSION = "0.17.0"
# Media types that Python does not know everywhere.
TYPES = {
    ".csv": "text/csv",
    ".tex": "text/x-tex",
    ".yaml": "text/yaml",
    ".md": "text/markdown",
    ".smk": "text/x-python",
    ".bib": "text/x-bibtex",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


@dataclass(frozen=True)
class Person:
    """An author; ``orcid`` is "" or an address."""

    name: str
    orcid: str = ""


def read_citation() -> dict:
    """The software's own citation, its authors as persons; InputError when it lacks something."""
    names = ("given-names", "name-particle", "family-names")
    try:
        data = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
        authors = []
        for author in data["authors"]:
            parts = filter(None, (author.get(name) for name in names))
            name = author.get("name") or " ".join(parts)
            if not name:
                raise KeyError("authors: name")
            authors.append(Person(name, author.get("orcid", "")))
        cited = {key: str(data[key]) for key in ("title", "version", "license")}
        return cited | {"authors": tuple(authors)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise InputError(
            f"{CITATION}: must give title, version, license and authors ({error!r})"
        ) from None


def parse_person(text: str) -> Person:
    """``NAME`` or ``NAME, ORCID`` as it is given on the command line."""
    name, _, orcid = (part.strip() for part in text.partition(","))
    if not name or (orcid and not orcid.startswith("https://orcid.org/")):
        raise InputError(
            f"--author '{text}': give a name, or a name, a comma and an ORCID as in "
            "'Jana Nováková, https://orcid.org/0000-0002-1825-0097'"
        )
    return Person(name, orcid)


def metadata(
    contents: Contents, digests: dict[str, str], authors: tuple[Person, ...] = (), licence: str = ""
) -> bytes:
    """``ro-crate-metadata.json``; ``digests`` are the SHA-256 of the archive's other files.

    Authors and licence are those of CITATION.cff where none are given.
    """
    data = _Crate(contents, digests, authors, licence).crate.metadata.generate()
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def _times(manifest: dict) -> dict[str, str]:
    """Return the times of a cell in UTC; empty if the logs do not have them."""
    start = manifest.get("started") or ""
    ends = [
        phase["started"] + phase["seconds"]
        for phase in manifest.get("phases", {}).values()
        if phase.get("started") is not None and phase.get("seconds") is not None
    ]
    end = _utc(max(ends)).isoformat(timespec="seconds") if ends else start
    return {name: time for name, time in (("startTime", start), ("endTime", end)) if time}


def _utc(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


class _Crate:
    def __init__(
        self, contents: Contents, digests: dict[str, str], authors: tuple[Person, ...], licence: str
    ) -> None:
        self.contents, self.digests, self.run = contents, digests, contents.run
        self.citation = read_citation()
        manifests = {} if self.run.published_only else read_manifests(self.run.raw)
        self.times = {path: _times(manifest) for path, manifest in manifests.items()}
        # Without a measurement, the day on which the report was built.
        built = _utc(Path(f"report/{self.run.name}.pdf").stat().st_mtime).date().isoformat()
        self.end = max(self._all("endTime"), default=built)
        self.crate = ROCrate(version=VERSION)
        self.crate.metadata.extra_terms.update(TERMS)
        self.authors = [self._person(author) for author in authors or self.citation["authors"]]
        self._root(licence or self.citation["license"])
        self.workflow = self.crate.add_workflow(
            dest_path="Snakefile", main=True, lang="snakemake", properties=self._facts("Snakefile")
        )
        self.workflow["name"] = self.citation["title"]
        self.workflow["version"] = self.citation["version"]
        self.workflow["conformsTo"] = {"@id": WORKFLOW_PROFILE}
        study = self.run.study_file.parent.as_posix()
        of_study = (CONFIG, f"{study}/", "envs/stores/", "workloads/")
        self.inputs = self._files(lambda name: name.startswith(of_study))
        results = self._files(
            lambda name: not is_input(self.run, name) or name.endswith(f"/{IMPORTS}")
        )
        for entity in self._files(lambda name: name in (README, SUMS, FACTS)):
            if entity.id == README:
                entity["about"] = self.crate.root_dataset
        cells = [self._cell(path) for path in self.times]
        whole = self._whole([*results, *(logs for logs, _ in cells)])
        actions = [whole, *(action for _, action in cells)]
        self.crate.root_dataset.append_to("mentions", actions, compact=True)

    def _add(self, identifier: str, kind: str, **properties: object) -> ContextEntity:
        return self.crate.add(
            ContextEntity(self.crate, identifier, properties={"@type": kind, **properties})
        )

    def _person(self, person: Person) -> ContextEntity:
        ours = not person.orcid and person in self.citation["authors"]
        identifier = person.orcid or f"#{person.name.replace(' ', '-')}"
        return self._add(identifier, "Organization" if ours else "Person", name=person.name)

    def _root(self, licence: str) -> None:
        root, study = self.crate.root_dataset, self.contents.study
        size = "" if self.run.scale == 1 else f" at {self.run.scale:g} of its size"
        kind, what = "raw logs", f"{len(self.times)} measured cells"
        if self.run.published_only:
            kind = what = "published values"
        root["name"] = f"{study.title}: {kind} and report{size}"
        root["description"] = (
            f"{study.question} The study '{study.name}'{size}: {what}, the tables, figures and "
            "the report made from them, and the workflow that makes them again."
        )
        root["datePublished"] = self.end[:10]
        address = f"https://spdx.org/licenses/{licence}"
        root["license"] = self._add(address, "CreativeWork", name=licence)
        root.append_to("author", self.authors, compact=True)
        root["conformsTo"] = [
            self._add(address, "CreativeWork", name=name, version=version)
            for address, (name, version) in PROFILES.items()
        ]

    def _facts(self, name: str) -> dict[str, str]:
        path = PurePosixPath(name)
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
        facts = {"name": path.name, "encodingFormat": kind}
        return facts | ({"sha256": self.digests[name]} if name in self.digests else {})

    def _files(self, belongs: Callable[[str], bool]) -> list[File]:
        names = sorted({*self.contents.files, *self.contents.generated, README, SUMS, FACTS})
        return [
            self.crate.add_file(dest_path=name, properties=self._facts(name))
            for name in filter(belongs, names)
        ]

    def _all(self, time: str) -> list[str]:
        return [times[time] for times in self.times.values() if time in times]

    def _cell(self, path: str) -> tuple[Dataset, ContextEntity]:
        """The folder of a cell's raw logs, and the action that made it."""
        store, workload, *_ = path.split("/")
        folder = f"results/{self.run.base}/raw/{path}"
        sums = f"{folder}/{SUMS}"
        file = self.crate.add_file(dest_path=sums, properties=self._facts(sums))
        logs = self.crate.add_dataset(dest_path=folder, properties={"name": f"raw logs of {path}"})
        logs["hasPart"] = file
        # None for a cell that the study no longer has.
        files = {use.name: f"workloads/{use.file}" for use in self.contents.study.workloads}
        properties = (entity for entity in self.inputs if entity.id == files.get(workload))
        action = self.crate.add_action(
            self._add(
                YCSB, "SoftwareApplication", name="YCSB", softwareVersion=YCSB_VERSION, url=YCSB
            ),
            identifier=f"#measure-{path.replace('/', '-')}",
            result=logs,
            object=next(properties, None),
            properties={
                "name": f"measure {path}",
                "description": f"Load and run of the workload {workload} on the store "
                f"{store}; the manifest among the logs has every parameter.",
                "actionStatus": DONE,
                **self.times[path],
            },
        )
        # Imported logs somebody else measured than who packs them.
        imported = self.contents.study.imported
        by = imported.measured_by if imported else ""
        agents = [self._person(Person(by))] if by else self.authors
        action.append_to("agent", agents, compact=True)
        return logs, action

    def _whole(self, results: list) -> ContextEntity:
        """The action from the study to the report."""
        starts = self._all("startTime")
        values = {"scale": f"{self.run.scale:g}", "source": self.run.source}
        environment = environment_of(self.run)
        for name, store in sorted(environment["stores"].items()):
            values[f"server of {name}"] = store["version"]
        for part in environment["components"]:
            details = filter(None, [part["name"], part["details"]])
            values[f"machine: {part['component']}"] = ", ".join(map(sentence, details))
        parameters = [
            self._add(f"#value-{number}", "PropertyValue", name=name, value=value)
            for number, (name, value) in enumerate(values.items(), start=1)
            if value
        ]
        action = self.crate.add_action(
            self.workflow,
            identifier="#run",
            object=[*self.inputs, *parameters],
            result=results,
            properties={
                "name": f"run of the study {self.run.study}",
                "description": "Measures the cells of the study and builds the report from them.",
                "actionStatus": DONE,
                "endTime": self.end,
                **({"startTime": min(starts)} if starts else {}),
            },
        )
        action.append_to("agent", self.authors, compact=True)
        return action
