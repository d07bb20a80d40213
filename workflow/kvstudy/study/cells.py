"""The cells of a study: what is measured, under which name and in which order."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace

from kvstudy.errors import InputError
from kvstudy.study.base import MOST, Strict
from kvstudy.study.combinations import Combination, combinations_of, shown_combination
from kvstudy.study.controls import CEILING, controls, original, trial_clients, trials
from kvstudy.study.model import Study
from kvstudy.study.parts import RAW_TYPE, StoreUse, WorkloadUse
from kvstudy.study.workload import SIZES, Rounds, divisible, load_only, properties_of, rounds_of

# A scaled study keeps at least this much, so that a cell still reaches every
# operation and its percentiles have samples. Smaller studies stay as they are.
FEWEST_RECORDS = 1_000
FEWEST_OPERATIONS = 10_000
# Shorter cells decide no claim: a second or two of them is the start of the client.
SHORTEST_SECONDS = 5
# Open-loop cells have both times of an operation.
INTENDED = {"measurement.interval": "both"}
# So often, n clients and twice as many are tried.
TRIALS = 5
# The trial cells that set rates come before the repetitions of what they set. A cluster measures
# what has the same number in one job.
RATE_TRIAL = 0
RATE_TRIAL_SLUG = "_trial"


def cell_path(store: str, workload: str, parameters: str, repetition: int | str) -> str:
    """``<store>/<workload>/<parameters>/rep<n>``: what a cell is called, and its folder."""
    return f"{store}/{workload}/{parameters}/rep{repetition}"


@dataclass(frozen=True)
class Share:
    """One client's share of a phase: ``count`` operations from number ``first`` on.

    ``label`` is the name of its files without their endings.
    """

    label: str
    threads: int
    first: int
    count: int


@dataclass(frozen=True)
class Cell:
    """One (store, workload, parameters, repetition).

    ``operations`` is 0 when the workload has only a load phase. ``seconds`` is
    set for timed cells. ``properties`` are all YCSB properties but the sizes,
    the address and the output files. ``folder`` is the store's under envs/stores/;
    ``options`` are what the study chose of those that it offers.

    An open-loop cell has ``load``, the per cent of the throughput of its trial cell that is its
    target rate. Both have ``closed``, the parameters of the closed-loop cells that they belong to;
    the trial cell is one of these once more, and sets rates only.
    ``beside`` is set where the store has records or operations of its own, and where trial cells
    tell the number of clients: the parameters of the cells that it is compared with.
    ``clients`` is set where several clients do the measured phase at a time, AUTO until trial
    cells show how many (one, too); ``threads`` and ``operations`` are those of all together.
    ``delay`` is how long each request of the measured phase waits (us), None without it;
    ``network`` is how clients reach the server, None where the study leaves that open.
    """

    store: str
    workload: str
    records: int
    operations: int
    threads: int
    seconds: int | None
    repetition: int
    properties: tuple[tuple[str, str], ...]
    folder: str
    options: tuple[tuple[str, str], ...] = ()
    load: int | None = None
    closed: str | None = None
    clients: int | str | None = None
    beside: str | None = None
    delay: int | None = None
    network: str | None = None

    @property
    def parameters(self) -> str:
        """Short name of the parameters, a part of the cell's path."""
        if self.closed is not None:
            return self.closed + (RATE_TRIAL_SLUG if self.sets_rate else f"_load{self.load}")
        if self.beside is not None:
            return self.beside
        slug = f"r{self.records}_o{self.operations}_t{self.threads}"
        slug += "" if self.seconds is None else f"_s{self.seconds}"
        return slug if self.clients is None else f"{slug}_c{self.clients}"

    @property
    def path(self) -> str:
        """The cell's name everywhere."""
        return cell_path(self.store, self.workload, self.parameters, self.repetition)

    @property
    def sets_rate(self) -> bool:
        """Return whether it is a trial cell that sets the rates of open-loop cells."""
        return self.closed is not None and self.load is None

    def with_clients(self, number: int | None) -> Cell:
        """The same cell, done by so many clients.

        One is timed as several are, from the first operation on, so that it can be compared with
        them; None is a client by itself, whose run time has its connecting in it.
        """
        return replace(self, clients=number, beside=self.parameters)

    def as_json(self) -> dict:
        """All fields, as the manifest of the cell's raw logs records them."""
        fields = vars(self) | {"properties": dict(self.properties), "options": dict(self.options)}
        # Where they are not set, as in cells that were measured before there were such keys.
        return {
            name: value
            for name, value in fields.items()
            if value is not None or name not in ("delay", "network")
        }

    @property
    def digest(self) -> str:
        """A short checksum of all fields."""
        text = json.dumps(self.as_json(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def phases(self) -> tuple[str, ...]:
        return ("load", "run") if self.operations else ("load",)

    @property
    def measured_phase(self) -> str:
        return self.phases[-1]

    @property
    def rounds(self) -> Rounds | None:
        """The rounds of the run phase, if its workload has any."""
        return rounds_of(dict(self.properties))

    @property
    def executed(self) -> int:
        """Operations of the run phase; with rounds, ``operations`` are the reads of one."""
        if self.rounds is None:
            return self.operations
        return self.rounds.executed(self.records, self.operations)

    def shares(self, phase: str) -> list[Share]:
        """Return each client's share of ``phase``; one client does all but the measured phase."""
        clients = (self.clients or 1) if phase == self.measured_phase else 1
        labels = [phase, *(f"{phase}-{number}" for number in range(2, clients + 1))]
        counts = _parts(self.executed if phase == "run" else self.records, clients)
        firsts = itertools.accumulate(counts, initial=0)
        threads = _parts(self.threads, clients)
        return [Share(*share) for share in zip(labels, threads, firsts, counts, strict=False)]

    @property
    def raw_latencies(self) -> bool:
        """Return whether every single latency of the measured phase is kept."""
        return ("measurementtype", RAW_TYPE) in self.properties


def _parts(whole: int, number: int) -> list[int]:
    """``whole`` in so many parts that differ by one at most."""
    return [(whole + part) // number for part in range(number)]


def run_name(study: str, scale: float) -> str:
    """Name of the study's results: scaled ones have a name of their own."""
    return study if scale == 1 else f"{study}-scale{scale:g}"


def plan(study: Study, scale: float = 1.0) -> list[Cell]:
    """All cells, the controls' too, in the order of measurement.

    Trial cells come first. Each repetition is a block of all cells, and in it the cells that are
    compared with each other (one workload, one setting) follow each other: both orders are random,
    seeded by the study, so that drift of the machine does not fall on one store. Open-loop cells
    come last, in the same way, and the trial cells that set their rates just before them: the
    machine is then as it was for the rates.

    InputError for a scale that is none, or that the name of a run cannot hold.

    Source: randomized blocks. When the cells of a whole repetition were shuffled together,
    Redis and Redis again were up to 20 minutes and a factor of 1.3 apart.
    """
    if not 0 < scale < math.inf:
        raise InputError(f"scale: must be greater than 0 and finite, but is {scale:g}")
    if float(f"{scale:g}") != scale:
        raise InputError(
            f"scale: {scale!r} has more digits than the name of a run has; give {scale:g}"
        )
    uses = [*study.stores, *controls(study)]
    first = [cell for use in uses for cell in _cells_of(study, use, scale)]
    rate_trials = _rate_trials(study, first, scale)
    repetitions = range(1, study.repetitions + 1)
    # Not the generator of the closed ones: one repetition more leaves the order as it is.
    of_open_loop = random.Random(f"open loop {study.seed}")
    return [
        *_trials(study, scale),
        *_repeated(first, repetitions, random.Random(study.seed)),
        *_repeated(rate_trials, [RATE_TRIAL], random.Random(f"rates {study.seed}")),
        *_repeated(_open_loop(study, rate_trials, scale), repetitions, of_open_loop),
    ]


def _trials(study: Study, scale: float) -> list[Cell]:
    """n clients next to twice as many, TRIALS blocks for each n, with repetitions of its own."""
    shuffle = random.Random(f"clients {study.seed}")
    cells: list[Cell] = []
    for step, fewer in enumerate(trial_clients(study)[:-1]):
        pairs = [
            cell.with_clients(clients)
            for clients in (fewer, 2 * fewer)
            for use in trials(study, clients)
            for cell in _cells_of(study, use, scale)
            if cell.threads >= 2 * fewer and divisible(dict(cell.properties), bool(cell.seconds))
        ]
        cells += _repeated(pairs, range(step * TRIALS + 1, (step + 1) * TRIALS + 1), shuffle)
    return cells


def _repeated(
    block: list[Cell], repetitions: Iterable[int], shuffle: random.Random
) -> Iterator[Cell]:
    """The cells in each repetition in a new random order, those of one comparison in a row."""
    for repetition in repetitions:
        compared: dict[tuple[str, str], list[Cell]] = {}
        for cell in block:
            cells = compared.setdefault((cell.workload, cell.parameters), [])
            cells.append(replace(cell, repetition=repetition))
        groups = list(compared.values())
        shuffle.shuffle(groups)
        for group in groups:
            shuffle.shuffle(group)
            yield from group


def closed_loop(cells: Iterable[Cell]) -> list[Cell]:
    """Return the closed-loop cells among ``cells``, without trial cells that set rates."""
    return [cell for cell in cells if cell.closed is None]


def rate_trial(cells: Iterable[Cell], cell: Cell) -> Cell:
    """The trial cell among ``cells`` that sets the rate of the open-loop ``cell``."""
    of_cell = (cell.store, cell.workload, cell.closed)
    return next(
        each
        for each in cells
        if each.sets_rate and (each.store, each.workload, each.closed) == of_cell
    )


def _rate_trials(study: Study, closed: list[Cell], scale: float) -> list[Cell]:
    """One for each store and workload that has open-loop cells.

    All repetitions have the rate that it sets, so its error makes no interval wider. The result
    is a latency at a stated rate: more trials would only bring that rate nearer to the stated load.
    """
    if study.open_loop is None:
        return []
    one = shown(study, scale)
    return [
        replace(cell, closed=cell.parameters)
        for cell in sorted(closed, key=lambda cell: cell.path)
        if cell.store in study.store_names
        and cell.workload in study.open_loop.workloads
        and cell.parameters == one[cell.workload]
    ]


def _open_loop(study: Study, rate_trials: list[Cell], scale: float) -> list[Cell]:
    """The open-loop cells of a repetition; each takes about as long as its trial cell."""
    return [
        replace(
            cell,
            operations=_scaled(cell.operations, percent / 100, FEWEST_OPERATIONS),
            properties=tuple(sorted((dict(cell.properties) | INTENDED).items())),
            load=percent,
        )
        for cell in rate_trials
        for percent in study.open_loop.percents
    ]


def _cells_of(study: Study, of: StoreUse, scale: float) -> list[Cell]:
    """All of the store in one repetition."""
    cells: dict[str, Cell] = {}
    for use in study.workloads:
        if use.stores and original(study, of.name) not in use.stores and of.name != CEILING.name:
            continue
        # The controls of a sweep over sizes would double its hours.
        control = of.name not in study.store_names
        one, several = shown_combination(study, use), combinations_of(study, use)
        of_use: dict[Cell, Cell] = {}
        for sizes in [one] if control else several:
            cell = _cell(study, of, use, sizes, scale)
            # Insert-only cells are the same for every operation count, and those of a store with
            # sizes of its own for every such size: they are next to what is shown.
            same = replace(cell, beside=None)
            if same not in of_use or sizes == one:
                of_use[same] = cell
        cells |= {cell.path: cell for cell in of_use.values()}
    return list(cells.values())


def _cell(study: Study, of: StoreUse, use: WorkloadUse, sizes: Combination, scale: float) -> Cell:
    """The cell, with the store's own sizes if it has any."""
    planned = _planned_cell(study, of, use, sizes, scale)
    cell_sizes = Combination(
        of.records or sizes.records, of.operations or sizes.operations, sizes.threads
    )
    cell = _planned_cell(study, of, use, cell_sizes, scale)
    return cell if cell == planned else replace(cell, beside=planned.parameters)


def _planned_cell(
    study: Study, of: StoreUse, use: WorkloadUse, sizes: Combination, scale: float
) -> Cell:
    """The cell with the study's sizes, whatever the store has of its own."""
    properties = properties_of(study, use)
    loads_only = load_only(properties)
    seconds = None if loads_only else use.seconds or study.parameters.seconds
    for size in SIZES:
        properties.pop(size, None)
    return Cell(
        store=of.name,
        workload=use.name,
        records=_scaled(sizes.records, scale, FEWEST_RECORDS),
        operations=0 if loads_only else _scaled(sizes.operations, scale, FEWEST_OPERATIONS),
        threads=sizes.threads,
        seconds=seconds and _scaled(seconds, scale, SHORTEST_SECONDS),
        repetition=1,
        properties=tuple(sorted(properties.items())),
        folder=of.store,
        options=tuple(sorted(of.options.items())),
        clients=study.parameters.several,
        delay=of.delay,
        network=of.network,
    )


def by_combination(study: Study, use: WorkloadUse, scale: float = 1.0) -> dict[Combination, Cell]:
    """For each combination of the workload's sizes the cell of a store without own sizes."""
    return {
        sizes: _planned_cell(study, study.stores[0], use, sizes, scale)
        for sizes in combinations_of(study, use)
    }


def shown(study: Study, scale: float = 1.0) -> dict[str, str]:
    """The parameters of each workload that tables and figures of one set show."""
    cells = [
        _planned_cell(study, study.stores[0], use, shown_combination(study, use), scale)
        for use in study.workloads
    ]
    return {cell.workload: cell.parameters for cell in cells}


@dataclass(frozen=True)
class OwnSize:
    """The ``number`` of records or operations of a store, in place of those ``planned``."""

    store: str
    workload: str
    size: str
    number: int
    planned: int


def own_sizes(study: Study, scale: float = 1.0) -> list[OwnSize]:
    """Return the stores' own sizes, for the shown sizes of the study."""
    store_sizes = []
    for of, use in itertools.product(study.stores, study.workloads):
        sizes = shown_combination(study, use)
        cell = _cell(study, of, use, sizes, scale)
        planned = _planned_cell(study, of, use, sizes, scale)
        for size in ("records", "operations"):
            number, usual = getattr(cell, size), getattr(planned, size)
            if number != usual:
                store_sizes.append(OwnSize(of.name, use.name, size, number, usual))
    return store_sizes


def find_cell(cells: list[Cell], path: str) -> Cell:
    """The planned cell called ``path``; InputError when the plan has none."""
    if match := next((cell for cell in cells if cell.path == path), None):
        return match
    example = cells[0].path if cells else "none"
    raise InputError(f"{path}: not a cell of this study; one of its cells is {example}")


def _scaled(count: int, scale: float, floor: int) -> int:
    scaled = max(round(count * scale), min(count, floor))
    if scaled > MOST:
        raise InputError(
            f"scale: {scale:g} makes {scaled} of {count}, and YCSB counts to {MOST}; give "
            f"{MOST // count} at most"
        )
    return scaled


def left_out(study: Study, cells: list[Cell], measured: Set[Cell], absent: Set[Cell]) -> set[Cell]:
    """Control cells that a run does without: its own cells are all there, and no control is.

    Such a run was finished without controls. Measured later, perhaps on another machine,
    they would say nothing of it. ``absent`` are cells that cannot be measured here.
    """
    study_cells = {cell for cell in cells if cell.store in study.store_names}
    controls = set(cells) - study_cells
    if study_cells - measured - absent or not study_cells & measured or controls & measured:
        return set()
    return controls


class Target(Strict):
    """``rate`` (ops/s over all threads) is ``load`` per cent of the ``throughput`` of a trial cell.

    ``trial`` is its path, ``sums`` the digest of its SHA256SUMS.
    """

    rate: int
    load: int
    trial: str
    throughput: float
    sums: str

    def at(self, load: int) -> Target:
        """The target of another ``load`` (per cent) by the same trial cell."""
        return self.model_copy(update={"rate": rate_of(self.throughput, load), "load": load})


def rate_of(throughput: float, load: int) -> int:
    """The rate (ops/s) that is ``load`` per cent of ``throughput``, 1 at least."""
    return max(1, round(throughput * load / 100))


@dataclass(frozen=True)
class NotNow:
    """The reason for an unmeasured cell; ``final`` if measuring missing cells cannot change it."""

    reason: str
    final: bool
