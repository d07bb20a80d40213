"""Deviations of a run's servers from their defaults, as recorded in its cells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from kvstudy.stores.configuration import added_arguments, check_options
from kvstudy.stores.definition import Store
from kvstudy.study.raw import SETTINGS


def configurations(
    manifests: Mapping[str, dict], stores: Mapping[str, Store], raw: Path
) -> dict[str, dict]:
    """Return what environment.json says of the servers, by the names of their ``stores``.

    ``command`` is what started a server, ``arguments`` what options of the store added to it;
    ``edited``: store.yaml has another command by now. ``settings`` have what the
    server said of those that its arguments name, and of those in which servers of one product
    differ. What is empty or not recorded is left out. KvstudyError for a cell whose options had
    something else.
    """
    first: dict[str, tuple[str, dict]] = {}
    for cell, manifest in manifests.items():
        name, server = manifest["cell"]["store"], manifest["server"]
        check_options(manifest, stores[name], raw / cell)
        first.setdefault(name, (cell, server))
    settings = {name: _settings(raw / cell, server) for name, (cell, server) in first.items()}
    result = {}
    for name, (_, server) in first.items():
        added = added_arguments(server, stores[name])
        words = set(map(_plain, re.split(r"[\s=]+", " ".join(stores[name].arguments))))
        others = [
            settings[other]
            for other, (_, other_server) in first.items()
            if stores[other].folder == stores[name].folder
            and other_server.get("version") == server.get("version")
        ]
        recorded = server.get("command", [])
        about = {
            "command": server.get("template", {}).get("command") or (added is None and recorded),
            "arguments": stores[name].arguments if added else [],
            "edited": added is None and bool(recorded),
            "settings": {
                setting: value
                for setting, value in settings[name].items()
                if _plain(setting) in words
                or any(other.get(setting, value) != value for other in others)
            },
        }
        result[name] = {key: value for key, value in about.items() if value}
    return result


def _settings(folder: Path, server: dict) -> dict[str, str]:
    if not server.get("settings"):
        return {}
    return json.loads((folder / SETTINGS).read_text(encoding="utf-8"))


def _plain(name: str) -> str:
    """``--innodb-log-file-size`` as the server calls it."""
    return name.lstrip("-").replace("-", "_").lower()
