"""The facts in the report's text, read from the files of one run.

The templates in report/text/ see these objects; nothing here knows a study.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from kvstudy.analyse.findings.over_time import out_of_order
from kvstudy.analyse.findings.pairs import floor_of, undecided_by_correction
from kvstudy.analyse.findings.spread import level_of, margin_of
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import ycsb_versions
from kvstudy.analyse.tidy.probes import updating
from kvstudy.analyse.tidy.results import published_only, read_published
from kvstudy.analyse.tidy.reviews import ReviewRecord, reviews_of
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.documents.report import context, course
from kvstudy.documents.report.cells import (
    DisplayNames,
    Gaps,
    OperationFacts,
    StoreFacts,
    ValidityFacts,
    distinct,
    gaps_of,
    joined,
    operation_facts,
    store_facts,
    validity_facts,
    with_states,
)
from kvstudy.documents.report.comparisons import ComparisonFacts, comparison_facts
from kvstudy.documents.report.conclusions import Conclusions, conclusions
from kvstudy.documents.report.paths import PathFacts, path_facts
from kvstudy.documents.report.workloads import (
    Answers,
    Busy,
    Tail,
    WorkloadFacts,
    answers,
    busy_facts,
    workload_facts,
)
from kvstudy.exhibits.claim_words import number
from kvstudy.language.current import _
from kvstudy.language.locale import decimal
from kvstudy.layout.numbers import amount
from kvstudy.study.cells import closed_loop, own_sizes
from kvstudy.study.controls import AGAIN, CEILING, ceiling_store, controls, noise_store, original
from kvstudy.study.exhibits import AnyFigure, AnyTable
from kvstudy.study.parts import MEAN, ExpectedFailures
from kvstudy.study.workload import NamedRecord, named_record


class Floor(NamedTuple):
    """One store against itself in a workload."""

    workload: str
    text: str


@dataclass(frozen=True)
class RunFacts:
    """All that the text says of a run (``data``). Stores and workloads have titles.

    ``cells`` are those of the study's own stores, ``with_states``; ``controls`` are no results.
    Gaps are those of stores that were measured at all; ``absent_stores`` have none.
    """

    data: Run
    names: DisplayNames
    cells: pd.DataFrame
    measured: int
    without_value: int
    started: list[datetime]
    wall_seconds: float
    providers: list[str]
    stores: list[StoreFacts]
    measured_stores: list[StoreFacts]
    absent_stores: list[StoreFacts]
    # Measured stores of whose set-up something is known.
    configured: list[StoreFacts]
    # To the servers of these, options added arguments; these have another command by now in
    # store.yaml; and all others that were started.
    changed: list[StoreFacts]
    edited: list[StoreFacts]
    shipped: list[StoreFacts]
    gaps: list[Gaps]
    not_imported: dict[str, list[str]]
    nodes: context.Nodes | None
    imports: dict | None
    machine: dict
    ycsb_versions: list[str]
    workloads: list[WorkloadFacts]
    # The workloads whose updates change one field of a record that was probed.
    updating: list[str]
    # Records with named fields, with the workloads that have them.
    records: dict[NamedRecord | None, list[str]]
    # The stores that the client limits, with the short names of the workloads.
    client_bound: dict[str, list[str]]
    # The 99th percentiles of the first operation that most stores have, and its workload; where
    # servers are compared on several paths, of the first path.
    tail: tuple[str, Tail] | None
    paths: list[PathFacts]
    comparisons: list[ComparisonFacts]
    # Whether any two stores were measured with the sizes that are shown.
    compared: bool
    answers: Answers
    conclusions: Conclusions
    # Of others who measured an archive of this run again.
    reviews: list[ReviewRecord]
    # Two stores that the correction for many pairs leaves undecided, with their workload.
    undone: list[str]
    course: course.CourseFacts
    operations: OperationFacts
    # Whether there is a table with rates whose means are those of a source's table.
    plain_tables: bool
    open_loop: course.OpenLoopFacts
    validity: ValidityFacts
    rounds: dict[str, course.RoundsFacts]
    audit: context.AuditFacts | None
    separation: context.SeparationFacts | None
    claims: context.ClaimFacts | None
    published_operations: set[str]
    published_percentiles: bool
    # Whether the source gives the throughput of two stores under one workload.
    published_ratios: bool
    # Whether a cell was measured more than once, so that a run can be held against it.
    repeated: bool
    out_of_order: list[str]
    busy: Busy
    # Of a run that is measured until all is decided; in per cent, the level of intervals, and
    # what is equal.
    last_look: tuple | None
    level: str
    margin: str
    # Stores, their own sizes in words, the study's numbers, and the workloads' short names.
    own_sizes: list[tuple]
    # What is shown of workloads with several sizes, with their short names.
    headline_sizes: list[tuple[str, list[str]]]
    # Workloads of which figures show several operations together.
    combined: list[str]
    # Figures over several workloads.
    overview_figures: list[AnyFigure]
    # Tables and figures over a size, with the workloads that they are of.
    over_sizes: list[tuple[list[str], list[AnyTable | AnyFigure]]]
    # The stores that have a page of their own.
    store_tables: list[tuple[StoreFacts, AnyTable]]
    # See ``_expected``.
    expected: list[tuple[ExpectedFailures, list[str], dict[str, float]]]
    controls: int
    measured_controls: int
    # Whether not one of the control cells that the study plans was even tried.
    without_controls: bool
    control_gaps: list[Gaps]
    # The store that is measured under two names; why these two have no valid values.
    noise_store: str | None
    floor_reasons: list[str]
    # Whether YCSB without a store is a control, and no store of the study.
    ceiling_control: bool
    floors: list[Floor]
    # The noise floor, 1 where the store does not differ from itself, and the p-value of that.
    floor: float | None
    floor_p: float
    # Of the residuals: how many, W and its p-value; None where nothing was repeated.
    normality: tuple | None

    @property
    def storage(self) -> dict[str, list[str]]:
        """The servers by where their data are."""
        return joined(
            (store.definition.kind, store.title)
            for store in self.measured_stores
            if not store.definition.embedded
        )

    @property
    def one_machine(self) -> bool:
        """Return whether client and server shared a machine."""
        apart = self.imports or self.nodes or self.machine["hosts"] or "external" in self.providers
        return bool(self.storage) and not apart


def run_facts(run: Run) -> RunFacts:
    """Return the facts on the ``run``."""
    study, analysis, environment = run.study, run.analysis, run.environment
    names = DisplayNames.of(study, run.titles, closed_loop(run.planned.values()))
    rows = with_states(run.all_cells)
    closed, at_rates = rows.iloc[: len(run.cells)], rows.iloc[len(run.cells) :]
    cells = closed[closed["store"].isin(study.store_names)]
    measured = cells[cells["status"] == "measured"]
    started = sorted(datetime.fromisoformat(time) for time in measured["started"] if time)
    stores = [
        store_facts(store, cells[cells["store"] == name], environment)
        for name, store in run.stores.items()
    ]
    absent = [store.definition.name for store in stores if not store.measured]
    present = cells[~cells["store"].isin(absent)]
    published = read_published(None)
    if run.published is not None:
        published = published_only(run.published, study).dropna(subset="value")
    workloads = [workload_facts(use, run, names, published) for use in study.workloads]
    of_first_path = run.compared[0] if run.several_paths else study.store_names
    tails = [
        (workload.use.short, tail._replace(values=values))
        for workload in workloads
        for tail in workload.tails
        if (values := [value for value in tail.values if value[0] in of_first_path])
    ]
    speeds = throughputs(published).groupby("workload")["store"].nunique()
    return RunFacts(
        data=run,
        names=names,
        cells=cells,
        measured=len(measured),
        without_value=int((cells["state"] != "measured").sum()),
        started=started,
        wall_seconds=float(measured["wall_seconds"].sum()),
        providers=distinct(measured["provider"]),
        stores=stores,
        measured_stores=[store for store in stores if store.measured],
        absent_stores=[store for store in stores if not store.measured],
        **_configured(stores),
        gaps=gaps_of(present, names),
        not_imported=context.not_imported(names, present),
        nodes=context.nodes_of(rows),
        imports=context.import_facts(study, environment),
        machine=context.machine_facts(environment, names),
        ycsb_versions=ycsb_versions(environment),
        workloads=workloads,
        updating=[of.title for of in workloads if of.use.name in updating(study)],
        records=joined((named_record(of.properties), of.title) for of in workloads),
        client_bound=joined(
            (names.store(store), workload.use.short)
            for workload in workloads
            for store, _reason in workload.client_bound
        ),
        paths=path_facts(run),
        comparisons=comparison_facts(run),
        tail=max(tails, key=lambda tail: len(tail[1].values), default=None),
        compared=bool(run.headline_analysis.pairs["ratio"].notna().any()),
        answers=answers(run),
        conclusions=conclusions(run),
        reviews=reviews_of(run.folder, run.name),
        undone=[
            f"{names.store(row.faster)} / {names.store(row.slower)} "
            f"({study.workload(row.workload).short})"
            for row in undecided_by_correction(run.headline_analysis.pairs).itertuples()
        ],
        course=course.course_facts(names, analysis, run.headline_analysis, run.summary),
        operations=operation_facts(run.probes, stores, study, names),
        plain_tables=any(
            table.plain_means(study)
            for kind in ("results", "sweep", "ranking", "comparison")
            for table in study.tables_of(kind)
        ),
        open_loop=course.open_loop_facts(names, at_rates, analysis),
        validity=validity_facts(analysis, names),
        rounds=course.rounds_facts(run),
        audit=context.audit_facts(run.audit, names),
        separation=context.separation_facts(analysis, names, run.results.inconsistent),
        claims=context.claim_facts(run.folder, context.claims_timing(run, started), analysis.looks)
        if run.claims_file
        else None,
        published_operations=set(published["operation"]),
        published_percentiles=bool(published["metric"].str.startswith("latency_p").any()),
        published_ratios=bool((speeds > 1).any()),
        repeated=bool(analysis.order["residual"].notna().any()),
        out_of_order=_out_of_order(run, names),
        busy=busy_facts(run),
        **_of_study(run, names, stores),
        expected=_expected(run, names),
        **_of_controls(run, names, closed, absent),
    )


def _configured(stores: list[StoreFacts]) -> dict[str, list[StoreFacts]]:
    """Return the measured stores by what is known of how their servers were set up."""
    measured = [store for store in stores if store.measured]
    started = [store for store in measured if {*store.providers} - {"none", "external"}]
    return {
        "configured": [
            store
            for store in measured
            if store.settings or store.command or (store.choices and store not in started)
        ],
        "changed": [store for store in started if store.arguments],
        "edited": [store for store in started if store.edited],
        "shipped": [store for store in started if not (store.arguments or store.edited)],
    }


def _expected(run: Run, names: DisplayNames) -> list[tuple]:
    """Each failure that the study expects, once, with the titles of the stores that it is of.

    Third is which share of these operations failed, by title; only where they are expected
    whatever the number of records.
    """
    expected: dict[str, tuple[ExpectedFailures, list[str], dict[str, float]]] = {}
    for failure in run.study.expected_failures:
        what = failure.model_dump_json(exclude={"store"})
        _failure, titles, shares = expected.setdefault(what, (failure, [], {}))
        title = names.store(failure.store)
        titles.append(title)
        share = _failed_share(run, failure)
        if failure.kind == "failures" and not failure.records and share is not None:
            shares[title] = share
    return list(expected.values())


def _failed_share(run: Run, of: ExpectedFailures) -> float | None:
    """Failed operations by all of that kind (0 to 1), of the means; None where there were none."""
    workloads = [of.workload] if of.workload else run.study.workload_names
    failed, good = (
        sum(
            row.mean
            for workload in workloads
            if (row := run.results.measured(of.store, workload, of.operation, metric))
        )
        for metric in ("failed", "operations")
    )
    return failed / (failed + good) if failed + good else None


def _out_of_order(run: Run, names: DisplayNames) -> list[str]:
    """Cells that were measured later than planned."""
    blocks = bool((run.all_cells["node"] != "").any())
    return [
        _("{}, {}, repetition {}").format(row.store, row.workload, row.repetition)
        for row in names.titled(out_of_order(run.analysis.order, blocks))
    ]


def _of_study(run: Run, names: DisplayNames, stores: list[StoreFacts]) -> dict[str, object]:
    """Return the facts on the study's sizes, tables and figures."""
    study = run.study
    facts = []
    for one in own_sizes(study, run.scale):
        words = amount(one.size, one.number)
        key = (names.store(one.store), words, one.planned)
        facts.append((key, study.workload(one.workload).short))
    shown = joined(
        (names.sizes(use.name, run.headline[use.name]), use.short) for use in study.workloads
    )
    items = [((table.workload,), table) for table in study.tables_of("sweep")]
    items += [(tuple(figure.workloads), figure) for figure in study.figures_of("curves")]
    alone_first = sorted(joined(items).items(), key=lambda item: len(item[0]) > 1)
    of_stores = {store.definition.name: store for store in stores if store.measured}
    looks = run.analysis.looks
    return {
        "last_look": next(looks.tail(1).itertuples(), None),
        "level": decimal(f"{100 * level_of(study):.1f}"),
        "margin": decimal(f"{100 * margin_of(study):.6g}"),
        "own_sizes": [(*key, workloads) for key, workloads in joined(facts).items()],
        "headline_sizes": [(words, workloads) for words, workloads in shown.items() if words],
        "combined": [
            use.short
            for use in study.workloads
            if "+" in (run.results.all_operations(use.name) or "")
            and any(
                getattr(figure, "operation", "") == "all" and use.name in figure.workloads_of(study)
                for figure in study.figures_of("bars")
            )
        ],
        "overview_figures": [figure for figure in study.figures if figure.in_overview],
        "over_sizes": [([names.workload(name) for name in key], of) for key, of in alone_first],
        "store_tables": [
            (of_stores[table.store], table)
            for table in study.tables_of("store")
            if table.store in of_stores
        ],
    }


