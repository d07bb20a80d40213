"""Copies of the project, and Docker's daemon, images and registry, for tests on real servers."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

# pytest's import mode "importlib" puts no directory of the tests on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docker_support.fixtures import docker_daemon, local_images, local_registry

from tests.conftest import without_servers
from tests.project import ROOT, copy_project

__all__ = ["docker_daemon", "local_images", "local_registry"]


@pytest.fixture(scope="module", autouse=True)
def _quick_java():
    """The cells and servers of these tests are over before it pays that Java compiles its best."""
    with pytest.MonkeyPatch.context() as patch:
        if "JAVA_TOOL_OPTIONS" not in os.environ:
            patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if not program:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("chromium is not installed")
    with sync_playwright() as started:
        example = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield example
        example.close()


@pytest.fixture(scope="module")
def clone(tmp_path_factory) -> Path:
    """A copy of the project with the real bindings and without results."""
    folder = tmp_path_factory.mktemp("clone")
    copy_project(folder)
    # What no distribution packages is there on some machines only.
    without_servers(folder, "aerospike", "riak")
    return folder


@pytest.fixture(scope="module")
def every_server(clone: Path) -> Path:
    """The same, with the servers that somebody installed by hand."""
    shutil.copytree(ROOT / "envs/stores", clone / "envs/stores", dirs_exist_ok=True)
    return clone


@pytest.fixture
def folder(project: Path) -> Path:
    """A project folder with the real bindings and the installed servers."""
    (project / "workflow").mkdir()
    (project / "workflow" / "bindings").symlink_to(ROOT / "workflow" / "bindings")
    (project / "servers").symlink_to(ROOT / "servers")
    return project
