"""The context of the results: the source and its claims, the machine, imported logs."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.claims.quantities import THREADS
from kvstudy.analyse.claims.table import (
    IN_FLOOR,
    JUDGED,
    SHORT,
    UNEQUAL,
    UNLIKE,
    VALUE,
    counts_of,
    deciding_rows,
)
from kvstudy.analyse.claims.verdicts import WEAKEST_FIRST, Support, Verdict
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.separation import MODELLED, ORDER_NUMBERS
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.resources import MUCH
from kvstudy.documents.report.cells import DisplayNames, joined
from kvstudy.errors import DataError
from kvstudy.exhibits.tables.source import misfit
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.stats.latency_models import DESCRIBES, Difference, fit_latency_models
from kvstudy.stats.ratios import margin_bounds
from kvstudy.study.model import Study
from kvstudy.study.parts import Imported
from kvstudy.study.raw import file_digest

# Checks that the body of the report names; an appendix has all.
MOST = 5
# So many claims are all told in words on the first page.
FEW = 5
SLIGHT = (Fits.YES, Fits.DIGITS)


class Weighting(NamedTuple):
    """The published combined mean that weighting changes most; means in us.

    ``share`` is the published one by the weighted one, less 1.
    """

    store: str
    workload: str
    published: float
    weighted: float
    share: float


@dataclass(frozen=True)
class AuditFacts:
    """The checks of the source.

    ``checks`` are those that have a verdict; ``of_text`` are those of the text, and so many of
    these have none. ``inconsistent``: published values are marked for them. ``gravest`` are those
    that change most, ``explained`` the kinds that find more than
    wrong digits, or have no verdict.
    """

    explained: list[Kind]
    of_text: int
    open_in_text: int
    checks: int
    severities: dict[Fits, int]
    wrong: int
    grave: int
    inconsistent: bool
    weighting: Weighting | None
    gravest: list


def audit_facts(checks: pd.DataFrame | None, names: DisplayNames) -> AuditFacts | None:
    """Return the facts in ``audit.csv``; None without an audit."""
    if checks is None or checks.empty:
        return None
    fits, kinds = checks["fits"], checks["kind"]
    of_text = fits[kinds == Kind.TEXT]
    severities = {misfit: int((fits == misfit).sum()) for misfit in MISFITS}
    gravest = gravest_first(checks[fits != Fits.DIGITS]).head(MOST)
    return AuditFacts(
        explained=[kind for kind in Kind if (kinds[~fits.isin(SLIGHT)] == kind).any()],
        of_text=len(of_text),
        open_in_text=int((of_text == Fits.NONE).sum()),
        checks=int((fits != Fits.NONE).sum()),
        severities=severities,
        wrong=sum(severities.values()),
        grave=sum(severities.values()) - severities[Fits.DIGITS],
        inconsistent=bool(((fits == Fits.RESULT) & (checks["doubts"] != "")).any()),
        weighting=_weighting(checks, names),
        gravest=[misfit(row, names.study, names.titles) for row in gravest.itertuples()],
    )


def _weighting(checks: pd.DataFrame, names: DisplayNames) -> Weighting | None:
    rows = checks[(checks["kind"] == Kind.WEIGHTED) & (checks["metric"] == "latency_mean")]
    if rows.empty:
        return None
    shares = rows["given"] / rows["expected"] - 1
    row = rows.loc[shares.abs().idxmax()]
    return Weighting(
        store=names.titles.get(row["store"], row["store"]),
        workload=names.workload(row["workload"]),
        published=row["given"],
        weighted=row["expected"],
        share=float(shares[row.name]),
    )


class WorstMean(NamedTuple):
    """The published mean that a model errs most on, with its ``error``."""

    store: str
    workload: str
    operation: str
    error: float


class SourcePair(NamedTuple):
    """Two stores, first the one that the source has as the faster, with its ratio to the other.

    ``turned``: they have another order here.
    """

    first: str
    second: str
    workload: str
    turned: bool
    published: float
    measured: float
    modelled: float


@dataclass(frozen=True)
class SeparationFacts:
    """The difference between published and measured mean latencies.

    ``models`` are the fitted ones, ``best`` the one that errs
    least, which ``describes`` the ``n`` means or does not, and ``factor``; ``low`` and ``high`` are
    published means by those measured, ``worst`` is the one that ``best`` errs most on, with its
    ``error``. ``several`` are operations of more than one round trip, by store, and of those are
    ``beyond`` means. So many are ``doubted`` by the audit; without them the best model is
    ``undoubted``, None where too few are left. Of the source's
    ``pairs`` of stores so many have its order by the model (``as_modelled``) and here
    (``as_measured``); ``turned`` are those of another order here, ``near`` those whose modelled
    ratio is within ``MARGIN``, the closest first.
    """

    n: int
    models: list[tuple]
    best: tuple
    factor: tuple
    low: float
    high: float
    worst: WorstMean
    several: list[tuple[str, str, int]]
    beyond: int
    doubted: int
    undoubted: tuple | None
    pairs: int
    as_modelled: int
    as_measured: int
    turned: list[SourcePair]
    near: list[SourcePair]


def separation_facts(
    analysis: Analysis, names: DisplayNames, inconsistent: Callable[..., bool]
) -> SeparationFacts | None:
    """Return the facts on the difference; None where no model was fitted.

    ``inconsistent`` says of a published value (store, workload, operation, metric) whether the
    audit of the source finds it so.
    """
    table = analysis.separation
    if table.empty:
        return None
    fitted = analysis.separation_models
    fitted = fitted.assign(describes=fitted["median_error"] <= DESCRIBES)
    models = list(fitted.itertuples(index=False))
    best = models[0]
    errors = (table[MODELLED[Difference(best.model)]] / table["published"] - 1).abs()
    worst = table.loc[errors.idxmax()]
    slower = table["published"] / table["measured"]
    several = table[table["round_trips"] > 1]
    doubted = [
        inconsistent(row.store, row.workload, row.operation, "latency_mean")
        for row in table.itertuples()
    ]
    rest = table[np.logical_not(doubted)]
    undoubted = fit_latency_models(rest["published"], rest["measured"], rest["round_trips"])
    orders = analysis.separation_orders
    signs = {name: np.sign(np.log(orders[name])) for name in ORDER_NUMBERS}
    _low, most = margin_bounds()

    def closeness(pair: SourcePair) -> float:
        return max(pair.modelled, 1 / pair.modelled)

    pairs = [
        _faster_first(row, names, turned=here != published)
        for row, here, published in zip(
            orders.itertuples(), signs["measured"], signs["published"], strict=True
        )
    ]
    return SeparationFacts(
        n=len(table),
        models=models,
        best=best,
        factor=next(model for model in models if model.model == Difference.FACTOR),
        low=float(slower.min()),
        high=float(slower.max()),
        worst=WorstMean(
            store=names.store(worst["store"]),
            workload=names.study.workload(worst["workload"]).short,
            operation=worst["operation"],
            error=float(errors.max()),
        ),
        several=[
            (names.store(row.store), row.operation, int(row.round_trips))
            for row in several.drop_duplicates(["store", "operation"]).itertuples()
        ],
        beyond=len(several),
        doubted=sum(doubted),
        undoubted=next((one for one in undoubted if one.difference == best.model), None),
        pairs=len(orders),
        as_modelled=int((signs["modelled"] == signs["published"]).sum()),
        as_measured=int((signs["measured"] == signs["published"]).sum()),
        turned=[pair for pair in pairs if pair.turned],
        near=sorted((pair for pair in pairs if closeness(pair) <= most), key=closeness),
    )


def _faster_first(row: tuple, names: DisplayNames, turned: bool) -> SourcePair:
    """Return the pair in a row of ``separation_orders``."""
    swapped = row.published < 1
    stores = [names.store(name) for name in (row.one, row.other)]
    first, second = stores[::-1] if swapped else stores
    ratios = {name: getattr(row, name) ** (-1 if swapped else 1) for name in ORDER_NUMBERS}
    workload = names.study.workload(row.workload).short
    return SourcePair(first, second, workload, turned, **ratios)


@dataclass(frozen=True)
class ClaimFacts:
    """The claims of a source, or of the study.

    ``verdicts`` (strongest first, none of a trial run) and ``supports`` by the source's own data
    are counts of claims, and ``brief`` has the verdicts with the claims in few words, of many those
    without an answer by their names only; ``parts`` are those of all parts that the source says,
    with their ``parts_count``; so many more are ``rates``, which are not judged. ``short`` and
    ``unlike``: some part is undecided since its cells are short, or of other sizes; ``derived`` are
    counts of parts derived from the source's tables. ``unsupported`` are names of claims that the
    source's own data deny, ``resting`` of others that rest on values that the audit of the source
    finds inconsistent. ``once``: some verdict rests on one repetition; ``in_floor``: some value is
    marked so; ``unequal``: updates mean another thing on some store; ``threads``: some claim is
    about saturation. ``undecidable`` are names of undecided claims whose open parts no repetition
    decides, by the reason, of a run that is measured until all is decided. ``changed`` and
    ``before``: see ``claims_timing``.
    """

    count: int
    verdicts: list[tuple[Verdict, int]]
    brief: list[tuple[Verdict, list[str]]]
    supports: list[tuple[Support, int]]
    parts: list[tuple[Verdict, int]]
    parts_count: int
    rates: int
    short: bool
    unlike: bool
    derived: list[tuple[Verdict, int]]
    unsupported: list[str]
    resting: list[str]
    once: bool
    in_floor: bool
    unequal: bool
    threads: bool
    undecidable: list[tuple[str, list[str]]]
    changed: int = 0
    before: bool = False


def claim_facts(
    folder: Path,
    timing: Mapping[str, object] = MappingProxyType({}),
    looks: pd.DataFrame | None = None,
) -> ClaimFacts:
    """From ``claims.csv`` in ``folder`` and ``claims_timing``; DataError when it is missing.

    ``looks`` are those of the analysis, None for no looks.
    """
    rows = JUDGED.read(folder)
    if rows.empty:
        raise DataError(f"{JUDGED.path(folder)}: has no claims; write it with 'kvstudy claims'")
    claims = rows.drop_duplicates("id")
    verdicts, supports = (
        [(word, int(count)) for word in of if (count := (claims[column] == word).sum())]
        for column, of in (("verdict", reversed(WEAKEST_FIRST)), ("source", Support))
    )
    counts = sum((counts_of(deciding_rows(of)) for _id, of in rows.groupby("id")), Counter())
    derived = counts_of(rows[(rows["derived"] == "yes") & (rows["kind"] != VALUE)])
    denied, inconsistent = rows["source"] == Support.NOT, rows["rests_on"] != ""
    brief = {
        word: _in_brief(claims[claims["verdict"] == word], word, len(claims) <= FEW)
        for word, _count in verdicts
    }
    return ClaimFacts(
        **timing,
        count=len(claims),
        verdicts=verdicts,
        brief=[*brief.items()],
        supports=supports,
        parts=[(word, counts[word]) for word in reversed(WEAKEST_FIRST) if counts[word]],
        parts_count=counts.total(),
        rates=int(rows.loc[rows["kind"] == VALUE, "parts"].sum()),
        short=bool(rows["marks"].str.contains(SHORT).any()),
        unlike=bool(rows["marks"].str.contains(UNLIKE).any()),
        derived=[(word, derived[word]) for word in reversed(WEAKEST_FIRST) if derived[word]],
        unsupported=list(rows.loc[denied, "id"].unique()),
        resting=list(rows.loc[inconsistent & ~denied, "id"].unique()),
        once=bool((rows["n"] == 1).any()),
        in_floor=bool(rows["marks"].str.contains(IN_FLOOR).any()),
        unequal=bool(rows["marks"].str.contains(UNEQUAL).any()),
        threads=bool((rows["unit"] == THREADS).any()),
        undecidable=_undecidable(rows, looks),
    )


def _undecidable(rows: pd.DataFrame, looks: pd.DataFrame | None) -> list[tuple[str, list[str]]]:
    if looks is None or looks.empty:
        return []
    waiting = looks["open"].iloc[-1].split("; ")
    undecided = rows[(rows["verdict"] == Verdict.UNDECIDED) & ~rows["id"].isin(waiting)]
    reasons = []
    for name, of in undecided.groupby("id", sort=False):
        marks = "; ".join(deciding_rows(of)["marks"])
        reasons.append(("; ".join(mark for mark in (SHORT, UNLIKE) if mark in marks), name))
    return [*joined(reasons).items()]


def _in_brief(claims: pd.DataFrame, verdict: Verdict, few: bool) -> list[str]:
    if not few and verdict in (Verdict.UNDECIDED, Verdict.NOT_MEASURED):
        return list(claims["id"])
    return [f"{row.id} ({(row.short or row.claim).rstrip('.')})" for row in claims.itertuples()]


def claims_timing(run: Run, started: list[datetime]) -> dict[str, object]:
    """Return whether the claims of ``run`` were made ``before`` its cells, first ``started``.

    Cells record the checksum of claims.yaml: it was ``changed`` after so many. Cells that do not
    record it were measured after the claims of a source of an earlier year.
    """
    recorded = run.environment.get("claims", [])
    digest = file_digest(run.claims_file)
    same = sum(each["cells"] for each in recorded if each["sha256"] == digest)
    source = run.study.source
    earlier = bool(source and started and source.year < started[0].year)
    return {
        "changed": sum(each["cells"] for each in recorded) - same,
        "before": same == run.environment["measured"] or earlier,
    }


# Components of a machine that show a reader what kind of machine it is.
TELLING = ("CPU", "Memory", "OS")


def machine_facts(environment: dict, names: DisplayNames) -> dict:
    """environment.json with what it says of the machine in words.

    ``findings`` have a consequence and were seen, with ``text``: their values as one text;
    ``unseen`` is what could not be seen, or not all of it, and ``good`` what was good in all
    cells. ``limit`` is the share of ``background`` load or ``steal`` that is reported, between 0
    and 1.
    """
    findings = [
        finding
        | {name: sentence(finding[name]) for name in ("title", "consequence")}
        | {"text": _(" to ").join(sentence(value) for value in finding["values"])}
        for finding in environment["findings"]
    ]
    worse = {finding["key"] for finding in findings if not finding["good"]}
    return environment | {
        "in_few_words": in_few_words(environment["machines"]),
        "findings": [finding for finding in findings if finding["good"] is False],
        "unseen": [finding for finding in findings if finding["good"] is None],
        "good": [finding["title"] for finding in findings if finding["key"] not in worse],
        "hosts": environment.get("hosts", []),
        "limit": MUCH / 100,
        "background": _disturbance(environment, "background_cpu", names),
        "steal": _disturbance(environment, "steal_cpu", names),
    }


def in_few_words(machines: list[list[dict]]) -> list[str]:
    """The machine, where all cells were measured on one."""
    parts = {part["component"]: part for part in machines[0]} if len(machines) == 1 else {}
    telling = [parts[name] for name in TELLING if name in parts]
    texts = [[sentence(part.get(key, "")) for key in ("name", "details")] for part in telling]
    return [f"{name} ({details})" if details else name for name, details in texts]


def _disturbance(environment: dict, metric: str, names: DisplayNames) -> dict | None:
    """In how many of the ``cells`` that show it the share was ``above`` the limit.

    ``least`` and the ``share`` of the ``worst`` cell are between 0 and 1.
    """
    share = environment["disturbance"].get(metric)
    if share is None:
        return None
    worst = share["worst"]
    named = {
        "store": names.store(worst["store"]),
        "workload": names.workload(worst["workload"], worst["parameters"]),
        "share": worst["value"] / 100,
    }
    return share | {"least": share["least"] / 100, "worst": worst | named}


class Nodes(NamedTuple):
    """The nodes of a cluster with their ``repetitions``, and those that several ``shared``."""

    repetitions: dict[str, list[str]]
    shared: list[str]


def nodes_of(cells: pd.DataFrame) -> Nodes | None:
    """Return the nodes; None where all cells that show it were measured on one."""
    rows = cells[cells["node"] != ""]
    pairs = sorted(set(zip(rows["repetition"].astype(int), rows["node"], strict=True)))
    repetitions = joined((node, str(repetition)) for repetition, node in pairs)
    if len(repetitions) < 2:
        return None
    nodes = Counter(str(repetition) for repetition, _node in pairs)
    shared = [repetition for repetition, number in nodes.items() if number > 1]
    return Nodes(repetitions, shared)


# What logs do not tell, and so what is not possible, by its name in environment.json; what is
# not there, no log of YCSB shows.
LACKS = {
    "server": (
        N_("the server: its version, its settings, whether it was fresh and empty"),
        N_("any of these may cause a difference"),
    ),
    "counters": (
        N_("the server's own counters"),
        N_(
            "reads that found nothing may be reported as OK, and the work per operation was not "
            "probed"
        ),
    ),
    "resources": (
        N_("the CPU time of client and server, and background load"),
        N_(
            "only the waiting time of the client's threads shows whether the store was the "
            "bottleneck"
        ),
    ),
    "start": (
        N_("the time of measurement, which YCSB's status lines show (option -s)"),
        N_("the order of these runs and drift of the machine are unknown"),
    ),
    "seconds": (
        N_("the operations in each second (-s and status.interval=1)"),
        N_("steadiness and warm-up of these runs are unknown"),
    ),
    "histograms": (
        N_("latency histograms (hdrhistogram.fileoutput=true)"),
        N_(
            "there are no percentiles over all repetitions; result tables show means of the "
            "single runs' percentiles"
        ),
    ),
    "load": (
        N_("the log of the load phase"),
        N_("the number of records is taken from the command of the run"),
    ),
    "command": (N_("the command of YCSB"), N_("store, workload and sizes were given by hand")),
}


def import_facts(study: Study, environment: dict) -> dict | None:
    """Return the facts on imported logs in environment.json; None if no cell was imported.

    ``origin`` is what the study file says of the logs, ``folder`` theirs as a word of a command.
    Of ``lacks``, so many ``cells`` lack ``what``, and so ``check`` is not possible.
    """
    logs = environment.get("imported")
    if logs is None:
        return None
    origin = study.imported or Imported()
    return logs | {
        "origin": origin,
        "folder": shlex.quote(origin.folder or "FOLDER"),
        "lacks": [
            {"what": _(what), "cells": cells, "check": _(check)}
            for name, (what, check) in LACKS.items()
            if (cells := logs["without"].get(name, logs["cells"]))
        ],
    }


def not_imported(names: DisplayNames, cells: pd.DataFrame) -> dict[str, list[str]]:
    """Each store with its workloads that lack a log, and which repetitions if not all do."""
    pairs = []
    for store, use in product(names.study.store_names, names.study.workloads):
        rows = cells[(cells["store"] == store) & (cells["workload"] == use.name)]
        lacking = sorted(rows.loc[rows["reason"] == NOT_IMPORTED, "repetition"])
        if lacking:
            some = _("{} (repetition {})").format(use.title, ", ".join(lacking))
            text = use.title if len(lacking) == len(rows) else some
            pairs.append((names.store(store), text))
    return joined(pairs)
