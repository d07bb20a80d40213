"""Reading what the stores of a study are, and what its source says of it."""

from __future__ import annotations

from kvstudy.errors import KvstudyError
from kvstudy.study.load import STORES, STUDIES, known_stores
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.properties import PublishedProperties, StoreProperties
from kvstudy.study.reading import read_yaml


def store_properties(study: Study) -> dict[str, StoreProperties]:
    """The properties of each store of the study, by the name that the study gives it.

    KvstudyError for a store whose folder has no properties.yaml, or a wrong one.
    """
    properties = {}
    for use in study.stores:
        path = STORES / use.store / "properties.yaml"
        if not path.is_file():
            raise KvstudyError(
                f"{path}: no such file; a table of properties needs one for each store of the "
                "study: write it, or remove the table"
            )
        properties[use.name] = read_yaml(path, StoreProperties)
    return properties


def published_properties(study: Study) -> PublishedProperties | None:
    """What the study's source says of its stores; None where it says nothing.

    KvstudyError for a store that neither the study nor the project has.
    """
    path = STUDIES / study.name / "properties.yaml"
    if not path.is_file():
        return None
    published = read_yaml(path, PublishedProperties)
    for store in published.stores:
        check_known(path, "stores", "store", store, known_stores(study))
    return published
