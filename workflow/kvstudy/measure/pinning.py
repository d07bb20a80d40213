"""Binding server and client to cores of their own (``pin_cpus``)."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass

from kvstudy.errors import KvstudyError
from kvstudy.measure.kernel import Tree, core_numbers, usable_cores

KEY = "config/config.yaml: pin_cpus"


@dataclass(frozen=True)
class Pinning:
    """Hardware threads of each side as lists that taskset and Docker read, such as ``0-1,4``."""

    server: str
    client: str


def pinning(wanted: str, provider: str, tree: Tree | None = None) -> Pinning | None:
    """``false``: None. ``true``: the usable cores in two halves. ``0,1/2,3``: server, client.

    KvstudyError when the cores cannot be had, or nothing is started here.
    """
    if wanted == "false":
        return None
    if provider == "external":
        raise KvstudyError(
            f"{KEY}: a server that already runs (provider external) cannot be bound to cores from "
            "here; bind it where it is started, and set pin_cpus: false"
        )
    if shutil.which("taskset") is None:
        raise KvstudyError(f"{KEY}: no program taskset; install util-linux, or set pin_cpus: false")
    tree = tree or Tree()
    usable = usable_cores(tree)
    if usable is None:
        raise KvstudyError(f"{KEY}: the usable cores are not visible here; set pin_cpus: false")
    if len(usable) < 2:
        raise KvstudyError(
            f"{KEY}: only core {usable[0]} is usable here, so server and client cannot have cores "
            "of their own; set pin_cpus: false"
        )
    if wanted == "true":
        server, client = _halves(tree, usable)
        return Pinning(_text(server), _text(client))
    server_text, slash, client_text = wanted.partition("/")
    if not slash:
        raise KvstudyError(f"{KEY}: '{wanted}' is none of true, false and server/client (0,1/2,3)")
    server, client = (
        _checked("server", server_text, usable),
        _checked("client", client_text, usable),
    )
    if both := set(server) & set(client):
        raise KvstudyError(
            f"{KEY}: server and client both have core {_text(sorted(both))}; give them others"
        )
    return Pinning(_text(server), _text(client))


def _halves(tree: Tree, usable: list[int]) -> tuple[list[int], list[int]]:
    """Server's and client's half; the client has the larger one. Threads of a core stay together.

    A single core with two threads is split all the same.
    """
    cores: dict[tuple[int, ...], list[int]] = {}
    for number in usable:
        siblings = tree.text(f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        key = tuple(core_numbers(siblings)) if siblings else (number,)
        cores.setdefault(key, []).append(number)
    groups = list(cores.values()) if len(cores) > 1 else [[number] for number in usable]
    half = len(groups) // 2
    server, client = groups[:half], groups[half:]
    return list(itertools.chain(*server)), list(itertools.chain(*client))


def _checked(side: str, text: str, usable: list[int]) -> list[int]:
    try:
        cores = core_numbers(text)
    except ValueError:
        raise KvstudyError(f"{KEY}: {side}: '{text}' is no list of cores such as 0-1,4") from None
    if wrong := sorted(set(cores) - set(usable)):
        raise KvstudyError(
            f"{KEY}: {side}: core {_text(wrong)} is not usable here; usable are {_text(usable)}"
        )
    return cores


def _text(cores: list[int]) -> str:
    """``[0, 1, 2, 5]`` as ``0-2,5``."""
    runs: list[list[int]] = []
    for core in sorted(cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
