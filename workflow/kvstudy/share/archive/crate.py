"""The metadata of an archive: a Workflow Run RO-Crate.

The workflow is the Snakefile. One action is the whole run, from the study to the report; each
measured cell is an action of its own, whose result is the folder of its raw logs. The files of a
cell are named by its SHA256SUMS, so the metadata stay readable for thousands of cells.
"""

from __future__ import annotations

import datetime
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.share.archive.contents import (
    CONFIG,
    FACTS,
    GIVEN,
    README,
    Contents,
    read_environment,
)
from kvstudy.study.alike import read_manifests
from kvstudy.study.raw import IMPORTS, SUMS
from kvstudy.study.run_names import RESULTS

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
    """The software's own citation, its authors as persons; KvstudyError when it lacks something."""
    try:
        data = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
        cited = {key: str(data[key]) for key in ("title", "version", "license")}
        return cited | {"authors": tuple(_author(each) for each in data["authors"])}
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


def _times(manifest: dict) -> dict[str, str]:
    """When a cell was measured, in UTC; nothing where the logs do not say it."""
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


def metadata(
    contents: Contents, digests: dict[str, str], authors: tuple[Person, ...] = (), licence: str = ""
) -> bytes:
    """``ro-crate-metadata.json``; ``digests`` are the SHA-256 of the archive's other files.

    Authors and licence are those of CITATION.cff where none are given.
    """
    data = _Crate(contents, digests, authors, licence).crate.metadata.generate()
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


class _Crate:
    def __init__(
        self, contents: Contents, digests: dict[str, str], authors: tuple[Person, ...], licence: str
    ) -> None:
        self.contents, self.digests, self.run = contents, digests, contents.run
        self.citation = read_citation()
        raw = RESULTS / self.run.base / "raw"
        manifests = {} if self.run.published_only else read_manifests(raw)
        self.times = {path: _times(manifest) for path, manifest in manifests.items()}
        # Without a measurement, the day on which the report was built.
        built = _utc(Path(f"report/{self.run.name}.pdf").stat().st_mtime).date().isoformat()
        self.end = max(self._all("endTime"), default=built)
        self.crate = ROCrate(version=VERSION)
        self.crate.metadata.extra_terms.update(TERMS)
        self.authors = [self._person(each) for each in authors or self.citation["authors"]]
        self.actions: list[ContextEntity] = []
        self._root(licence or self.citation["license"])
        self.workflow = self.crate.add_workflow(
            dest_path="Snakefile", main=True, lang="snakemake", properties=self._facts("Snakefile")
        )
        self.workflow["name"] = self.citation["title"]
        self.workflow["version"] = self.citation["version"]
        self.workflow["conformsTo"] = {"@id": WORKFLOW_PROFILE}
        self.given = self._files(self._is_input)
        self.made = self._files(self._is_result)
        for entity in self._files(lambda name: name in (README, SUMS, FACTS)):
            if entity.id == README:
                entity["about"] = self.crate.root_dataset
        self._whole([self._cell(path) for path in self.times])
        self.crate.root_dataset["mentions"] = _plain(self.actions)

    def _add(self, identifier: str, **properties: object) -> ContextEntity:
        kind = properties.pop("type")
        return self.crate.add(
            ContextEntity(self.crate, identifier, properties={"@type": kind, **properties})
        )

    def _person(self, person: Person) -> ContextEntity:
        ours = not person.orcid and person in self.citation["authors"]
        kind = "Organization" if ours else "Person"
        name = person.orcid or f"#{person.name.replace(' ', '-')}"
        return self._add(name, type=kind, name=person.name)

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
        root["license"] = self._add(
            f"https://spdx.org/licenses/{licence}", type="CreativeWork", name=licence
        )
        root["author"] = _plain(self.authors)
        root["conformsTo"] = [
            self._add(address, type="CreativeWork", name=name, version=version)
            for address, (name, version) in PROFILES.items()
        ]

    def _facts(self, name: str) -> dict[str, str]:
        path = PurePosixPath(name)
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
        facts = {"name": path.name, "encodingFormat": kind}
        return facts | ({"sha256": self.digests[name]} if name in self.digests else {})

    def _is_input(self, name: str) -> bool:
        study = self.run.study_file.parent.as_posix()
        return name == CONFIG or name.startswith((f"{study}/", "envs/stores/", "workloads/"))

    def _is_result(self, name: str) -> bool:
        own, base = (f"results/{each}/" for each in (self.run.name, self.run.base))
        if name.startswith(own):
            return name.removeprefix(own).split("/")[0] not in {*GIVEN} - {IMPORTS}
        return not name.startswith(base) and name.startswith(
            (f"figures/{self.run.name}/", f"report/{self.run.name}")
        )

    def _files(self, belongs) -> list:
        names = sorted({*self.contents.files, *self.contents.made, README, SUMS, FACTS})
        return [
            self.crate.add_file(dest_path=name, properties=self._facts(name))
            for name in names
            if belongs(name)
        ]

    def _all(self, time: str) -> list[str]:
        return [times[time] for times in self.times.values() if time in times]

    def _cell(self, path: str):
        """The folder of a cell's raw logs, and the action that made it."""
        store, workload, *_ = path.split("/")
        folder = f"results/{self.run.base}/raw/{path}"
        sums = self.crate.add_file(
            dest_path=f"{folder}/{SUMS}", properties=self._facts(f"{folder}/{SUMS}")
        )
        logs = self.crate.add_dataset(dest_path=folder, properties={"name": f"raw logs of {path}"})
        logs["hasPart"] = sums
        # None for a cell that the study no longer has.
        files = {use.name: f"workloads/{use.file}" for use in self.contents.study.workloads}
        properties = (each for each in self.given if each.id == files.get(workload))
        action = self.crate.add_action(
            self._ycsb(),
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
        others = [Person(imported.measured_by)] if imported and imported.measured_by else []
        action["agent"] = _plain([self._person(each) for each in others] or self.authors)
        self.actions.append(action)
        return logs

    def _ycsb(self) -> ContextEntity:
        return self.crate.get(YCSB) or self._add(
            YCSB, type="SoftwareApplication", name="YCSB", softwareVersion=YCSB_VERSION, url=YCSB
        )

    def _whole(self, raw: list) -> None:
        """The action from the study to the report."""
        starts = self._all("startTime")
        values = {"scale": f"{self.run.scale:g}", "source": self.run.source}
        environment = read_environment(self.run)
        for name, store in sorted(environment["stores"].items()):
            values[f"server of {name}"] = store["version"]
        for part in environment["components"]:
            details = filter(None, [part["name"], part["details"]])
            values[f"machine: {part['component']}"] = ", ".join(map(sentence, details))
        parameters = [
            self._add(f"#value-{number}", type="PropertyValue", name=name, value=value)
            for number, (name, value) in enumerate(values.items(), start=1)
            if value
        ]
        action = self.crate.add_action(
            self.workflow,
            identifier="#run",
            object=[*self.given, *parameters],
            result=[*self.made, *raw],
            properties={
                "name": f"run of the study {self.run.study}",
                "description": "Measures the cells of the study and builds the report from them.",
                "actionStatus": DONE,
                "endTime": self.end,
                **({"startTime": min(starts)} if starts else {}),
            },
        )
        action["agent"] = _plain(self.authors)
        self.actions.insert(0, action)


def _plain(values: list):
    """A single value stands by itself, as JSON-LD writes it."""
    return values[0] if len(values) == 1 else values
