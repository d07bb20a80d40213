"""The Docker daemon of this machine, by the ``docker`` command line."""

import os
import shutil
import subprocess

from kvstudy.language.reasons import reason
from kvstudy.stores.definition import Store

NATIVE = "or choose the provider native in config/config.yaml"


def docker(
    *arguments: str, daemon: str | None = None, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the docker command; ``daemon`` is the address of another one than the usual."""
    host = ["--host", daemon] if daemon else []
    return subprocess.run(
        ["docker", *host, *arguments], capture_output=True, text=True, timeout=seconds
    )


def endpoint() -> str:
    """Address of the daemon that the command line talks to (DOCKER_HOST, else its context)."""
    if host := os.environ.get("DOCKER_HOST"):
        return host
    context = docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    return context.stdout.strip() or "unix:///var/run/docker.sock"


def other_way(store: Store | None) -> str:
    """The end of a remedy: what to do without Docker."""
    if store is None or store.network is None:
        return NATIVE
    return f"or leave the store {store.name} out of the study"


def daemon_problem(store: Store | None = None) -> str | None:
    """Return why containers of the store, by default of any, cannot be measured here, or None."""
    otherwise = other_way(store)
    if not shutil.which("docker"):
        remedy = f"install Debian's package docker.io, {otherwise}"
        return reason("no-program", program="docker", remedy=remedy)
    address = endpoint()
    if not address.startswith("unix://"):
        return (
            f"the Docker daemon at {address} is not on this machine, but servers are measured on "
            f"this one: unset DOCKER_HOST or choose another `docker context`, {otherwise}"
        )
    version = docker("version", "--format", "{{.Server.Version}}")
    if version.returncode:
        remedy = "start it (systemctl start docker)"
        if "permission denied" in version.stderr:
            remedy = "add yourself to the group docker"
        return (
            f"the Docker daemon does not answer ({last_line(version.stderr)}): {remedy}, "
            f"{otherwise}"
        )
    # A published port is what they, too, have.
    if not (store and store.network == "proxy") and network_of_its_own():
        return (
            "Docker Desktop and rootless Docker keep a network of their own, so a container cannot "
            "be on this machine's loopback or bridge: use Docker Engine run by root, or "
            f"'network: proxy' in the study, {otherwise}"
        )
    return None


def network_of_its_own() -> bool:
    """Return whether containers and this machine have no network in common."""
    info = docker("info", "--format", "{{.OperatingSystem}} {{.SecurityOptions}}").stdout
    return "Docker Desktop" in info or "name=rootless" in info


def last_line(text: str) -> str:
    """The last line of what the command said."""
    return (text.strip().splitlines() or ["no message"])[-1]
