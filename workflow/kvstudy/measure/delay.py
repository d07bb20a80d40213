"""A longer way to the server: each request of a client waits, the answer does not.

A program of the bindings passes on what the clients send (``DelayProxy``). It shows how long each
piece really waited, which is what counts: a sleep takes longer than it was asked to.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kvstudy.errors import EnvironmentFault, InvalidMeasurement
from kvstudy.stores import process
from kvstudy.stores.server import HOST, POLL_SECONDS, Server, free_port, log_end

PROGRAM = "kvstudy.net.DelayProxy"
# Its threads wait most of the time; with one compiler and one collector it takes less of the rest.
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
START_SECONDS = 30
OUTPUT, ERRORS = "delay.out", "delay.err"


@dataclass
class Route:
    """The address that clients connect to.

    ``command`` is that of the program that delays, empty without one; ``process_ids`` are those of
    all programs between client and server. Afterwards ``facts`` has the delaying program's
    ``port``, that of the ``server``, the delay asked for (``micros``) and what requests really
    had: how many ``pieces``, ``mean`` and percentiles (``p50``) in us.
    """

    host: str
    port: int
    command: list[str] = field(default_factory=list)
    process_ids: list[int] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)


@contextlib.contextmanager
def route(server: Server, micros: int | None, classpath: str, work: Path) -> Iterator[Route]:
    """The way to ``server`` on which requests wait for ``micros``, while the block runs.

    Without ``micros`` it is the server's own address. The program's output goes to ``work``.
    EnvironmentFault when it does not start, or ends by itself.
    """
    with server.path() as between:
        if micros is None:
            yield Route(server.host, server.port, process_ids=between)
            return
        with _delayed(server, micros, classpath, work) as way:
            way.process_ids += between
            yield way


@contextlib.contextmanager
def _delayed(server: Server, micros: int, classpath: str, work: Path) -> Iterator[Route]:
    port = free_port(host=HOST)
    command = ["java", *JVM, PROGRAM, HOST, str(port), server.host, str(server.port), str(micros)]
    output, errors = work / OUTPUT, work / ERRORS
    environment = os.environ | {"CLASSPATH": classpath}
    with output.open("wb") as out, errors.open("wb") as err:
        started = process.running(
            command, out, err, "delay", signal.SIGTERM, environment=environment
        )
        with started as proxy:
            _wait_until_ready(proxy, output, errors)
            way = Route(HOST, port, command, [proxy.pid])
            try:
                yield way
            finally:
                _check_running(proxy, errors)
    way.facts = {"port": port, "server": server.port, "micros": micros} | _facts(output)


def _wait_until_ready(proxy: subprocess.Popen, output: Path, errors: Path) -> None:
    limit = time.monotonic() + START_SECONDS
    while not output.read_bytes():
        _check_running(proxy, errors)
        if time.monotonic() > limit:
            raise EnvironmentFault(
                f"the program that delays requests did not get ready in {START_SECONDS} s"
                f"{log_end(errors)}"
            )
        time.sleep(POLL_SECONDS)


def _check_running(proxy: subprocess.Popen, errors: Path) -> None:
    """Raise EnvironmentFault, before whatever clients say, where the program has ended."""
    if (status := proxy.poll()) is not None:
        raise EnvironmentFault(
            f"the program that delays requests {process.describe_exit(status)}{log_end(errors)}"
        )


def _facts(output: Path) -> dict[str, float]:
    try:
        _listening, *lines = output.read_text(encoding="utf-8").splitlines()
        facts = {name: float(value) for name, value in map(str.split, lines)}
        if facts["pieces"] > 0 and facts["p50"] > 0:
            return facts
    except (OSError, ValueError, KeyError):
        pass
    raise InvalidMeasurement(
        f"{output.name}: does not show how long the requests waited; measure the cell again"
    )
