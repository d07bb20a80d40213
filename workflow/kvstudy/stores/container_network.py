"""The networks by which clients on this machine reach a container; see ``StoreUse.network``.

Of a published port, a connection to 127.0.0.1 is accepted and passed on by the process
docker-proxy; one to the address that this machine has on the bridge gets another destination in
the kernel, and docker-proxy sees nothing of it. Neither needs a setting of the daemon.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from subprocess import CompletedProcess

import psutil

from kvstudy.errors import InvalidMeasurement
from kvstudy.stores.docker_daemon import docker, last_line, network_of_its_own
from kvstudy.stores.server import HOST
from kvstudy.study.parts import Network

PROXY = "docker-proxy"
CONTAINER_ADDRESS = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
BRIDGE_NAME = '{{index .Options "com.docker.network.bridge.name"}}'
# Of the time of a phase: requests that docker-proxy carries take it more.
CARRIED = 0.01


def inside(network: Network) -> str:
    """The address at which a server in the container listens.

    In a network of the container's own that is any: only other containers are there.
    """
    return HOST if network == "host" else "0.0.0.0"


def outside(network: Network, container: str = "") -> str:
    """The address that clients connect to; "" while the ``container`` has none on the bridge."""
    if network == "bridge":
        return docker("inspect", "--format", CONTAINER_ADDRESS, container).stdout.strip()
    return _address_of(_bridge().stdout.strip()) if network == "nat" else HOST


def bridge_problem(network: Network) -> str | None:
    """Return why the daemon has not what the network needs, or None."""
    if network == "host":
        return None
    done = _bridge()
    # A published port is all that is here of a bridge in a network of Docker's own.
    if done.returncode == 0 and (network == "proxy" or _address_of(done.stdout.strip())):
        return None
    why = f" ({last_line(done.stderr)})" if done.returncode else ""
    return (
        f"network {network}: Docker has no network 'bridge' with an address here{why}; start the "
        "daemon without --bridge none"
    )


def _bridge() -> CompletedProcess[str]:
    return docker("network", "inspect", "bridge", "--format", BRIDGE_NAME)


def _address_of(interface: str) -> str:
    """The address that this machine has there; "" without one."""
    addresses = psutil.net_if_addrs().get(interface, [])
    return next((each.address for each in addresses if each.family == socket.AF_INET), "")


def options(network: Network, host: str, ports: Sequence[int]) -> list[str]:
    """The options of ``docker run`` for a server that clients reach at ``host`` and ``ports``."""
    if network == "host":
        return ["--network", "host"]
    published = [] if network == "bridge" else ports
    return ["--network", "bridge", *(f"--publish={host}:{port}:{port}" for port in published)]


@contextlib.contextmanager
def carried(network: Network, port: int) -> Iterator[list[int]]:
    """Yield the processes between clients and the published ``port``.

    A KvstudyError when docker-proxy carried what it should not, or did not what it should.
    """
    processes = _proxies(port) if network in ("proxy", "nat") else []
    began, before = time.monotonic(), _cpu_seconds(processes)
    yield [each.pid for each in processes]
    spent = _cpu_seconds(processes) - before
    if network == "nat" and spent > CARRIED * (time.monotonic() - began):
        raise InvalidMeasurement(
            f"network nat: {PROXY} carried the requests, and not the kernel; the Docker daemon "
            "must run without --iptables=false"
        )
    # Docker Desktop and rootless Docker have something else, elsewhere.
    if network == "proxy" and not spent and not network_of_its_own():
        raise InvalidMeasurement(
            f"network proxy: {PROXY} carried no request; the Docker daemon must run without "
            "--userland-proxy=false"
        )


def _proxies(port: int) -> list[psutil.Process]:
    """The processes of docker-proxy that listen to the ``port``."""
    return [
        each
        for each in psutil.process_iter(["name", "cmdline"])
        if each.info["name"] == PROXY
        if ("-host-port", str(port)) in pairwise(each.info["cmdline"] or [])
    ]


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """Sum up what they have used so far; nothing of those that have ended."""
    spent = 0.0
    for each in processes:
        with contextlib.suppress(psutil.Error):
            times = each.cpu_times()
            spent += times.user + times.system
    return spent
