"""Whether cells were measured alike: same machine, hosts, versions, client, Java, provider, cores.

A mean over cells that differ in one of these is a mean of nothing. Load, free
memory and the like change from cell to cell and are no difference here.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.language.reasons import sentence

# Java's own choices that do not follow the exact size of the memory.
CHOICE = re.compile(r"-XX:[+-]\S+")


@dataclass(frozen=True)
class Side:
    """One of the values and the cells that have it."""

    value: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """What is not the same in all cells."""

    what: str
    sides: tuple[Side, ...]


def differences(manifests: dict[str, dict]) -> list[Difference]:
    """What differs between the cells of these manifests, which are given by the cell's path.

    What a manifest does not record is no difference.
    """
    facts: dict[str, dict[frozenset[str], list[str]]] = {}
    for cell, manifest in manifests.items():
        for what, values in _facts(manifest).items():
            facts.setdefault(what, {}).setdefault(values, []).append(cell)
    return [
        Difference(what, tuple(_sides(sides))) for what, sides in facts.items() if len(sides) > 1
    ]


def refusal(differences: list[Difference], raw: Path) -> str:
    """Names what differs between which cells, and what to do."""
    lines = [f"{raw}: its cells were not measured alike:"]
    for difference in differences:
        sides = []
        for value, cells in ((side.value, side.cells) for side in difference.sides):
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            some = ", ".join([*cells[:2], *(["..."] if len(cells) > 2 else [])])
            sides.append(f"{value} ({count}, {some})")
        lines.append(f"  {difference.what}: {'; '.join(sides)}")
    lines.append(
        "A mean over them would mean nothing. Remove the folders of one side's cells to measure "
        "them again, or move the run's results away, or set mixed: true in config/config.yaml "
        "(the report then says what was mixed)"
    )
    return "\n".join(lines)


def read_manifests(raw: Path) -> dict[str, dict]:
    """Manifests of the cells that were measured already, by path; unreadable ones are left out."""
    manifests = {}
    for path in sorted(raw.glob("*/*/*/rep*/manifest.json")):
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            _facts(manifest)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError):
            # `kvstudy parse` will name the file.
            continue
        manifests[path.parent.relative_to(raw).as_posix()] = manifest
    return manifests


def usable_cores(manifest: dict) -> int | None:
    """How many hardware threads could be used where the cell was measured; None if unknown."""
    cores = cores_of(_components(manifest).get("CPU", {}).get("details") or "")
    return cores[1] if cores else None


def client_cores(manifest: dict, clients: int) -> int | None:
    """How many hardware threads so many clients could use together; None if unknown."""
    if not (hosts := manifest.get("hosts")):
        return usable_cores(manifest)
    of_hosts = [
        usable_cores({"environment": hosts["environments"][name]})
        for name in hosts["clients"][:clients]
    ]
    return None if None in of_hosts else sum(of_hosts)


def cores_of(details: str) -> tuple[int, int] | None:
    """Cores and usable hardware threads, from the details of a CPU; None where they tell none."""
    numbers = re.search(r"\bcores=(\d+) threads=(\d+)", details)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


def _components(manifest: dict) -> dict[str, dict]:
    return {part["component"]: part for part in manifest.get("environment") or []}


def _facts(manifest: dict) -> dict[str, frozenset[str]]:
    """All that must be the same in cells that are compared."""
    folder = manifest["cell"]["folder"]
    server = manifest.get("server") or {}
    client = manifest.get("client") or {}
    java = manifest.get("java") or {}
    parts = _components(manifest)

    def name(component: str) -> str | None:
        return sentence(parts.get(component, {}).get("name") or "") or None

    threads = usable_cores(manifest)
    flags = [flag for flag in java["flags"] if CHOICE.fullmatch(flag)] if java else []
    variables = java["variables"] if java else []
    provider = server.get("provider")
    facts: dict[str, str | frozenset[str] | None] = {
        # A store inside the client has no provider.
        "provider": None if provider == "none" else provider,
        "processor": name("CPU"),
        "usable cores": threads and f"{threads} hardware threads usable",
        "memory": name("Memory"),
        "operating system": name("OS"),
        "kernel": name("Kernel"),
        "Java": name("Java"),
        "Java flags": frozenset([*flags, *variables] or ["none"]) if java else None,
        "cores of server and client": _pinned(manifest),
        "hosts": _hosts(manifest),
        "the server's host": _machine_of_server(manifest),
        "YCSB client": client.get("kind"),
        f"jars of the client for {folder}": _jars(client.get("jars") or {}),
        f"server of {folder}": server.get("version"),
    }
    return {
        what: frozenset([value]) if isinstance(value, str) else value
        for what, value in facts.items()
        if value
    }


def _pinned(manifest: dict) -> str | None:
    pinning = manifest.get("pinning")
    if pinning:
        return f"server {pinning['server']}, client {pinning['client']}"
    # None for what was not measured here.
    return "not bound" if manifest.get("protocol") else None


def _hosts(manifest: dict) -> str | None:
    if hosts := manifest.get("hosts"):
        return f"server on {hosts['server']}, clients on {', '.join(hosts['clients'])}"
    # None for what was not measured here.
    return "server and clients on one" if manifest.get("protocol") else None


def _machine_of_server(manifest: dict) -> frozenset[str] | None:
    """What must be the same of it, where it has a host of its own."""
    if not (hosts := manifest.get("hosts")):
        return None
    parts = _components({"environment": hosts["environments"][hosts["server"]]})
    named = {name: parts[name] for name in ("OS", "Kernel", "CPU", "Memory") if name in parts}
    return frozenset(sentence(part["name"]) for part in named.values())


def _jars(jars: dict[str, str]) -> frozenset[str]:
    """Names with their version; a jar without one in its name has a part of its hash."""
    return frozenset(
        name if re.search(r"\d\.\d", name) else f"{name} ({digest[:12]})"
        for name, digest in jars.items()
    )


def _sides(sides: dict[frozenset[str], list[str]]) -> list[Side]:
    """The sides, the one with most cells first; of lists only what is not common to all."""
    common = frozenset.intersection(*sides)
    return [
        Side(", ".join(sorted(values - common)) or "without them", tuple(cells))
        for values, cells in sorted(sides.items(), key=lambda side: -len(side[1]))
    ]
