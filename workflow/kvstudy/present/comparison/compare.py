"""Comparing two runs: everything that is found, and the files it is written to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import seaborn as sns

from kvstudy.errors import KvstudyError
from kvstudy.present.comparison.changes import ABSOLUTE, absolute_changes, orders, relative_changes
from kvstudy.present.comparison.differences import facts_of_both, not_one_machine
from kvstudy.present.comparison.forest import draw_forest, pages
from kvstudy.present.comparison.matching import Matching, match_runs
from kvstudy.present.comparison.runs import Run, find_run, read_run, refuse_same, sizes
from kvstudy.present.drawing.draw import Look, looks, save, use_style
from kvstudy.stores.definition import Store, lighter, load_store
from kvstudy.study.load import STORES
from kvstudy.study.parts import StoreUse


def store_looks(run: Run, stores: list[str]) -> dict[str, Look]:
    """Title, colour and hatch of ``stores``, as in the figures of the run's own report.

    A store that this installation has no folder of is called as in the study.
    """
    spare = iter(sns.color_palette("colorblind", len(stores)).as_hex())
    titles, colors, seen = {}, {}, []
    for name, record in run.stores.items():
        again = seen.count(record.folder)
        seen.append(record.folder)
        if name not in stores:
            continue
        known = _known(name, record)
        titles[name] = known.title if known else record.title or name
        colors[name] = lighter(known.color, again) if known else next(spare)
    return looks(titles, colors)


def _known(name: str, record) -> Store | None:
    use = StoreUse(store=record.folder, name=name, title=record.title, options=record.options)
    try:
        return load_store(STORES / record.folder, use)
    except KvstudyError:
        return None


def workload_labels(run: Run, matching: Matching) -> dict[tuple[str, str], str]:
    """The name of each match, with its parameters where a workload has several."""
    names = [match.workload for match in matching.matches]
    return {
        (match.workload, match.parameters): _titled(run, match.workload)
        + (f", {sizes(match.parameters)}" if names.count(match.workload) > 1 else "")
        for match in matching.matches
    }


def _titled(run: Run, workload: str) -> str:
    return run.workloads[workload].title or workload


TABLES = ["facts", "left-out", "changes", "throughputs", "orders"]


@dataclass(frozen=True)
class Comparison:
    """What two runs say of each other; the modules of each table say what its columns are.

    ``base`` is the store that the others are divided by, None when only one is shared.
    ``two_machines`` says why ``throughputs`` has no rows; "" when both are of one machine.
    """

    a: Run
    b: Run
    base: str | None
    stores: dict[str, Look]
    workloads: dict[tuple[str, str], str]
    facts: pd.DataFrame
    left_out: pd.DataFrame
    changes: pd.DataFrame
    throughputs: pd.DataFrame
    orders: pd.DataFrame
    two_machines: str

    def title(self, store: str) -> str:
        return self.stores[store].title

    def tables(self) -> dict[str, pd.DataFrame]:
        """Each table by the name of its file."""
        return {name: getattr(self, name.replace("-", "_")) for name in TABLES}


def compare(first: str, second: str, base: str | None = None) -> Comparison:
    """Compare the runs called ``first`` (A) and ``second`` (B), or the folders of that name.

    KvstudyError when they cannot be compared; it says why.
    """
    folders = [find_run(name) for name in (first, second)]
    a, b = (read_run(folder) for folder in folders)
    refuse_same(a, b)
    matching = match_runs(a, b, base)
    two_machines = not_one_machine(a, b)
    if matching.base is None and two_machines:
        raise KvstudyError(
            f"{a.folder} and {b.folder}: they share one store only, {matching.stores[0]}, and "
            f"{two_machines}. Between machines only ratios of two stores compare: compare runs "
            "that share two stores"
        )
    changes = relative_changes(a, b, matching)
    placed = orders(a, b, matching)
    looks = store_looks(a, matching.stores)
    throughputs = pd.DataFrame(columns=ABSOLUTE)
    if not two_machines:
        throughputs = absolute_changes(a, b, matching)
    return Comparison(
        a=a,
        b=b,
        base=matching.base,
        stores=looks,
        workloads=workload_labels(a, matching),
        facts=facts_of_both(a, b, {name: look.title for name, look in looks.items()}),
        left_out=matching.left_out_table(),
        changes=changes,
        throughputs=throughputs,
        orders=placed,
        two_machines=two_machines,
    )


def write_comparison(found: Comparison, output: Path) -> list[Path]:
    """Write the tables as CSV and the forest plot as PDF and SVG; returns the plot's PDFs.

    ``changes.csv`` is the table of the plot. What an earlier comparison left in
    ``output`` under these names is replaced.
    """
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("forest-*.*"):
        old.unlink()
    for name, table in found.tables().items():
        table.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    use_style()
    drawn = []
    for number, part in enumerate(pages(found.changes), start=1):
        path = output / f"forest-{number}"
        save(draw_forest(part, found.changes, found.workloads, found.stores), path)
        drawn.append(path.with_suffix(".pdf"))
    return drawn
