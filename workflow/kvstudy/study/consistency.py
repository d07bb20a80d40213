"""The consistency of cells: same machine, hosts, versions, settings, client, Java, cores.

A mean over cells that differ in one of these is a mean of nothing. Load, free
memory and the like change from cell to cell and are no difference here.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kvstudy.language.reasons import sentence
from kvstudy.study.naming import count
from kvstudy.study.raw import SETTINGS, SUMS

# A cell is compared with so many of those that are there: each was compared with others itself.
COMPARED = 50
# Java's own choices that do not follow the exact size of the memory.
CHOICE = re.compile(r"-XX:[+-]\S+")


def differences(manifests: dict[str, dict]) -> dict[str, list[tuple[str, list[str]]]]:
    """Return the differences between the cells of these manifests, given by the cell's path.

    By what it is: each value with its cells, the one with most cells first. What a manifest does
    not record is no difference.
    """
    facts: dict[str, dict[frozenset[str], list[str]]] = {}
    for cell, manifest in manifests.items():
        for what, values in _facts(manifest).items():
            facts.setdefault(what, {}).setdefault(values, []).append(cell)
    result = {}
    for what, sides in facts.items():
        if len(sides) > 1:
            # Of lists only what is not common to all.
            common = frozenset.intersection(*sides)
            result[what] = [
                (", ".join(sorted(values - common)) or "without them", cells)
                for values, cells in sorted(sides.items(), key=lambda side: -len(side[1]))
            ]
    return result


def refusal(differences: dict[str, list[tuple[str, list[str]]]], raw: Path) -> str:
    """Names what differs between which cells, and what to do."""
    lines = [f"{raw}: its cells were not measured under the same conditions:"]
    for what, sides in differences.items():
        differing = []
        for value, cells in sides:
            some = [*cells[:2], *(["..."] if len(cells) > 2 else [])]
            differing.append(f"{value} ({', '.join([count(len(cells), 'cell'), *some])})")
        lines.append(f"  {what}: {'; '.join(differing)}")
    lines.append(
        "A mean over them would mean nothing. Remove SHA256SUMS in the folders of one side's "
        "cells to measure them again, or move the run's results away, or set mixed: true in "
        "config/config.yaml (the report then says what was mixed)"
    )
    return "\n".join(lines)


def complete_cells(raw: Path) -> Iterator[Path]:
    """Return the folders of the cells that were measured already, one by one."""
    return (path.parent for path in raw.glob(f"*/*/*/rep*/{SUMS}"))


def read_manifests(raw: Path, cells: Iterable[Path] | None = None) -> dict[str, dict]:
    """Manifests of ``cells``, by default of all that were measured already, by path.

    Unreadable ones are left out.
    """
    manifests = {}
    for folder in sorted(complete_cells(raw)) if cells is None else cells:
        path = folder / "manifest.json"
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            _facts(manifest)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
            # `kvstudy parse` will name the file.
            continue
        manifests[path.parent.relative_to(raw).as_posix()] = manifest
    return manifests


def chosen_provider(manifest: dict) -> str | None:
    """The provider of the cell's server, None without a server, or where the study names it."""
    if manifest["cell"].get("network"):
        return None
    provider = (manifest.get("server") or {}).get("provider")
    return None if provider == "none" else provider


def client_cores(manifest: dict, clients: int) -> int | None:
    """Return the hardware threads that so many clients could use; None if unknown."""
    environments = [manifest.get("environment")]
    if hosts := manifest.get("hosts"):
        environments = [hosts["environments"][name] for name in hosts["clients"][:clients]]
    cores = [
        cores_of(_parts(machine).get("CPU", {}).get("details") or "") for machine in environments
    ]
    return None if None in cores else sum(threads for _, threads in cores)


def cores_of(details: str) -> tuple[int, int] | None:
    """Cores and usable hardware threads, from the details of a CPU; None where they show none."""
    numbers = re.search(r"\bcores=(\d+) threads=(\d+)", details)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def _settings(server: dict) -> frozenset[str]:
    """Return a server's command and its reported settings."""
    of = server.get("template") or {"command": [], "environment": {}, "files": {}}
    words = {" ".join(pair).strip() for pair in itertools.pairwise(["", *of["command"]])}
    words |= {f"{name}={value}" for name, value in of["environment"].items()}
    words |= {f"{name} ({digest[:12]})" for name, digest in of["files"].items()}
    if digest := server.get("settings"):
        words.add(f"{SETTINGS} ({digest[:12]})")
    return frozenset(words)


def _parts(environment: list[dict] | None) -> dict[str, dict]:
    """Return the components of a machine."""
    return {part["component"]: part for part in environment or []}


def _facts(manifest: dict) -> dict[str, frozenset[str]]:
    """All that must be the same in cells that are compared."""
    folder = manifest["cell"]["folder"]
    server, client, java, hosts, pinning = (
        manifest.get(key) or {} for key in ("server", "client", "java", "hosts", "pinning")
    )
    parts = _parts(manifest.get("environment"))

    def name(component: str) -> str | None:
        return sentence(parts.get(component, {}).get("name") or "") or None

    # Of clients on hosts of their own those of the first one.
    threads = cores_of(parts.get("CPU", {}).get("details") or "")
    flags = [flag for flag in java["flags"] if CHOICE.fullmatch(flag)] if java else []
    # Of what was not measured here neither is known.
    here = bool(manifest.get("protocol"))
    cores, places = ("not bound", "server and clients on one") if here else ("", "")
    if pinning:
        cores = f"server {pinning['server']}, client {pinning['client']}"
    host: frozenset[str] = frozenset()
    if hosts:
        places = f"server on {hosts['server']}, clients on {', '.join(hosts['clients'])}"
        of_host = _parts(hosts["environments"][hosts["server"]])
        named = [of_host[part] for part in ("OS", "Kernel", "CPU", "Memory") if part in of_host]
        host = frozenset(sentence(part["name"]) for part in named)
    facts: dict[str, str | frozenset[str] | None] = {
        "provider": chosen_provider(manifest),
        "processor": name("CPU"),
        "usable cores": threads and f"{threads[1]} hardware threads usable",
        "memory": name("Memory"),
        "operating system": name("OS"),
        "kernel": name("Kernel"),
        "Java": name("Java"),
        "Java flags": java and frozenset([*flags, *java["variables"]] or ["none"]),
        "cores of server and client": cores,
        "hosts": places,
        "the server's host": host,
        "YCSB client": client.get("kind"),
        # A jar without a version in its name has a part of its hash.
        f"jars of the client for {folder}": frozenset(
            jar if re.search(r"\d\.\d", jar) else f"{jar} ({digest[:12]})"
            for jar, digest in (client.get("jars") or {}).items()
        ),
        f"server of {folder}": server.get("version"),
        f"settings of {manifest['cell'].get('store')}": _settings(server),
    }
    return {
        what: frozenset([value]) if isinstance(value, str) else value
        for what, value in facts.items()
        if value
    }
