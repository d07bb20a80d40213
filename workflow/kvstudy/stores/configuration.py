"""The configuration of a server: its command, and its reported settings."""

import contextlib
import functools
import json
import platform
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kvstudy.errors import InputError, KvstudyError
from kvstudy.stores.definition import ProviderCommands, Store
from kvstudy.stores.process import pinning_prefix
from kvstudy.stores.server import Server, ask
from kvstudy.study.cells import Cell
from kvstudy.study.model import Study
from kvstudy.study.probe import FACTS
from kvstudy.study.raw import (
    GAP,
    PROBE_PROTOCOL,
    PROTOCOL,
    SETTINGS,
    SUMS,
    changed_parameters,
    file_digest,
    is_gap,
    is_measured,
    raw_directory,
)

# Settings that show one server of a store from the next one, and what nobody else should read.
PRIVATE = re.compile("pass|auth|secret|token|uuid|uid|hostname|pid", re.I)


def template(store: Store, way: ProviderCommands) -> dict:
    """Return what starts a server, nothing filled in, so that it is the same in all cells."""
    files = {name: file_digest(store.folder / source) for name, source in way.files.items()}
    return {"command": way.command, "environment": way.environment, "files": files}


def record_settings(store: Store, server: Server, work: Path) -> str:
    """Write what the server says of its settings to ``work``; return the checksum of that file.

    "" where it says nothing. Its ports and its places below ``work`` are left out, which are other
    ones in each cell.
    """
    reported: dict[str, str] = {}
    # A server of somebody else need not answer everything.
    with contextlib.suppress(KvstudyError):
        reported = ask(store, server, "settings") or {}
    if not reported:
        return ""
    ports = {str(port) for port in (server.port, *server.describe().get("ports", {}).values())}
    places = [
        *filter(None, (str(work.absolute()), platform.node())),
        *(f":{port}" for port in ports),
    ]
    settings = {
        name: value
        for name, value in sorted(reported.items())
        if not PRIVATE.search(name)
        and not ("port" in name.lower() and value in ports)
        and not any(place in value for place in places)
    }
    path = work / SETTINGS
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    return file_digest(path)


def added_arguments(server: dict, store: Store) -> list[str] | None:
    """Return what a recorded command has behind that of every server of the store.

    ``server`` is that of a manifest. None where it has no command, as of a server that ran already,
    or store.yaml has another one by now; nothing was added where it has more by now.
    """
    docker = server.get("provider") == "docker"
    way, command = store.docker if docker else store.native, server.get("command")
    if way is None or not command:
        return None
    plain = way.command[: len(way.command) - len(store.arguments)]
    # Before it is what runs it.
    runner = command[: command.index(server["image"]) + 1] if docker else pinning_prefix("0")
    start = len(runner) if runner[0] == command[0] else 0
    words = command[start:]
    return words[len(plain) :] if _fits(words[: len(plain)], plain[: len(words)]) else None


def changes(manifest: dict, store: Store) -> str:
    """Return what the store's options add to the commands now, and did not when it was measured.

    "" for nothing, and for what the manifest of the cell or probe does not tell.
    """
    changes = {}
    added = added_arguments(manifest.get("server", {}), store)
    if added is not None and not _fits(added, store.arguments):
        changes["arguments"] = " ".join(added), " ".join(store.arguments)
    for phase in manifest.get("phases", {}).values():
        given = dict(word.split("=", 1) for word in phase.get("command", ()) if "=" in word)
        for choice in store.choices.values() if given else ():
            for name, value in choice.properties.items():
                if name not in given or not _fits([given[name]], [value]):
                    changes[name] = given.get(name, ""), value
    return ", ".join(
        f"{name} was {was or 'none'}, is now {now or 'none'}"
        for name, (was, now) in changes.items()
    )


def is_current(study: Study, stores: Mapping[str, Store], run: str, cell: Cell) -> bool:
    """Return whether the cell's logs are there, and were measured as the study would do it now."""
    return is_measured(run, cell) and not outdated(study, stores, run, cell)


def outdated(study: Study, stores: Mapping[str, Store], run: str, cell: Cell) -> str:
    """Return what the cell in ``run`` was measured with and would not be now; "" for nothing.

    This alone decides whether a cell that is there is measured again. Files that cannot be read are
    no reason: ``kvstudy parse`` names them.
    """
    raw = raw_directory(run, cell)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        name = GAP if is_gap(run, cell) else "manifest.json"
        manifest = json.loads((raw / name).read_text(encoding="utf-8"))
        return _listed(
            changed_parameters(study, manifest["cell"], cell),
            changes(manifest, stores[cell.store]),
            _protocol(manifest, PROTOCOL),
        )
    return ""


def mixed_repetitions(study: Study, stores: Mapping[str, Store], run: str, cell: Cell) -> str:
    """Return what other repetitions of the cell were measured with and it would not be.

    With the folder of the first of them; "" where all were measured as it would be.
    """
    for path in sorted((raw_directory(run, cell).parent).glob(f"rep*/{SUMS}")):
        number = path.parent.name.removeprefix("rep")
        other = replace(cell, repetition=int(number)) if number.isdecimal() else cell
        if other != cell and (changed := outdated(study, stores, run, other)):
            return f"{path.parent}: measured with other parameters: {changed}"
    return ""


def outdated_probe(plan: dict, store: Store, folder: Path) -> str:
    """Return what the finished probe in ``folder`` depends on that is not in its ``plan`` now."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        return _listed(
            changed_plan(facts, plan), changes(facts, store), _protocol(facts, PROBE_PROTOCOL)
        )
    return ""


def changed_plan(facts: dict, plan: dict) -> str:
    """Return what a probe's ``facts`` have otherwise than its ``plan``; "" for nothing."""
    was = facts["plan"]
    return ", ".join(
        f"{key} was {was.get(key)}, is now {value}"
        for key, value in plan.items()
        if was.get(key) != value
    )


def _protocol(manifest: dict, now: int) -> str:
    was = manifest.get("protocol", now)
    return "" if was == now else f"protocol was {was}, is now {now}"


def _listed(*changed: str) -> str:
    return ", ".join(filter(None, changed))


def check_options(manifest: dict, store: Store, folder: Path) -> None:
    """Raise InputError when what was measured in ``folder`` had something else by its options."""
    if changed := changes(manifest, store):
        raise InputError(
            f"{folder}: measured with other options than {store.file} has now: {changed}. Put "
            "that file back, or remove SHA256SUMS in that folder to measure it again"
        )


def _fits(texts: Sequence[str], templates: Sequence[str]) -> bool:
    """Return whether the ``texts`` are the ``templates`` with something filled in."""
    return len(texts) == len(templates) and all(
        _pattern(part).fullmatch(text) for part, text in zip(templates, texts, strict=True)
    )


@functools.cache
def _pattern(part: str) -> re.Pattern:
    pieces = string.Formatter().parse(part)
    parts = (re.escape(text) + ".*" * (name is not None) for text, name, *_ in pieces)
    return re.compile("".join(parts), re.DOTALL)