def _of_controls(
    run: Run, names: DisplayNames, closed: pd.DataFrame, absent: list[str]
) -> dict[str, object]:
    """Return the facts on control cells and the noise floor; ``absent`` stores have no cells."""
    study = run.study
    noise = noise_store(study)
    own_cells = closed["store"].isin(study.store_names)
    # Without the trial cells that were not needed.
    rows = closed[~own_cells & ~closed["reason"].str.startswith("enough-clients")]
    # Not one of the cells that the study plans was even tried.
    without = bool(controls(study)) and bool((rows["status"] == "not measured").all())
    # Of a store that cannot be measured here, that is said once.
    of_present = rows[~rows["store"].map(lambda store: original(study, store)).isin(absent)]
    order = [*study.workload_names, MEAN]
    floors = run.analysis.floor.dropna(subset="floor").itertuples()
    return {
        "controls": len(rows),
        "measured_controls": int((rows["status"] == "measured").sum()),
        "without_controls": without,
        "control_gaps": [] if without else gaps_of(of_present, names),
        "noise_store": names.store(noise) if noise and not without else None,
        "ceiling_control": ceiling_store(study) == CEILING.name,
        "floors": [
            Floor(study.workload(row.workload).title, number(row.ratio, row.low, row.high))
            for row in sorted(floors, key=lambda row: order.index(row.workload))
        ],
        "floor": floor_of(run.analysis.floor),
        "floor_p": run.analysis.floor["p_all"].max(),
        "normality": next(run.analysis.normality.itertuples(), None),
        "floor_reasons": distinct(
            closed.loc[closed["store"].isin([noise, f"{noise}{AGAIN}"]), "why"]
        ),
    }
