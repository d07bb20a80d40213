"""Provider ``docker``: the server is a container, run with the ``docker`` command line.

The container shares the host's network and its server binds to loopback. A published
port would put the docker-proxy process between client and server: with 4 connections
it halved the throughput that redis-benchmark saw. Memory and CPUs are not limited (but
for ``pin_cpus``), and the data is in the container's own volumes, which are removed
with it.
"""

import contextlib
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kvstudy.errors import EnvironmentFault
from kvstudy.language.reasons import reason, sentence
from kvstudy.stores import process
from kvstudy.stores.configuration import template
from kvstudy.stores.definition import Store
from kvstudy.stores.server import COMMAND_SECONDS, LocalServer, failure, log_tail

NATIVE = "or choose the provider native in config/config.yaml"
STOP_SECONDS = 30


def missing_requirement(store: Store) -> str | None:
    """Return what a container of the store lacks here, with the remedy; its image can be built."""
    file = store.file
    if store.docker is None:
        return f"{store.title} has no Docker image in {file}"
    if not re.search(r"@sha256:[0-9a-f]{64}$|:[^/:]*\d+\.\d+\.\d+[^/:]*$", store.docker.image):
        return (
            f"{file}: docker.image: {store.docker.image} is not an exact version; "
            "name a tag such as 1.2.3 or a digest"
        )
    files = (store.folder / template for template in store.docker.files.values())
    texts = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    filled = [*store.docker.command, *store.docker.environment.values()]
    if "{host}" not in " ".join(filled) and "$host" not in " ".join(texts):
        return (
            f"{file}: docker.command: without {{host}} the server would listen to other machines; "
            "add the image's option for the address, with the value {host}, or a file with $host"
        )
    if problem := daemon_problem():
        return problem
    # A Dockerfile builds the image from the release that the native server runs.
    if not (store.folder / "Dockerfile").is_file() or store.installed.is_dir():
        return None
    if _docker("image", "inspect", store.docker.image).returncode == 0:
        return None
    return (
        f"{file}: docker.image: {store.docker.image} is built from {store.installed}, which "
        f"is not here: run 'make servers STORES={store.folder.name}'"
    )


