"""The Docker daemon, images and registry of our own, for every test against real servers."""

import sys
from pathlib import Path

# pytest's import mode "importlib" puts no directory of the tests on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from docker_support.fixtures import docker_daemon, local_images, local_registry

__all__ = ["docker_daemon", "local_images", "local_registry"]
