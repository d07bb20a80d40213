"""Read a study's claims and say precisely what is wrong with them."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.base import as_list
from kvstudy.study.claims import (
    Bound,
    BreakEven,
    Claim,
    Claims,
    Extreme,
    First,
    Order,
    Selection,
    Statement,
    Value,
)
from kvstudy.study.load import STORES
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import MEAN
from kvstudy.study.reading import read_yaml


def load_claims(path: Path, study: Study) -> list[Claim]:
    """The claims in the file ``path``, checked against the study; KvstudyError for bad ones.

    A claim may be of a store that the project knows and the study does not measure.
    """
    claims = read_yaml(path, Claims).claims
    names = [claim.id for claim in claims]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise KvstudyError(
                f"{path}: claims[{index}].id: '{name}' stands there twice; give each its own"
            )
    known = {
        "store": _stores(study),
        "workload": [*study.workload_names, MEAN],
    }
    for index, claim in enumerate(claims):
        for number, statement in enumerate(claim.statements):
            key = f"{path}: claims[{index}].statements[{number}]"
            for place, kind, name in _named(statement):
                if name not in known[kind]:
                    raise KvstudyError(
                        f"{key}.{place}: unknown {kind} '{name}'{did_you_mean(name, known[kind])}"
                    )
            _complete(key, statement)
            if isinstance(statement, Extreme | First) and study.store_names == [statement.store]:
                raise KvstudyError(
                    f"{key}.store: '{statement.store}' is the study's only store, so there is none "
                    "to compare it with; leave out the claim, or add a store to the study"
                )
    return claims


def _stores(study: Study) -> list[str]:
    """Those of the study first: they are what is meant by a name that is mistyped."""
    elsewhere = sorted(path.parent.name for path in STORES.glob("*/store.yaml"))
    return list(dict.fromkeys([*study.store_names, *elsewhere]))


def _named(statement: Statement) -> list[tuple[str, str, str]]:
    """Each store and workload of the statement: where it stands, store or workload, name."""
    found = []
    for place, kind, names in (
        *_of_selection("", statement),
        *_of_selection("of.", getattr(statement, "of", None)),
        *_of_selection("to.", getattr(statement, "to", None)),
    ):
        found += [(place, kind, name) for name in as_list(names)]
    if isinstance(statement, Order):
        found += [("stores", "store", name) for name in statement.stores]
    if isinstance(statement, BreakEven):
        found += [(role, "store", getattr(statement, role)) for role in ("cache", "database")]
    return found


def _of_selection(prefix: str, selection: Selection | None) -> list[tuple[str, str, object]]:
    if selection is None:
        return []
    return [(f"{prefix}{kind}", kind, getattr(selection, kind)) for kind in ("store", "workload")]


def _complete(key: str, statement: Statement) -> None:
    """Every value needs a workload and, where the kind does not bring it, a store."""
    sides = {"of": getattr(statement, "of", None), "to": getattr(statement, "to", None)}
    sides = {name: side for name, side in sides.items() if side is not None} or {"": statement}
    brings_stores = isinstance(statement, Order | Extreme | First | BreakEven)
    for needed in ("workload",) if brings_stores else ("store", "workload"):
        for name, side in sides.items():
            if not as_list(getattr(side, needed)) and not as_list(getattr(statement, needed)):
                place = f"{key}.{name}.{needed}" if name else f"{key}.{needed}"
                raise KvstudyError(f"{place}: is missing; add it there or beside 'kind'")
    asked = [statement, *(side for side in sides.values() if side)]
    if not isinstance(statement, Bound | Value) and any(
        "failed_share" in as_list(each.metric) for each in asked
    ):
        raise KvstudyError(
            f"{key}.metric: failed_share may be 0 and has no ratio; use kind bound or value"
        )
    if isinstance(statement, Order):
        twice = [name for name in statement.stores if statement.stores.count(name) > 1]
        if twice:
            raise KvstudyError(f"{key}.stores: '{twice[0]}' stands there twice; name each once")
    if "of" in sides and sides["of"] == sides["to"] and not _several(sides["of"]):
        raise KvstudyError(f"{key}: of and to are the same; let them differ in something")


def _several(selection: Selection) -> bool:
    return len(as_list(selection.store)) > 1 or len(as_list(selection.workload)) > 1
