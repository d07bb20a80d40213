"""Start and stop a private dockerd."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("dockerd", "docker", "setpriv", "umount", "unshare", "nsenter", "ip", "iptables")
# A bridge, forwarding and firewall rules are the machine's, and outlive the daemon. On the host's
# network none of them is needed.
NO_BRIDGE = ("--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-forward=false")
# All that a daemon sets of the network is in a namespace of its own, and gone with it.
OWN_NETWORK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


@dataclass(frozen=True)
class Daemon:
    """A dockerd: its DOCKER_HOST, and how a program is started in its network."""

    host: str
    inside: tuple[str, ...]


class NoDaemon(Exception):
    """The machine cannot run a daemon of our own; the text says why and what to do."""


def missing() -> str | None:
    """Why no private daemon can run here, or None."""
    if os.geteuid() != 0:
        return "a private dockerd needs root: run these tests as root"
    absent = [program for program in NEEDED if not shutil.which(program)]
    if absent:
        packages = "docker.io util-linux iproute2 iptables"
        return f"not installed: {', '.join(absent)} (apt-get install {packages})"
    return None


@contextmanager
def private_daemon(start_seconds: float = 60) -> Iterator[str]:
    """Run a dockerd of our own, without a bridge; yields its DOCKER_HOST.

    Raises NoDaemon when it cannot run here, with the end of its log.
    """
    with _running((), NO_BRIDGE, start_seconds) as daemon:
        yield daemon.host


@contextmanager
def daemon_with_bridge(*options: str, start_seconds: float = 60) -> Iterator[Daemon]:
    """Run a dockerd with a bridge, and further options, in a network namespace of its own."""
    with _running(OWN_NETWORK, options, start_seconds) as daemon:
        yield daemon


@contextmanager
def _running(
    before: Sequence[str], options: Sequence[str], start_seconds: float
) -> Iterator[Daemon]:
    if reason := missing():
        raise NoDaemon(reason)
    # A Unix socket's path may have 108 characters; pytest's own directories are too deep.
    home = Path(tempfile.mkdtemp(prefix="kvd-"))
    log = home / "log"
    process = None
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(
                _command(home, before, options), stdout=out, stderr=out, start_new_session=True
            )
        host = f"unix://{home}/sock"
        _wait_until_ready(host, process, log, start_seconds)
        yield Daemon(host, ("nsenter", f"--net=/proc/{process.pid}/ns/net"))
    finally:
        if process is not None:
            _stop(process, home)
        shutil.rmtree(home, ignore_errors=True)


def docker(host: str, *arguments: str, **options) -> str:
    """Standard output of a docker command against the daemon; raises when it fails."""
    command = ["docker", "--host", host, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout.decode()


def _command(home: Path, before: Sequence[str], options: Sequence[str]) -> list[str]:
    # mkdtemp likes names such as kvd-__x1, which containerd refuses as a namespace.
    space = f"kvstudy-test-{os.getpid()}"
    (home / "daemon.json").write_text("{}")  # else /etc/docker/daemon.json would be read
    return [
        # Should the test session be killed, the daemon gets SIGTERM and stops its containers.
        *("setpriv", "--pdeathsig", "TERM", *before),
        *("dockerd", "--config-file", f"{home}/daemon.json"),
        *("--data-root", f"{home}/data", "--exec-root", f"{home}/exec"),
        *("--pidfile", f"{home}/pid", "--host", f"unix://{home}/sock"),
        *options,
        # Where a containerd runs already, dockerd shares it with the machine's own daemon.
        *("--containerd-namespace", space, "--containerd-plugins-namespace", f"{space}-plugins"),
        *("--shutdown-timeout", "5"),
    ]


def _wait_until_ready(host: str, process: subprocess.Popen, log: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        answer = subprocess.run(
            ["docker", "--host", host, "version"], capture_output=True, check=False
        )
        if answer.returncode == 0:
            return
        if process.poll() is not None or time.monotonic() > end:
            tail = log.read_text(errors="replace")[-1500:]
            raise NoDaemon(f"dockerd does not start here (exit {process.poll()}):\n{tail}")
        time.sleep(0.1)


def _stop(process: subprocess.Popen, home: Path) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    # dockerd leaves the mount of the host's network namespace behind.
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    for point in reversed([line.split()[1] for line in mounts]):
        if point.startswith(f"{home}/"):
            subprocess.run(["umount", "--lazy", point], check=False)
