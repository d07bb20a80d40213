"""What the manifests of a run's cells tell of the machine and of how they were measured."""

from __future__ import annotations

from dataclasses import asdict

from kvstudy.study.alike import Difference


def findings(manifests: list[dict]) -> list[dict]:
    """The findings of the cells, equal ones together.

    Each has ``key``, ``title``, ``good``, ``consequence``, the number of
    ``cells`` with it, and their ``values``: the different ones, or the lowest
    and the highest where they are numbers.
    """
    found: dict[tuple, dict] = {}
    for manifest in manifests:
        for each in manifest.get("findings") or []:
            same = (each["key"], each["good"], each["consequence"])
            entry = found.setdefault(
                same,
                {key: each[key] for key in ("key", "title", "good", "consequence")}
                | {"cells": 0, "values": {}},
            )
            entry["cells"] += 1
            entry["values"].setdefault(each["value"], each.get("number"))
    order = list(dict.fromkeys(key for key, *_ in found))
    entries = sorted(found.values(), key=lambda entry: order.index(entry["key"]))
    return [entry | {"values": _values(entry["values"])} for entry in entries]


def _values(values: dict[str, float | None]) -> list[str]:
    if None in values.values() or len(values) < 3:
        return list(values)
    ordered = sorted(values, key=lambda value: values[value])
    return [ordered[0], ordered[-1]]


def looked_at(manifests: list[dict]) -> int:
    """How many cells have findings at all."""
    return sum(bool(manifest.get("findings")) for manifest in manifests)


def pinnings(manifests: list[dict]) -> list[dict]:
    """The cores that server and client were bound to, with the number of cells."""
    found: dict[tuple[str, str], int] = {}
    for manifest in manifests:
        if pinned := manifest.get("pinning"):
            sides = (pinned["server"], pinned["client"])
            found[sides] = found.get(sides, 0) + 1
    return [
        {"server": server, "client": client, "cells": cells}
        for (server, client), cells in found.items()
    ]


def java(manifests: list[dict]) -> list[dict]:
    """Each different Java with its flags."""
    found: list[dict] = []
    for manifest in manifests:
        told = manifest.get("java")
        if told and told not in found:
            found.append(told)
    return found


def mixtures(found: list[Difference]) -> list[dict]:
    """What was mixed, with the number of cells on each side."""
    return [
        {
            "what": difference.what,
            "sides": [asdict(side) | {"cells": len(side.cells)} for side in difference.sides],
        }
        for difference in found
    ]
