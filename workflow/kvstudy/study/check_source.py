"""Whether what a study's folder holds of its source is good, before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from kvstudy.errors import KvstudyError
from kvstudy.study.claims import Asked
from kvstudy.study.load import STORES
from kvstudy.study.load_claims import load_claims
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known, did_you_mean
from kvstudy.study.parts import MEAN
from kvstudy.study.property_files import published_properties
from kvstudy.study.published import CLAIMS, KEYS, PUBLISHED, QUOTES, read_rows
from kvstudy.study.quotes import Quotes, addresses, read_quotes, split_address
from kvstudy.study.workload import WORKLOADS


def check_source(path: Path, study: Study) -> None:
    """KvstudyError for what is wrong in claims, quotes and properties beside the study file."""
    if (claims := path.with_name(CLAIMS)).is_file():
        load_claims(claims, study)
    if (quoted := path.with_name(QUOTES)).is_file():
        values = path.with_name(PUBLISHED)
        load_quotes(quoted, study, values if values.is_file() else None)
    published_properties(study)


def load_quotes(path: Path, study: Study, published: Path | None) -> Quotes:
    """The quotes in ``path``; KvstudyError for what study, claims and tables do not have."""
    said = read_quotes(path)
    stores = [*study.store_names, *sorted(file.parent.name for file in STORES.glob("*/store.yaml"))]
    workloads = sorted(file.name for file in WORKLOADS.iterdir() if file.is_file())
    settings = [*study.workload_names, MEAN, *workloads, *get_args(Asked)]
    for name in said.setting.operations:
        check_known(path, "setting.operations", "workload or operation", name, settings)
    for index, failure in enumerate(said.failures):
        check_known(path, f"failures[{index}].store", "store", failure.store, stores)
    _check_claims(path, said, study)
    if published is None:
        return said
    rows = read_rows(published)
    known = {key: list(dict.fromkeys(row[key] for row in rows)) for key in KEYS}
    for index, quote in enumerate(said.quotes):
        for address in addresses(quote.expected):
            keys, _ = split_address(address)
            for kind, name in keys.items():
                if name != "*":
                    where = f"quotes[{index}].expected: {address}"
                    check_known(path, where, f"{kind} of published.csv", name, known[kind])
    return said


def _check_claims(path: Path, said: Quotes, study: Study) -> None:
    """KvstudyError for a quote of a statement that claims.yaml does not make."""
    there = path.with_name(CLAIMS)
    if not there.is_file():
        return
    claims = load_claims(there, study)
    known = [f"{claim.id}/{i + 1}" for claim in claims for i in range(len(claim.statements))]
    known += [f"{name}/{workload}" for name in known for workload in [*study.workload_names, MEAN]]
    for index, quote in enumerate(said.quotes):
        if quote.claim and quote.claim not in known:
            raise KvstudyError(
                f"{path}: quotes[{index}].claim: {there} has no statement '{quote.claim}'"
                f"{did_you_mean(quote.claim, known)}"
            )
