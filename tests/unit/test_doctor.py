"""``kvstudy doctor``: what is ready, and how to get what is not."""

import itertools
import platform
import re
from pathlib import Path

import pytest
from kvstudy.measure import preflight
from kvstudy.measure.preflight import Finding

from tests.project import kvstudy


def row(output: str, store: str) -> list[str]:
    (line,) = (line for line in output.splitlines() if line.split()[:1] == [store])
    return line.split()


def test_stores_by_provider(pretend_study, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    output = kvstudy("doctor").output
    assert row(output, "store") == ["store", "native", "docker"]
    assert row(output, "pretend") == ["pretend", "ready", "missing"]
    assert row(output, "unbound") == ["unbound", "missing", "missing"]
    assert "Unbound: kvstudy has no YCSB binding for Unbound" in output
    assert "Pretend: Pretend has no Docker image in envs/stores/pretend/store.yaml" in output


def test_missing_tools_and_programs_come_with_a_remedy(pretend_study, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    doctor = kvstudy("doctor")
    assert doctor.exit_code == 1
    output = doctor.output
    assert "java      missing (for YCSB): install" in output
    assert row(output, "redis") == ["redis", "missing", "missing"]
    assert "Redis: no program redis-server on this machine: install Debian's package" in output


@pytest.mark.parametrize(
    ("store", "program", "lacking"),
    [
        ("postgresql", "postgres", "servers/postgresql/bin/initdb"),
        ("mariadb", "mariadbd", "mariadb-install-db"),
    ],
)
def test_what_a_cell_runs_beside_the_server_must_be_there_too(
    pretend_study, monkeypatch, tmp_path, store, program, lacking
):
    (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    output = kvstudy("doctor").output
    assert row(output, store)[1] == "missing"
    assert f"no program {lacking} on this machine: " in output
    # Its remedy has put it there.
    helper = Path(lacking) if "/" in lacking else tmp_path / lacking
    helper.parent.mkdir(parents=True, exist_ok=True)
    helper.touch(mode=0o755)
    assert row(kvstudy("doctor").output, store)[1] == "ready"


def test_bindings_that_are_not_built(project):
    doctor = kvstudy("doctor")
    assert doctor.exit_code == 1
    assert "run make setup" in doctor.output


def test_the_machine_is_told_with_what_follows_from_it(project):
    result = kvstudy("doctor", "--machine")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split() == ["check", "state", "value"]
    (kernel,) = (line for line in lines if line.startswith("Kernel  "))
    assert kernel.split() == ["Kernel", "good", platform.release()]
    assert any(line.startswith("Load of the last minute") for line in lines)
    assert re.fullmatch(r"22 checks: \d+ not good, \d+ unknown", lines[-1])
    assert max(map(len, lines)) <= 100
    # Consequences are below what they follow from.
    for above, below in itertools.pairwise(lines):
        if below.startswith("    ") and not above.startswith("    "):
            assert re.search(r"  (not good|unknown) ", above)


def test_a_machine_that_is_not_good_fails_only_if_asked(project, monkeypatch):
    def result(good: bool | None) -> list[Finding]:
        return [Finding("1", good, consequence="" if good else "Slow.", key="x", title="X")]

    for good, status in ((True, 0), (None, 0), (False, 1)):
        monkeypatch.setattr(preflight, "preflight", lambda results, good=good: result(good))
        monkeypatch.setattr(preflight, "load_average", lambda *_: result(True)[0])
        assert kvstudy("doctor", "--machine").exit_code == 0
        strict = kvstudy("doctor", "--machine", "--strict")
        assert strict.exit_code == status, strict.output


def test_strict_needs_the_machine():
    result = kvstudy("doctor", "--strict")
    assert result.exit_code == 2
    assert "--strict belongs to --machine" in result.output
