"""The pytest fixtures; tests/e2e/conftest.py takes them up."""

import os

import pytest

from . import daemon, images, registry


def cannot(reason: str) -> None:
    """Skip; in CI fail, because there a skipped Docker test would go unnoticed for ever."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI must run the Docker tests: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def docker_daemon():
    """DOCKER_HOST of a private daemon; gone with all it held when the session ends."""
    try:
        with daemon.private_daemon() as host:
            yield host
    except daemon.NoDaemon as reason:
        cannot(str(reason))


@pytest.fixture(scope="session")
def local_images(docker_daemon):
    """Images of real servers, one that dies at start, one that never gets ready."""
    if reason := images.missing("redis"):
        cannot(reason)
    return images.LocalImages(docker_daemon)


@pytest.fixture(scope="session")
def local_registry(tmp_path_factory):
    """host:port of an empty registry on loopback."""
    if reason := registry.missing():
        cannot(reason)
    with registry.private_registry(tmp_path_factory.mktemp("registry")) as address:
        yield address
