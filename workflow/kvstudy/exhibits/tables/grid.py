"""The grid of the first page: every store under every workload, relative to one store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import (
    NUMBERS,
    floor_of,
    floors,
    mean_pairs,
    order_of,
    pairs,
    ratio_of,
)
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.exhibits.grid_cells import place_cell, published_cell, ratio_cell, tail_cell
from kvstudy.exhibits.grid_strips import has_strips, strip_grid
from kvstudy.exhibits.table import (
    Table,
    client_bound,
    interval_head,
    pairing,
    two_lines,
)
from kvstudy.language.current import N_, _
from kvstudy.language.locale import list_of
from kvstudy.layout.grid import (
    Grid,
    Paper,
    TableRow,
    TableSection,
    head_of,
)
from kvstudy.layout.numbers import operation_word
from kvstudy.layout.rich_text import BOUND, RichText, bold
from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import geometric_mean
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision
from kvstudy.study.cells import SHORTEST_SECONDS
from kvstudy.study.controls import AGAIN
from kvstudy.study.metrics import is_percentile, metric_of
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import (
    main_operation,
    properties_of,
    rounds_of,
)

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["metric", "baseline", "workload", "parameters", "store", "n", "ratio", "low", "high"],
    *[
        "decision",
        "in_floor",
        "client_bound",
        "first_place",
        "last_place",
        "operation",
        "p99",
        "published",
    ],
    *["inconsistent", "rate"],
]
# Workloads that fit side by side, and stores below each other with all that is known of them.
MOST, MOST_LINES = 5, 10
INDENT = "\N{NO-BREAK SPACE}" * 3
THROUGHPUT = "throughput"
KEYS = ["workload", "store", "operation"]
KINDS = {"memory": N_("In memory"), "disk": N_("On disk"), "embedded": N_("Embedded")}
# What a reader of the page may choose; the first one is in every report.
METRICS = {
    THROUGHPUT: N_("Throughput"),
    "latency_mean": N_("Mean latency"),
    "latency_p95": N_("95th percentile latency"),
    "latency_p99": N_("99th percentile of latency"),
}


class GridTable(Table):
    """Throughput of all stores relative to one, with places and 99th percentiles."""

    in_template = True
    compares = controls = True
    by_itself = True
    own_caption = N_("Throughput relative to the baseline, and p99 latency")

    kind: Literal["grid"] = Field(description="All stores relative to one of them.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per metric, baseline, workload (``MEAN``: all) and store, at headline sizes.

        First those of throughput relative to the study's baseline, which every report has.
        ``ratio`` is how many times the store's value is that of the baseline, from geometric
        means over n repetitions, with its 95 % interval low to high; that of all workloads is
        their geometric mean. Latencies are of the ``operation`` that the workload asks for most.
        The row of the noise floor is that of its repeated control.
        Of throughput alone: places, see ``stats.ranks.place_ranges``; ``p99`` (us) of all
        repetitions together; ``published``, the source's ratio, and ``inconsistent``, whether the
        audit finds a value behind it inconsistent. NaN for what is not known.
        """
        rows = []
        for metric in METRICS:
            pairs, floor = _compared(run, metric)
            stores = {*pairs["faster"], *pairs["slower"]}
            names = dict.fromkeys([run.study.baseline, *run.study.store_names])
            for baseline in [name for name in names if name in stores]:
                of = [metric, baseline]
                rows += [[*of, *row] for row in _rows(run, metric, baseline, pairs)]
                for row in floor[floor["store"].isin(_group(run, baseline))].itertuples():
                    key = [row.workload, row.parameters, f"{row.store}/{row.store}", row.n]
                    rows.append([*of, *key, row.ratio, row.low, row.high, *[None] * 8, False, None])
        frame = pd.DataFrame(rows, columns=COLUMNS)
        numbers = ["ratio", "low", "high", "first_place", "last_place", "p99", "published", "rate"]
        return frame.astype(dict.fromkeys(numbers, float))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A column per workload; per store the ratio, its place, the percentile, the source's."""
        return next((_grids(rows, run, *of) for of in _chosen(rows)), [Grid([], [])])

    def has_strips(self, run: Run) -> bool:
        """Return whether it has a section per workload, whose title says what that does."""
        return has_strips(run)

    def choices(self, rows: pd.DataFrame, run: Run) -> dict[tuple[str, ...], list[Grid]]:
        """By store and metric; the first one is that of ``grids``."""
        return {
            (run.titles[baseline], _(METRICS[metric])): _grids(rows, run, metric, baseline)
            for metric, baseline in _chosen(rows)
        }