class DockerServer(LocalServer):
    """A container whose server listens on loopback; its output goes to ``log``.

    Its configuration files are in ``data`` and are mounted, so the daemon must
    see that folder. ``cores`` are those that it may run on; empty for all.
    """

    def __init__(self, store: Store, port: int, data: Path, log: Path, cores: str = "") -> None:
        super().__init__(store, store.docker, port, data, log, {"data": store.docker.data})
        self.name = f"kvstudy-{store.name}-{os.getpid()}-{secrets.token_hex(4)}"
        self.command = [
            *("docker", "run", "--rm", "--name", self.name),
            *("--label", f"kvstudy.store={store.name}"),
            *("--network", "host", "--log-driver", "none"),
            *(("--cpuset-cpus", cores) if cores else ()),
            *(f"--volume={place}:{inside}:ro" for inside, place in self.places.items()),
            *(f"--env={name}={value}" for name, value in self.environment.items()),
            store.docker.image,
            *self.filled(store.docker.command),
        ]
        self.after_start = [["docker", "exec", self.name, *command] for command in self.after_start]
        self._facts: dict = {}
        self._client: subprocess.Popen | None = None
        self._record: Path | None = None

    def start(self) -> None:
        if problem := missing_requirement(self.store):
            raise EnvironmentFault(sentence(problem))
        image = bring(self.store)
        self._facts = {
            # The image's id where it came from no registry.
            "digest": (image.get("RepoDigests") or [image["Id"]])[0],
            "image_id": image["Id"],
            "docker_version": _docker("version", "--format", "{{.Server.Version}}").stdout.strip(),
        }
        self.write_files()
        # Recorded before it exists: whoever kills us in between, the next cell finds it.
        entry = {"kind": "container", "what": self.store.name, "name": self.name}
        self._record = process.record(self.name, entry | {"daemon": _endpoint()})
        with self.log.open("wb") as log:
            # `docker run` stays in the foreground: its exit is the server's, its output the
            # server's. It hands SIGTERM on to the server, so the container ends when we die.
            self._client = process.start(self.command, log, log, sign="TERM")

    def run_beside(self, command: list[str]) -> None:
        try:
            done = _docker(*command[1:], seconds=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            # What runs in the container ends with it at the latest.
            raise OSError(f"{shlex.join(command)}: no end after {COMMAND_SECONDS} s") from None
        if done.returncode:
            said = log_tail(done.stdout + done.stderr)
            raise OSError(failure(command, done.returncode, said))

    def stop(self) -> None:
        if self._client is not None:
            if self.store.stop_signal == "TERM" and self._client.poll() is None:
                _docker("stop", "-t", str(STOP_SECONDS), self.name)
            _remove(self.name, self._client)
        if self._record is not None:
            self._record.unlink(missing_ok=True)

    def died(self) -> str | None:
        status = self._client.poll()
        if status is None:
            return None
        if status == 125:
            return "could not be started by Docker"
        return process.describe_exit(128 - status if status > 128 else status)

    def process_ids(self) -> list[int]:
        output = _docker("container", "inspect", "--format", "{{.State.Pid}}", self.name)
        return [int(output.stdout)] if output.returncode == 0 else []

    def describe(self) -> dict:
        return {
            "provider": "docker",
            "image": self.store.docker.image,
            "command": self.command,
            "template": template(self.store, self.store.docker),
            "ports": self.ports,
            "after_start": self.after_start,
            **self._facts,
        }

    def commands(self) -> dict[str, list[str]]:
        folders = sorted({str(path.parent) for path in self.files})
        stop = [f"docker rm --force --volumes {self.name}"]
        return {"start": self.start_lines(folders), "stop": stop}


def bring(store: Store) -> dict:
    """Return Docker's description of the store's image, which is pulled or built if missing."""
    image = store.docker.image
    output = _docker("image", "inspect", image)
    if output.returncode:
        command = ["pull", "--quiet", image]
        remedy = "check the name and the way to the registry, bring the image with `docker load`"
        if (dockerfile := store.folder / "Dockerfile").is_file():
            # Resolved: the folder may be a link to a release that somebody built.
            context = store.installed.resolve()
            command = ["build", "--quiet", "--tag", image, "--file", str(dockerfile), str(context)]
            remedy = f"see what 'docker {shlex.join(command)}' says"
        print(f"docker {shlex.join(command)}", file=sys.stderr, flush=True)
        done = _docker(*command)
        if done.returncode:
            raise EnvironmentFault(
                f"{store.file}: docker.image: cannot {command[0]} {image} "
                f"({_last_line(done.stderr)}); {remedy}, {NATIVE}"
            )
        output = _docker("image", "inspect", image)
    if output.returncode:
        raise EnvironmentFault(f"docker image inspect {image}: {_last_line(output.stderr)}")
    return json.loads(output.stdout)[0]


def sweep() -> list[str]:
    """Remove the containers that an earlier cell left behind; returns what they were.

    Only recorded names are removed. While the daemon is down a record stays for the next time.
    """
    removed = []
    for path, entry in process.leftovers("container"):
        daemon = entry["daemon"]
        exists = _exists(entry["name"], daemon) if shutil.which("docker") else None
        if exists is None:
            continue
        if exists:
            _remove(entry["name"], None, daemon)
            removed.append(f"{entry['what']} (container {entry['name']})")
        path.unlink(missing_ok=True)
    return removed


def _docker(
    *arguments: str, daemon: str | None = None, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    host = ["--host", daemon] if daemon else []
    return subprocess.run(
        ["docker", *host, *arguments], capture_output=True, text=True, timeout=seconds
    )


def daemon_problem() -> str | None:
    """Return why containers cannot run on this machine's loopback, or None."""
    if not shutil.which("docker"):
        remedy = f"install Debian's package docker.io, {NATIVE}"
        return reason("no-program", program="docker", remedy=remedy)
    endpoint = _endpoint()
    if not endpoint.startswith("unix://"):
        return (
            f"the Docker daemon at {endpoint} is not on this machine, but servers are measured on "
            f"loopback: unset DOCKER_HOST or choose another `docker context`, {NATIVE}"
        )
    version = _docker("version", "--format", "{{.Server.Version}}")
    if version.returncode:
        remedy = "start it (systemctl start docker)"
        if "permission denied" in version.stderr:
            remedy = "add yourself to the group docker"
        return (
            f"the Docker daemon does not answer ({_last_line(version.stderr)}): {remedy}, {NATIVE}"
        )
    info = _docker("info", "--format", "{{.OperatingSystem}} {{.SecurityOptions}}").stdout
    if "Docker Desktop" in info or "name=rootless" in info:
        return (
            "Docker Desktop and rootless Docker keep a network of their own, so a container "
            f"cannot be on this machine's loopback: use Docker Engine run by root, {NATIVE}"
        )
    return None


def _endpoint() -> str:
    """Address of the daemon that the command line talks to (DOCKER_HOST, else its context)."""
    if host := os.environ.get("DOCKER_HOST"):
        return host
    context = _docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
    return context.stdout.strip() or "unix:///var/run/docker.sock"


def _exists(name: str, daemon: str | None = None) -> bool | None:
    """True while the container exists in any state; None when the daemon does not answer."""
    listed = _docker("ps", "--all", "--quiet", "--filter", f"name=^/{name}$", daemon=daemon)
    return None if listed.returncode else bool(listed.stdout.strip())


def _remove(name: str, client: subprocess.Popen | None, daemon: str | None = None) -> None:
    """Remove the container with its volumes and return when it is gone."""
    limit, exists = time.monotonic() + STOP_SECONDS, True
    while exists is not None and time.monotonic() < limit:
        # Again and again: a client stopped early may only now create the container, and with
        # --rm the daemon may be removing it already.
        said = _docker("rm", "--force", "--volumes", name, daemon=daemon)
        if client is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                client.wait(0.2)
        exists = _exists(name, daemon)
        if exists is False and (client is None or client.returncode is not None):
            return
        time.sleep(0.02)
    if client is not None:
        client.kill()
        client.wait()
    raise EnvironmentFault(
        f"container {name} could not be removed ({_last_line(said.stderr)}); the next cell tries "
        f"again, or run: docker rm --force --volumes {name}"
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
