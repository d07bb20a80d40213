"""Properties of stores other than speed, with references."""

from __future__ import annotations

from pydantic import Field, create_model, model_validator

from kvstudy.errors import InputError
from kvstudy.language.current import N_
from kvstudy.language.locale import Noted, Text
from kvstudy.study.base import Name, Strict
from kvstudy.study.load import STORES, STUDIES, known_stores
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known, did_you_mean
from kvstudy.study.reading import read_yaml

# The lines of a table of properties that can be shown by a source: title and meaning of each.
STATED = {
    "cloud_only": (N_("Cloud only"), "Whether it exists as a cloud service only."),
    "data_schema": (N_("Data schema"), "Whether data has a schema."),
    "licence": (N_("Licence"), "Its licence."),
    "server_os": (N_("Server runs on"), "Operating systems of the server."),
    "written_in": (N_("Written in"), "Programming language of the server."),
    "secondary_indexes": (N_("Secondary indexes"), "Whether it has secondary indexes."),
    "transactions": (N_("Transactions"), "What its transactions guarantee."),
    "triggers": (N_("Triggers"), "Whether writes trigger functions."),
    "partitioning": (N_("Partitioning"), "How data is spread over servers."),
    "replication": (N_("Replication"), "How data is copied to other servers."),
    "scaling": (N_("Scaling"), "How it grows with the load."),
    "query_language": (N_("Query language"), "How data is asked for."),
}
# Judgements that no source can show; a source may have published them.
JUDGED = {"administration": N_("Administration"), "response": N_("Response time")}
TITLES = {name: title for name, (title, _meaning) in STATED.items()} | JUDGED


class Reference(Strict):
    """A reference."""

    title: str = Field(min_length=1, description="Title of the page.")
    url: str = Field(pattern=r"^https://\S+$", description="Its address.")
    applies_to: Text = Field(
        min_length=1, description="To which versions of the store the page applies."
    )


class Statement(Strict):
    """One property of a store."""

    says: Text = Field(min_length=1, max_length=80, description="The property, in a few words.")
    references: list[Name] = Field(
        min_length=1, description="Names of the references that show it."
    )


class _Referenced(Strict):
    version: str = Field(description="The version of the store that the statements are about.")
    references: dict[Name, Reference] = Field(description="The references of the statements.")

    @model_validator(mode="after")
    def _references_are_known_and_used(self) -> _Referenced:
        used = {name for key in STATED for name in getattr(self, key).references}
        for name in sorted(used - self.references.keys()):
            raise ValueError(f"the reference '{name}' is cited, but is not under references")
        for name in sorted(self.references.keys() - used):
            raise ValueError(f"the reference '{name}' is cited by no statement; remove it")
        return self


StoreProperties = create_model(
    "StoreProperties",
    __base__=_Referenced,
    __doc__="What may be in a properties.yaml next to a store.yaml.",
    **{name: (Statement, Field(description=meaning)) for name, (_title, meaning) in STATED.items()},
)


class PublishedProperties(Strict):
    """Properties of the stores as the study's source gives them."""

    table: str = Field(description="Number of the table in the source.")
    stores: dict[Name, dict[str, Noted]] = Field(
        description="For each store of the study that the source has: its properties."
    )

    @model_validator(mode="after")
    def _known(self) -> PublishedProperties:
        for store, values in self.stores.items():
            for name in values:
                if name not in TITLES:
                    hint = did_you_mean(name, list(TITLES))
                    raise ValueError(f"{store}: unknown property '{name}'{hint}")
        return self


def store_properties(study: Study) -> dict[str, StoreProperties]:
    """Return the properties of each store by its name in the study; InputError if one has none."""
    properties = {}
    for use in study.stores:
        path = STORES / use.store / "properties.yaml"
        if not path.is_file():
            raise InputError(
                f"{path}: no such file; a table of properties needs one for each store of the "
                "study: write it, or remove the table"
            )
        properties[use.name] = read_yaml(path, StoreProperties)
    return properties


def published_properties(study: Study) -> PublishedProperties | None:
    """Return the source's statements on its stores, if any; InputError for unknown ones."""
    path = STUDIES / study.name / "properties.yaml"
    if not path.is_file():
        return None
    published = read_yaml(path, PublishedProperties)
    for store in published.stores:
        check_known(f"{path}: stores", "store", store, known_stores(study))
    return published
