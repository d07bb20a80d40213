"""The claims of a study's source (``claims.yaml`` next to study.yaml).

A claim has one or more statements; each is of a kind that the measured and the published
values can be asked about.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from kvstudy.analyse.claims.statements import Statement
from kvstudy.errors import InputError
from kvstudy.language.locale import Noted
from kvstudy.study.base import CLAIM_ID, Strict
from kvstudy.study.bibliography import check_citations
from kvstudy.study.load import known_stores
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known, did_you_mean
from kvstudy.study.parts import MEAN
from kvstudy.study.properties import published_properties
from kvstudy.study.published import CLAIMS, PUBLISHED, QUOTES
from kvstudy.study.quotes import load_quotes
from kvstudy.study.reading import read_yaml


class Claim(Strict):
    """One thing that the source says it found."""

    id: Annotated[str, Field(pattern=rf"^{CLAIM_ID}$")] = Field(
        description="Short name, for example J1."
    )
    claim: Noted = Field(description="The claim, in plain words.")
    short: Noted = Field(
        default="",
        description="The claim in about ten words, for the list of all claims. Default: the claim.",
    )
    place: Noted = Field(description="Where in the source: section, table, figure or page.")
    said: Literal["quoted", "derived"] = Field(
        description="quoted: the source says so. derived: it follows from the source's numbers."
    )
    note: Noted = Field(default="", description="A note for the reader.")
    statements: Annotated[list[Statement], Field(min_length=1)] = Field(
        description="Statements that must all hold, except derived ones."
    )


class Claims(Strict):
    """The claims of a study's source."""

    claims: Annotated[list[Claim], Field(min_length=1)] = Field(
        description="In the order of the report."
    )


def load_claims(path: Path, study: Study) -> list[Claim]:
    """The claims in the file ``path``, checked against the study; InputError for bad ones.

    A claim may be of a store that the project knows and the study does not measure.
    """
    claims = read_yaml(path, Claims).claims
    ids = [claim.id for claim in claims]
    known = {"store": known_stores(study), "workload": [*study.workload_names, MEAN]}
    for index, claim in enumerate(claims):
        if claim.id in ids[:index]:
            raise InputError(
                f"{path}: claims[{index}].id: '{claim.id}' appears twice; give each its own"
            )
        for number, statement in enumerate(claim.statements):
            key = f"claims[{index}].statements[{number}]"
            for place, kind, name in statement.names():
                check_known(f"{path}: {key}.{place}", kind, name, known[kind])
            statement.check(f"{path}: {key}", study.store_names)
    return claims


def check_source(path: Path, study: Study) -> None:
    """Raise InputError for what is wrong in claims, quotes and properties next to the study file.

    Likewise for a source that the bibliography lacks.
    """
    check_citations(path, study)
    claims_file, quoted, published = (path.with_name(name) for name in (CLAIMS, QUOTES, PUBLISHED))
    claims = load_claims(claims_file, study) if claims_file.is_file() else []
    names = [f"{claim.id}/{n}" for claim in claims for n in range(1, len(claim.statements) + 1)]
    names += [f"{name}/{use}" for name in names for use in [*study.workload_names, MEAN]]
    if quoted.is_file():
        quotes = load_quotes(quoted, study, published if published.is_file() else None).quotes
        for index, quote in enumerate(quotes):
            if names and quote.claim and quote.claim not in names:
                raise InputError(
                    f"{quoted}: quotes[{index}].claim: {claims_file} has no statement "
                    f"'{quote.claim}'{did_you_mean(quote.claim, names)}"
                )
    published_properties(study)
