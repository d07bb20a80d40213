"""A packed run is a Workflow Run Crate, which a validator of RO-Crates accepts."""

from __future__ import annotations

import io
import json
from importlib import resources
from pathlib import Path

import pytest
import requests
import requests_cache
from requests.adapters import BaseAdapter
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.services import validate
from urllib3 import HTTPResponse

from tests.project import STUDY, kvstudy
from tests.unit.packed_run import repacked, write_run
from tests.unit.test_archive import crate

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
# What version 1.1 of the context says otherwise than the one in the library rocrate.
TERMS_OF_1_1 = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
}


def context() -> bytes:
    """The context document that a crate refers to."""
    known = json.loads(resources.files("rocrate").joinpath("data/ro-crate.jsonld").read_text())
    return json.dumps(known | {"@context": known["@context"] | TERMS_OF_1_1}).encode()


@pytest.fixture
def run(pretend_study) -> Path:
    write_run()
    return Path("small.zip")


class Local(BaseAdapter):
    """Answers with the one document that a crate refers to; there is no network in tests."""

    def send(self, request, **options):
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 200, request.url, request
        answer.headers["Content-Type"] = "application/ld+json"
        body = io.BytesIO(context())
        answer.raw = HTTPResponse(
            body=body, status=200, headers=answer.headers, preload_content=False
        )
        return answer

    def close(self):
        pass


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What the validator would otherwise ask the network for."""
    path = tmp_path_factory.mktemp("cache") / "http"
    with requests_cache.CachedSession(str(path), expire_after=-1) as session:
        session.mount("https://", Local())
        assert session.get(CONTEXT).ok
    return path


def problems(path: Path, cache: Path) -> list[str]:
    """What the validator says against the archive as a Workflow Run Crate."""
    result = validate(
        ValidationSettings(
            rocrate_uri=str(path.absolute()),
            profile_identifier="workflow-run-crate",
            requirement_severity=Severity.REQUIRED,
            offline=True,
            cache_path=cache,
        )
    )
    assert result.passed() is not bool(result.get_issues())
    return [issue.message for issue in result.get_issues()]


def test_a_validator_accepts_it(run, cache):
    title = r"Řeky_%&#\ <b> \"x\""
    STUDY.write_text(STUDY.read_text().replace("A small study", f"'{title}'"))
    author = "Jana N., https://orcid.org/0000-0002-1825-0097"
    kvstudy("archive", "small", "--author", author, "--license", "CC-BY-4.0")
    assert crate(run)["./"]["name"].startswith(title)
    assert problems(run, cache) == []


def test_a_validator_refuses_a_damaged_one(run, cache):
    def damage(files: dict[str, bytes]) -> None:
        del files["results/small/summary.csv"]
        data = json.loads(files["ro-crate-metadata.json"])
        root = next(each for each in data["@graph"] if each["@id"] == "./")
        del root["license"]
        files["ro-crate-metadata.json"] = json.dumps(data).encode()

    kvstudy("archive", "small")
    result = problems(repacked(run, damage), cache)
    assert any("summary.csv" in problem for problem in result)
    assert any("license" in problem for problem in result)
