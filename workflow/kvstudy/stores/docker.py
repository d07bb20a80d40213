"""Provider ``docker``: the server is a container, run with the ``docker`` command line.

Unless the study names another network, the container shares the host's and its server
binds to loopback. A published port would put the docker-proxy process between client and
server: with 4 connections it halved the throughput that redis-benchmark saw. Memory and
CPUs are not limited (but for ``pin_cpus``), and the data is in the container's own
volumes, which are removed with it.
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
from contextlib import AbstractContextManager
from pathlib import Path

from kvstudy.errors import EnvironmentFault
from kvstudy.language.reasons import sentence
from kvstudy.stores import process
from kvstudy.stores.configuration import template
from kvstudy.stores.container_network import bridge_problem, carried, inside, options, outside
from kvstudy.stores.definition import Store
from kvstudy.stores.docker_daemon import daemon_problem, docker, endpoint, last_line, other_way
from kvstudy.stores.server import COMMAND_SECONDS, POLL_SECONDS, LocalServer, failure, log_tail

# For a container to have an address, and for its end.
START_SECONDS = STOP_SECONDS = 30


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
    if problem := daemon_problem(store) or bridge_problem(store.network or "host"):
        return problem
    # A Dockerfile builds the image from the release that the native server runs.
    if not (store.folder / "Dockerfile").is_file() or store.installed.is_dir():
        return None
    if docker("image", "inspect", store.docker.image).returncode == 0:
        return None
    return (
        f"{file}: docker.image: {store.docker.image} is built from {store.installed}, which "
        f"is not here: run 'make servers STORES={store.folder.name}'"
    )


class DockerServer(LocalServer):
    """A container with a store's server; its output goes to ``log``.

    Its configuration files are in ``data`` and are mounted, so the daemon must
    see that folder. ``cores`` are those that it may run on; empty for all.
    """

    def __init__(self, store: Store, port: int, data: Path, log: Path, cores: str = "") -> None:
        self.network = store.network or "host"
        values = {"data": store.docker.data}
        super().__init__(store, store.docker, port, data, log, values, inside(self.network))
        self.name = f"kvstudy-{store.name}-{os.getpid()}-{secrets.token_hex(4)}"
        # That of a container on the bridge is known when it runs.
        self.host = "" if self.network == "bridge" else outside(self.network)
        self.command = [
            *("docker", "run", "--rm", "--name", self.name),
            *("--label", f"kvstudy.store={store.name}"),
            *options(self.network, self.host, [port, *self.ports.values()]),
            *("--log-driver", "none"),
            *(("--cpuset-cpus", cores) if cores else ()),
            *(f"--volume={place}:{name}:ro" for name, place in self.places.items()),
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
            "docker_version": docker("version", "--format", "{{.Server.Version}}").stdout.strip(),
        }
        self.write_files()
        # Recorded before it exists: whoever kills us in between, the next cell finds it.
        entry = {"kind": "container", "what": self.store.name, "name": self.name}
        self._record = process.record(self.name, entry | {"daemon": endpoint()})
        with self.log.open("wb") as log:
            # `docker run` stays in the foreground: its exit is the server's, its output the
            # server's. It hands SIGTERM on to the server, so the container ends when we die.
            self._client = process.start(self.command, log, log, sign="TERM")
        limit = time.monotonic() + START_SECONDS
        while not self.host and self._client.poll() is None:
            if time.monotonic() > limit:
                raise EnvironmentFault(f"container {self.name} got no address on Docker's bridge")
            time.sleep(POLL_SECONDS)
            self.host = outside(self.network, self.name)

    def path(self) -> AbstractContextManager[list[int]]:
        return carried(self.network, self.port)

    def run_beside(self, command: list[str]) -> None:
        try:
            done = docker(*command[1:], seconds=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            # What runs in the container ends with it at the latest.
            raise OSError(f"{shlex.join(command)}: no end after {COMMAND_SECONDS} s") from None
        if done.returncode:
            said = log_tail(done.stdout + done.stderr)
            raise OSError(failure(command, done.returncode, said))

    def stop(self) -> None:
        if self._client is not None:
            if self.store.stop_signal == "TERM" and self._client.poll() is None:
                docker("stop", "-t", str(STOP_SECONDS), self.name)
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
        output = docker("container", "inspect", "--format", "{{.State.Pid}}", self.name)
        return [int(output.stdout)] if output.returncode == 0 else []

    def describe(self) -> dict:
        about = {"kind": self.network, "host": self.host}
        return {
            "provider": "docker",
            "image": self.store.docker.image,
            "command": self.command,
            "template": template(self.store, self.store.docker),
            "ports": self.ports,
            "after_start": self.after_start,
            **({"network": about} if self.store.network else {}),
            **self._facts,
        }

    def commands(self) -> dict[str, list[str]]:
        folders = sorted({str(path.parent) for path in self.files})
        stop = [f"docker rm --force --volumes {self.name}"]
        return {"start": self.start_lines(folders), "stop": stop}


def bring(store: Store) -> dict:
    """Return Docker's description of the store's image, which is pulled or built if missing."""
    image = store.docker.image
    output = docker("image", "inspect", image)
    if output.returncode:
        command = ["pull", "--quiet", image]
        remedy = "check the name and the way to the registry, bring the image with `docker load`"
        if (dockerfile := store.folder / "Dockerfile").is_file():
            # Resolved: the folder may be a link to a release that somebody built.
            context = store.installed.resolve()
            command = ["build", "--quiet", "--tag", image, "--file", str(dockerfile), str(context)]
            remedy = f"see what 'docker {shlex.join(command)}' says"
        print(f"docker {shlex.join(command)}", file=sys.stderr, flush=True)
        done = docker(*command)
        if done.returncode:
            raise EnvironmentFault(
                f"{store.file}: docker.image: cannot {command[0]} {image} "
                f"({last_line(done.stderr)}); {remedy}, {other_way(store)}"
            )
        output = docker("image", "inspect", image)
    if output.returncode:
        raise EnvironmentFault(f"docker image inspect {image}: {last_line(output.stderr)}")
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


def _exists(name: str, daemon: str | None = None) -> bool | None:
    """True while the container exists in any state; None when the daemon does not answer."""
    listed = docker("ps", "--all", "--quiet", "--filter", f"name=^/{name}$", daemon=daemon)
    return None if listed.returncode else bool(listed.stdout.strip())


def _remove(name: str, client: subprocess.Popen | None, daemon: str | None = None) -> None:
    """Remove the container with its volumes and return when it is gone."""
    limit, exists = time.monotonic() + STOP_SECONDS, True
    while exists is not None and time.monotonic() < limit:
        # Again and again: a client stopped early may only now create the container, and with
        # --rm the daemon may be removing it already.
        said = docker("rm", "--force", "--volumes", name, daemon=daemon)
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
        f"container {name} could not be removed ({last_line(said.stderr)}); the next cell tries "
        f"again, or run: docker rm --force --volumes {name}"
    )