def _chosen(rows: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Every metric and baseline that there are rows of."""
    return rows[["metric", "baseline"]].drop_duplicates().itertuples(index=False, name=None)


def _grids(rows: pd.DataFrame, run: Run, metric: str, baseline: str) -> list[Grid]:
    shorts = {use.name: use.short for use in run.study.workloads} | {MEAN: _("Geomean")}
    rows = rows[rows["metric"] == metric]
    bases = _bases(rows, run, baseline)
    rows = rows[rows["baseline"].isin(bases.values())]
    names = [name for name in shorts if name in set(rows["workload"])]
    blocks = -(-len(names) // MOST)
    if blocks * len(run.study.stores) > MOST_LINES:
        # One page has no room for them; the table of percentiles has.
        rows = rows.assign(p99=math.nan)
    by_key = rows.set_index(["workload", "store"])
    corner = _("Relative to {}").format(run.titles[baseline])
    if has_strips(run):
        grid = strip_grid(by_key, names, run, metric, corner)
        grid.notes = _notes(rows, run, metric, shorts, strips=grid)
        return [grid]
    grids = []
    for block in np.array_split(names, blocks):
        heads = [head_of(shorts[name], workload=name) for name in block]
        paper = Paper(width=1 if len(block) > 2 else 0.6)
        sections = list(_sections(by_key, list(block), run, bases, baseline))
        grids.append(Grid(heads, sections, corner=corner, paper=paper))
    grids[-1].notes = _notes(rows, run, metric, shorts)
    return grids


def _compared(run: Run, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``pairs`` and ``floor`` of the headline sizes, with the geometric mean for the plain one."""
    study, analysis = run.study, run.headline_analysis
    settings = [*run.headline.items()] if len(study.workloads) > 1 else []
    if metric == THROUGHPUT:
        # Those of throughput are analysed.
        spread, new_pairs, floor = run.spread, analysis.pairs, analysis.floor
    else:
        spread = run.spread_of(_latencies(run, metric))
        floor = floors(spread, study)
        new_pairs = pairs(spread, study.store_names, floor_of(floor), run.compared)
    stores, least = study.store_names, floor_of(floor)
    means = mean_pairs(spread, settings, stores, least, run.compared)
    new_pairs = pd.concat([new_pairs[new_pairs["workload"] != MEAN], means], ignore_index=True)
    # Of one run the ends of the interval are None.
    return new_pairs.astype(dict.fromkeys(NUMBERS, float)), floor[floor["workload"] != MEAN]


def _latencies(run: Run, metric: str) -> pd.DataFrame:
    """The values of each workload's main operation, without percentiles of too few operations."""
    study = run.study
    main = {use.name: main_operation(properties_of(study, use)) for use in study.workloads}
    # A latency of nothing has no logarithm.
    values = run.values.query("metric == @metric and value > 0")
    values = values[
        (values["operation"] == values["workload"].map(main))
        & (values["parameters"] == values["workload"].map(run.headline))
    ]
    if not is_percentile(metric):
        return values
    few = _imprecise(run, metric_of(metric).percent)
    # A control has as many operations as its store.
    of = values.assign(store=values["store"].str.removesuffix(AGAIN)).set_index(KEYS)
    return values[~of.index.isin(few.set_index(KEYS).index)]


def _imprecise(run: Run, percent: float) -> pd.DataFrame:
    """The percentiles of too few operations, at the headline sizes."""
    return run.headline_analysis.percentiles.query(
        f"percent == {percent} and beyond < {ENOUGH_BEYOND}"
    )


def _rows(run: Run, metric: str, baseline: str, pairs: pd.DataFrame) -> Iterator[list[object]]:
    study, stores = run.study, _group(run, baseline)
    bound = client_bound(run)
    tails = run.headline_analysis.percentiles.query(f"percent == 99 and beyond >= {ENOUGH_BEYOND}")
    tails = tails.set_index(KEYS)["value"].to_dict()
    # Of throughput alone there is more than the ratio.
    more = metric == THROUGHPUT
    rates = _rates(run) if more else {}
    for name in [*study.workload_names, MEAN]:
        of = pairs[pairs["workload"] == name]
        if of.empty and name == MEAN:
            continue
        compared_stores = [store for store in stores if store in {*of["faster"], *of["slower"]}]
        order = order_of(of, compared_stores) if more else {}
        places = place_ranges(order) if order and of["n"].max() > 1 else {}
        ratios = {
            store: (row.n, *ratio_of(row, store), row.decision, row.in_floor)
            for row in of.itertuples()
            for store in {row.faster, row.slower} - {baseline}
            if baseline in (row.faster, row.slower)
        }
        if baseline in compared_stores:
            ratios[baseline] = (max(of["n"]), 1.0, None, None, "", "")
        operation = ""
        if name != MEAN:
            operation = main_operation(properties_of(study, study.workload(name)))
        for store in stores:
            yield [
                *[name, run.headline.get(name, "all"), store],
                *ratios.get(store, (0, None, None, None, "", "")),
                "yes" if more and (name, store) in bound else "",
                *places.get(store, (None, None)),
                *[operation, tails.get((name, store, operation)) if more else None],
                *(_published(run, store, baseline, name) if more else (None, False)),
                rates.get((store, name)) if more else None,
            ]


def _rates(run: Run) -> dict[tuple[str, str], float]:
    """Return throughputs (ops/s) at the headline sizes, by store and workload."""
    rows = throughputs(run.values)
    rows = rows[rows["parameters"] == rows["workload"].map(run.headline)]
    return rows.groupby(["store", "workload"])["value"].agg(geometric_mean).to_dict()


def _group(run: Run, store: str) -> list[str]:
    """The stores that it is compared with, and itself."""
    return next(group for group in run.compared if store in group)


def _bases(rows: pd.DataFrame, run: Run, baseline: str) -> dict[str, str]:
    """Return the reference store of each store: the baseline, if the two are compared."""
    baselines = set(rows["baseline"])
    wanted = [baseline, run.study.baseline, *run.study.store_names]
    return {
        store: next((name for name in wanted if name in group and name in baselines), group[0])
        for group in run.compared
        for store in group
    }


def _published(run: Run, store: str, baseline: str, workload: str) -> tuple[float | None, bool]:
    """The source's ratio, and whether its audit finds a value behind it inconsistent.

    None for the baseline: a column of nothing but its 1 looks empty.
    """
    if store == baseline:
        return None, False
    workloads = run.study.workload_names if workload == MEAN else [workload]
    of = [run.results.published_ratio(store, baseline, name) for name in workloads]
    if any(math.isnan(ratio) for ratio, _inconsistent in of):
        return None, False
    inconsistent = any(inconsistent for _ratio, inconsistent in of)
    return geometric_mean(ratio for ratio, _inconsistent in of), inconsistent


def _by_kind(run: Run, bases: dict[str, str], baseline: str) -> Iterator[tuple[str, list[str]]]:
    """The stores of each kind, or else path, below a title; all below none where one is alone."""
    if run.several_paths:
        for group in run.compared:
            base = bases[group[0]]
            title = "" if base == baseline else _("Relative to {}").format(run.titles[base])
            yield title, group
        return
    kinds = {kind: [n for n, store in run.stores.items() if store.kind == kind] for kind in KINDS}
    kinds = {kind: stores for kind, stores in kinds.items() if stores}
    if len(run.compared) == 1 and (len(kinds) == 1 or min(map(len, kinds.values())) == 1):
        yield "", run.study.store_names
        return
    for kind, stores in kinds.items():
        title = _(KINDS[kind])
        if (base := bases[stores[0]]) != baseline:
            title = _("{}, relative to {}").format(title, run.titles[base])
        yield title, stores


def _sections(
    by_key: pd.DataFrame, names: list[str], run: Run, bases: dict[str, str], baseline: str
) -> Iterator[TableSection]:
    def rows_of(store: str) -> list:
        keys = pd.MultiIndex.from_product([names, [store]], names=by_key.index.names)
        return list(by_key.reindex(keys).reset_index().itertuples())

    further = {_("published ratio"): published_cell}
    # The places of those on one path say what their ratios do, and nine of them fill a page.
    further |= {_("rank"): place_cell} if run.scale == 1 and not run.several_paths else {}
    further |= {_("p99"): tail_cell}
    for title, stores in _by_kind(run, bases, baseline):
        for store in stores:
            rows = rows_of(store)
            lines = _ratios(bold(run.titles[store]), rows, store, run)
            for label, text in further.items():
                source = text is published_cell
                cells = [text(row) for row in rows]
                line = TableRow(label if source else INDENT + label, cells, store, published=source)
                if not all(cell.empty for cell in line.cells):
                    lines.append(line)
            yield TableSection(title if store == stores[0] else "", lines)
    for pair in {store for _name, store in by_key.index if "/" in store}:
        store = pair.partition("/")[0]
        title = _("{} against itself").format(run.titles[store])
        yield TableSection(title, _ratios(INDENT + _("ratio"), rows_of(pair), store, run))


def _ratios(label: str | RichText, rows: list, store: str, run: Run) -> list[TableRow]:
    """The ratios, and their intervals below them: side by side, five of 0.048 do not fit a line."""
    cells = [ratio_cell(row, run) for row in rows]
    return two_lines(label, cells, store, INDENT + interval_head())


def _notes(
    rows: pd.DataFrame, run: Run, metric: str, shorts: dict[str, str], strips: Grid | None = None
) -> list[str]:
    """Return the notes below all grids."""
    operations = "; ".join(
        _("{} in {}").format(
            operation_word(operation), list_of(map(shorts.get, of["workload"].unique()))
        )
        for operation, of in rows.dropna(subset="p99" if metric == THROUGHPUT else "ratio")
        .query("operation != ''")
        .groupby("operation", sort=False)
    )
    if rows["low"].isna().all():
        notes = [_("Ratios of single runs.")]
    elif metric == THROUGHPUT:
        text = _("Throughput ratios (geometric means, {}) with 95 % intervals.")
        notes = [text.format(pairing(run.study))]
    else:
        text = _(
            "Ratios of the runs' latencies (geometric means, {}) with 95 % intervals; below 1 "
            "is faster. {}."
        )
        notes = [text.format(pairing(run.study), operations[:1].upper() + operations[1:])]
    used = (use for use in run.study.workloads if use.name in rows["workload"].unique())
    mixed = [shorts[use.name] for use in used if rounds_of(properties_of(run.study, use))]
    if mixed and metric == THROUGHPUT:
        text = _("{}: all operations of all rounds, including warm-up rounds.")
        notes.append(text.format(list_of(mixed)))
    if strips:
        marks = [_("dots: ratios")]
        marks += [_("lines: their intervals")] if rows["low"].notna().any() else []
        marks += [_("circles: published ratios")] if rows["published"].notna().any() else []
        drawn = (line.cells[0].strip for line in strips.lines)
        marks += [_("arrows: ratios beyond the axis")] if any(strip.cut for strip in drawn) else []
        text = "; ".join(marks)
        notes.append(f"{text[0].upper()}{text[1:]}.")
    elif (rows["workload"] == MEAN).any():
        notes.append(_("Geomean: geometric mean of the workloads."))
    if short := [shorts[name] for name in rows["workload"].unique() if name in run.short]:
        text = _("{}: some runs under {} s; longer ones may change ranks.")
        notes.append(text.format(list_of(short), SHORTEST_SECONDS))
    grey_if = {
        _("undecided"): rows["decision"] == Decision.UNDECIDED,
        _("within the noise floor"): (rows["in_floor"] == "yes"),
    }
    if reasons := [words for words, which in grey_if.items() if which.any()]:
        notes.append(_("Measured ratios in grey: {}.").format(_(" or ").join(reasons)))
    ranked = run.scale == 1 and not run.several_paths and not strips
    if ranked and rows["first_place"].notna().any():
        notes.append(
            _("Rank: 1 plus the number of significantly faster stores; a range if undecided.")
        )
    if rows["p99"].notna().any():
        text = _("p99: 99th percentile latency of all runs pooled ({}).")
        if run.study.repetitions == 1:
            text = _("p99: 99th percentile latency ({}).")
        notes.append(text.format(operations))
        if not rows.dropna(subset="ratio").merge(_imprecise(run, 99), on=KEYS).empty:
            text = _("No p99: fewer than {} above it.")
            notes.append(text.format(ENOUGH_BEYOND))
    if (rows["client_bound"] == "yes").any():
        notes.append(_("{}: the client, not the store, is the bottleneck.").format(BOUND))
    return [" ".join(notes)]
