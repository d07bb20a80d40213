"""Whether updates of one field mean the same on two stores.

Some stores keep the other fields of the record, on others they are lost: there the records
get lighter as updates go on, and every later operation moves less data.
"""

from __future__ import annotations

from collections.abc import Iterable

from kvstudy.analyse.tidy.probes import Probes
from kvstudy.study.load import properties_of
from kvstudy.study.model import Study
from kvstudy.study.workload import operations_of

LIGHTER, HEAVIER, KEPT = "lighter", "heavier", "kept"
# Allocators round; a smaller change is none.
SAME = 0.05


def one_field(properties: dict[str, str]) -> bool:
    """Whether the workload has updates, and they change one field of a record."""
    updates = {"update", "read-modify-write"}.intersection(operations_of(properties))
    return bool(updates) and properties.get("writeallfields") != "true"


def updating(study: Study) -> set[str]:
    """The study's workloads whose updates change one field of a record."""
    return {use.name for use in study.workloads if one_field(properties_of(study, use))}


def becomes(sizes: tuple[float, float]) -> str:
    """``LIGHTER``, ``HEAVIER`` or ``KEPT``, from the bytes of a record before and after."""
    before, after = sizes
    change = after / before - 1
    return LIGHTER if change < -SAME else HEAVIER if change > SAME else KEPT


def records_of(probes: Probes, stores: Iterable[str]) -> dict[str, str]:
    """What becomes of the records of each store whose probe could tell."""
    found = {store: probes.sizes(store, "update") for store in stores}
    return {store: becomes(sizes) for store, sizes in found.items() if sizes}
