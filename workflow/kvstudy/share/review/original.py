"""An archive's claims and costs; its files are data, none of it runs."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from kvstudy.analyse.claims.file import load_claims
from kvstudy.analyse.claims.selection import grid_of
from kvstudy.analyse.claims.table import JUDGED
from kvstudy.analyse.findings.pairs import PAIRS
from kvstudy.analyse.tidy.files import MEASUREMENTS, SUMMARY, read_environment
from kvstudy.errors import InputError
from kvstudy.libraries import pd
from kvstudy.measure.planning.costs import Cost, read_costs
from kvstudy.share.archive.unpack import check_room, extract, opened, read_facts
from kvstudy.stats.ratios import Decision
from kvstudy.stores.definition import load_stores
from kvstudy.study.cells import Cell, closed_loop, plan, shown
from kvstudy.study.load import STORES, load_study
from kvstudy.study.model import Study
from kvstudy.study.published import CLAIMS
from kvstudy.study.raw import SUMS, as_measured
from kvstudy.study.run_names import RESULTS, RunName
from kvstudy.study.workload import WORKLOADS

# All that a review reads; the workflow of the archive is not among it.
READ = ("config/", "envs/stores/", "workloads/", "results/")
# Files of a store that say how its server runs.
STORE_FILE = "store.yaml"


@dataclass(frozen=True)
class ArchivedPair:
    """Two stores under a workload, at the sizes that the archive's report shows.

    ``ratio`` is the throughput of ``faster`` by that of ``slower``, with its interval (None for
    one run); ``claims`` are the source's claims that are about these two.
    """

    workload: str
    parameters: str
    faster: str
    slower: str
    n: int
    ratio: float
    low: float | None
    high: float | None
    decision: Decision
    claims: tuple[str, ...] = ()

    @property
    def stores(self) -> frozenset[str]:
        return frozenset((self.faster, self.slower))


@dataclass(frozen=True)
class SourceClaim:
    """A claim of the study's source, with the archive's verdict, "" for none."""

    id: str
    short: str
    verdict: str


@dataclass(frozen=True)
class Original:
    """The archived run, as far as a review needs it.

    ``digest`` is the SHA-256 of its SHA256SUMS. ``cells`` are those of the report's sizes by store
    and workload. ``latencies`` are means (us) by store, workload and operation. ``foreign`` is what
    the archive has and this clone has not, or has otherwise, by store or workload.
    """

    digest: str
    run: RunName
    study: Study
    pairs: list[ArchivedPair]
    claims: list[SourceClaim]
    cells: dict[tuple[str, str], Cell]
    costs: list[Cost]
    rates: dict[tuple[str, str], float]
    latencies: pd.Series
    machine: list[dict[str, str]]
    titles: dict[str, str]
    foreign: dict[tuple[str, str], str] = field(default_factory=dict)


def read_original(path: Path) -> Original:
    """Return what the archive claims. KvstudyError for what is no archive of a measured run."""
    clone = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="kvstudy-review-") as top, opened(path) as file:
        run, _missing = read_facts(file)
        if run.published_only:
            raise InputError(f"{path}: is of published values; there is nothing to measure again")
        folder = Path(top)
        check_room(path, file, folder)
        damaged = extract(file, folder, lambda name: name.startswith(READ) or name == SUMS)
        if damaged:
            name, problem = next(iter(damaged.items()))
            raise InputError(f"{path}: {name}: {problem}")
        digest = hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()
        with contextlib.chdir(folder):
            study = as_measured(load_study(run.study_file), run.base)
            if study.imported:
                raise InputError(
                    f"{path}: its logs were measured with other means than kvstudy; it says too "
                    "little of the conditions to measure them again"
                )
            results = RESULTS / run.name
            headline = shown(study, run.scale)
            claimed, claims = _claims(run, study, results)
            pairs = [*_pairs(results, headline, claimed)]
            environment = read_environment(results / "environment.json", ["components"])
            cells = {
                (cell.store, cell.workload): cell
                for cell in closed_loop(plan(study, run.scale))
                if cell.parameters == headline.get(cell.workload)
            }
            return Original(
                digest=digest,
                run=run,
                study=study,
                pairs=pairs,
                claims=claims,
                cells=cells,
                costs=read_costs([run.raw]),
                rates=_rates(results, headline),
                latencies=mean_latencies(MEASUREMENTS.read(results), headline),
                machine=environment["components"],
                titles={name: store.title for name, store in load_stores(study).items()},
                foreign=dict(_foreign(study, clone)),
            )


def _claims(
    run: RunName, study: Study, results: Path
) -> tuple[dict[tuple[str, frozenset[str]], tuple[str, ...]], list[SourceClaim]]:
    """The ids of claims by workload and pair of stores, and all claims."""
    path = run.study_file.with_name(CLAIMS)
    if not path.is_file():
        return {}, []
    verdicts = {}
    if JUDGED.path(results).is_file():
        verdicts = JUDGED.read(results).set_index("id")["verdict"].to_dict()
    grid, of_pairs, claims = grid_of(study, run.scale), {}, []
    for claim in load_claims(path, study):
        claims.append(SourceClaim(claim.id, claim.short or claim.claim, verdicts.get(claim.id, "")))
        for statement in claim.statements:
            for part in statement.parts(grid, study.store_names):
                for one, other in pairwise(part.of):
                    if one.workload == other.workload and one.store != other.store:
                        key = (one.workload, frozenset((one.store, other.store)))
                        of_pairs[key] = (*dict.fromkeys((*of_pairs.get(key, ()), claim.id)),)
    return of_pairs, claims


def _pairs(
    results: Path,
    headline: dict[str, str],
    claimed: dict[tuple[str, frozenset[str]], tuple[str, ...]],
) -> Iterator[ArchivedPair]:
    for row in PAIRS.read(results / "analysis").itertuples():
        if headline.get(row.workload) == row.parameters:
            low, high = (None if pd.isna(end) else float(end) for end in (row.low, row.high))
            yield ArchivedPair(
                *(row.workload, row.parameters, row.faster, row.slower),
                *(int(row.n), float(row.ratio), low, high, Decision(row.decision)),
                claimed.get((row.workload, frozenset((row.faster, row.slower))), ()),
            )


def _rates(results: Path, headline: dict[str, str]) -> dict[tuple[str, str], float]:
    """Return ops/s by store and workload."""
    rows = SUMMARY.read(results).query("operation == 'overall' and metric == 'throughput'")
    rows = rows[rows["parameters"] == rows["workload"].map(headline)]
    return {(row.store, row.workload): float(row.geometric) for row in rows.itertuples()}


def mean_latencies(measurements: pd.DataFrame, headline: dict[str, str]) -> pd.Series:
    """Return geometric means (us) of mean latencies by store, workload and operation."""
    rows = measurements[
        (measurements["metric"] == "latency_mean")
        & (measurements["parameters"] == measurements["workload"].map(headline))
        & (measurements["value"] > 0)
    ]
    # A workload that only loads is measured while it does; of others the run phase counts.
    runs = rows["workload"].isin(rows.loc[rows["phase"] == "run", "workload"])
    rows = rows[(rows["phase"] == "run") | ~runs]
    return rows.groupby(["store", "workload", "operation"])["value"].median()


def _foreign(study: Study, clone: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Compare stores and workloads of the present directory with those of the clone."""
    for use in study.stores:
        here, archived = clone / STORES / use.store, STORES / use.store
        if not here.is_dir():
            yield ("store", use.name), f"this clone has no store '{use.store}'"
        elif (here / STORE_FILE).read_bytes() != (archived / STORE_FILE).read_bytes():
            yield ("configured", use.name), f"{use.store} is configured otherwise in this clone"
    for use in study.workloads:
        path = WORKLOADS / use.file
        if not (clone / path).is_file():
            yield (
                ("workload", use.name),
                f"this clone has no {path}; copy it from the archive if you trust it",
            )
        elif (clone / path).read_bytes() != path.read_bytes():
            yield ("workload", use.name), f"{path} differs in this clone"
