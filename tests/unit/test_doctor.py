"""``kvstudy doctor``: what is ready, and how to get what is not."""

from click.testing import CliRunner
from kvstudy.cli import cli


def doctor() -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["doctor"])
    return result.exit_code, result.output


def row(output: str, store: str) -> list[str]:
    (line,) = (line for line in output.splitlines() if line.split()[:1] == [store])
    return line.split()


def test_stores_by_provider(pretend_study, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    _, output = doctor()
    assert row(output, "store") == ["store", "native", "docker"]
    assert row(output, "pretend") == ["pretend", "ready", "missing"]
    assert row(output, "unbound") == ["unbound", "missing", "missing"]
    assert "Unbound: kvstudy has no YCSB binding for Unbound yet" in output
    assert "Pretend: Pretend has no Docker image in envs/stores/pretend/store.yaml" in output


def test_missing_tools_and_programs_come_with_a_remedy(pretend_study, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    status, output = doctor()
    assert status == 1
    assert "java      missing (for YCSB): install" in output
    assert row(output, "redis") == ["redis", "missing", "missing"]
    assert "Redis: no program redis-server on this machine: install Debian's package" in output


def test_bindings_that_are_not_built(project):
    status, output = doctor()
    assert status == 1
    assert "run make setup" in output
