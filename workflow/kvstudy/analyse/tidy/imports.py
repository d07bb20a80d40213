"""What imported logs lack, counted for the report."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.cells import Cell
from kvstudy.study.model import Study

NOT_IMPORTED = "not-imported"


def phases_of(manifest: dict, cell: Cell) -> list[str]:
    """The phases that have logs: of a cell that others measured, the load can be missing."""
    return [name for name in cell.phases if name in manifest["phases"]]


def interval_of(manifest: dict, cell: Cell, phase: str) -> str:
    """The property measurement.interval of ``phase``; those that others measured have their own."""
    own = manifest["phases"].get(phase, {}).get("interval")
    return own or dict(cell.properties).get("measurement.interval", "op")


def check_origin(study: Study, manifest: dict, raw: Path) -> None:
    """KvstudyError for an imported cell in a study that measures, and the other way round.

    Both in one mean would compare machines, and the report would say wrong things of one.
    """
    study_file = f"config/studies/{study.name}/study.yaml"
    if "imported" in manifest and not study.imported:
        raise KvstudyError(
            f"{raw}: was imported, but {study_file} has no key imported; imported and measured "
            "cells are not mixed. Set imported: true, or move the run's results away"
        )
    if study.imported and "imported" not in manifest:
        raise KvstudyError(
            f"{raw}: was measured here, but {study_file} says imported; imported and measured "
            "cells are not mixed. Remove that key, or move the run's results away"
        )


def imported_facts(manifests: list[dict]) -> dict[str, dict]:
    """For environment.json: the key ``imported``, or nothing where all cells were measured here.

    ``cells`` and ``logs`` count what was imported; ``ycsb`` are the versions that the
    logs name. ``without`` counts the cells that lack something, by its name.
    """
    found = [manifest for manifest in manifests if "imported" in manifest]
    if not found:
        return {}
    lacks = {
        "start": lambda manifest: manifest["started"] is None,
        "seconds": lambda manifest: bool(manifest["imported"]["no_status_lines"]),
        "histograms": lambda manifest: (
            not any(origin["kept_as"].endswith(".hdr") for origin in manifest["imported"]["from"])
        ),
        "load": lambda manifest: "load" not in manifest["phases"],
        "command": lambda manifest: any(
            phase["command"] is None for phase in manifest["phases"].values()
        ),
    }
    return {
        "imported": {
            "cells": len(found),
            "logs": sum(len(manifest["phases"]) for manifest in found),
            "ycsb": sorted({m["client"]["ycsb"] for m in found if m["client"]["ycsb"]}),
            "without": {name: sum(map(lack, found)) for name, lack in lacks.items()},
        }
    }
