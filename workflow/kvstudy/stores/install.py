"""The installation of servers: by the distribution, a script, or vendors' packages."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from kvstudy.errors import EnvironmentFault
from kvstudy.language.reasons import sentence
from kvstudy.stores import native
from kvstudy.stores.definition import Store
from kvstudy.stores.packages import add, fetch, fitting

SETUP = Path("envs/setup")
# How an install script ends where this system cannot have the server (EX_UNAVAILABLE).
UNAVAILABLE = 69
LINES_ABOVE = "not installed, the lines above say why"


def install_packages(stores: Iterable[Store]) -> str:
    """Install the distribution's packages of the stores; returns what is wrong, or ""."""
    names = [store.folder.name for store in stores]
    done = subprocess.run([SETUP.absolute(), *names])
    return f"packages of the distribution: {LINES_ABOVE}" if done.returncode else ""


def install_server(store: Store, download: bool) -> None:
    """Install the server of the store, from its makers' package only with ``download``.

    Unavailable where this system cannot have it, EnvironmentFault for all else that is wrong.
    """
    script = store.folder / "install"
    if script.is_file():
        status = subprocess.run([script.absolute()]).returncode
        if status:
            kind = Unavailable if status == UNAVAILABLE else EnvironmentFault
            raise kind(f"{store.title}: {LINES_ABOVE}")
    elif download and store.native and store.native.packages:
        package = fitting(store)
        if package is None:
            raise Unavailable(
                f"{store.title}: no known package is made for this machine; {store.native.remedy}"
            )
        print(f"{store.title} {package.version} ({package.license}) from {package.url}")
        _, program = add(fetch(store, package), lambda _question: False)
        print(f"{store.title} is ready: {program}")
    if store.native and (problem := native.missing_requirement(store)):
        kind = Unavailable if store.native.packages else EnvironmentFault
        raise kind(f"{store.title}: {sentence(problem)}")


class Unavailable(EnvironmentFault):
    """A server that this system cannot have, or that is fetched only by its name."""
