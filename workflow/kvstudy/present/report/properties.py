"""Where the properties of the stores were read, for the list below their table."""

from __future__ import annotations

from collections.abc import Callable

from kvstudy.present.tables.properties import numbered
from kvstudy.study.model import Study
from kvstudy.study.properties import PropertiesTable, Reference
from kvstudy.study.property_files import store_properties


def property_sources(study: Study, title: Callable[[str], str]) -> list[tuple[int, Reference, str]]:
    """Number, reference and title of the store; none where the study has no such table."""
    if not any(isinstance(table, PropertiesTable) for table in study.tables):
        return []
    found = store_properties(study)
    return [
        (number, found[store].references[name], title(store))
        for number, store, name in numbered(found)
    ]
