"""Comparing two runs: everything that is found, and the files it is written to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import seaborn as sns

from kvstudy.analyse.tidy.files import ycsb_versions
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.comparison.forest import draw_forest, pages
from kvstudy.present.comparison.matching import (
    LEFT_OUT,
    YES_NO,
    Matching,
    absolute_changes,
    match_runs,
    orders,
    relative_changes,
)
from kvstudy.present.comparison.runs import (
    PARSE_AGAIN,
    RecordedRun,
    find_recorded,
    read_recorded,
    refuse_same,
    sizes,
)
from kvstudy.present.drawing.draw import Look, looks, save, use_style
from kvstudy.stores.definition import lighter, load_store
from kvstudy.study.alike import cores_of
from kvstudy.study.load import STORES
from kvstudy.study.parts import StoreUse

UNKNOWN = "not recorded"
# How environment.json says that the machine does not tell.
HIDDEN = {"", UNKNOWN, "not visible"}


def facts_of_both(a: RecordedRun, b: RecordedRun, titles: dict[str, str]) -> pd.DataFrame:
    """One row for each fact about machines, programs and plans.

    Columns: what, a, b (text; "not recorded" where a run does not tell), same (yes, no).
    ``titles`` are the names of the shared stores. KvstudyError for an environment.json
    of another form.
    """
    facts, jars = ([of(run, titles) for run in (a, b)] for of in (_facts, _jars))
    files = [_only(*jars), _only(*reversed(jars))]
    if not all(jars):
        files = ["" if of else UNKNOWN for of in jars]
    elif not any(files):
        files = [f"{len(jars[0])} files"] * 2
    for of_run, text in zip(facts, files, strict=True):
        of_run["client's files"] = text or "no others"
    table = pd.DataFrame(facts, index=["a", "b"]).T.fillna(UNKNOWN)
    table["same"] = (table["a"] == table["b"]).map(YES_NO)
    return table.rename_axis("what").reset_index()


def not_one_machine(a: RecordedRun, b: RecordedRun) -> str:
    """Why both runs are not known to be of one machine; "" when they say they are.

    One machine is: the same CPU, cores and memory. Two machines of one type look the same.
    """
    one, other = (
        [(hosts["server"], *hosts["clients"]) for hosts in run.environment.get("hosts", [])]
        for run in (a, b)
    )
    if one != other:
        return "server and clients ran on other hosts"
    machines = []
    for name, run in (("A", a), ("B", b)):
        described = {_identity(machine) for machine in _machines(run)}
        if len(described) > 1:
            return f"run {name} was measured on {len(described)} machines"
        if not described or None in described:
            return f"run {name} does not record CPU, cores and memory"
        machines.append(described.pop())
    if machines[0] == machines[1]:
        return ""
    parts = zip(("CPU", "cores", "memory"), *machines, strict=True)
    different = [f"{part} ({x} and {y})" for part, x, y in parts if x != y]
    return f"the machines differ in {' and '.join(different)}"


def _machines(run: RecordedRun) -> list[dict[str, dict[str, str]]]:
    """Each description of a machine as component -> {name, details}."""
    try:
        return [
            {part["component"]: part for part in machine or []}
            for machine in run.environment["machines"]
        ]
    except (KeyError, TypeError) as error:
        raise KvstudyError(
            f"{run.folder / 'environment.json'}: {error!r}: another version of kvstudy wrote it; "
            f"{PARSE_AGAIN}"
        ) from None


def _identity(machine: dict[str, dict[str, str]]) -> tuple[str, str, str] | None:
    cpu, memory = machine.get("CPU", {}), machine.get("Memory", {})
    # The clock rate is left out: where no highest one is told, it is that of the moment.
    cores = cores_of(cpu.get("details", ""))
    described = "{} cores, {} hardware threads usable".format(*cores) if cores else ""
    found = (cpu.get("name", ""), described, sentence(memory.get("name", "")))
    return None if HIDDEN.intersection(found) else found


def _facts(run: RecordedRun, titles: dict[str, str]) -> dict[str, str]:
    study, cells = run.study, run.cells
    measured = cells[cells["status"] == "measured"]
    facts = {"study": study.name}
    machines = _machines(run)
    for component in dict.fromkeys(name for machine in machines for name in machine):
        facts[component] = _distinct(_words(machine.get(component)) for machine in machines)
    facts["YCSB"] = _distinct(ycsb_versions(run.environment))
    facts["YCSB client"] = _distinct(measured["client"])
    facts["servers run as"] = _distinct(measured["provider"])
    for store, title in titles.items():
        rows = measured[measured["store"] == store]
        facts[f"version of {title}"] = _distinct(rows["server_version"])
        if images := run.environment["stores"].get(store, {}).get("images"):
            facts[f"image of {title}"] = ", ".join(images)
        if options := run.stores[store].options:
            chosen = (f"{name}: {value}" for name, value in sorted(options.items()))
            facts[f"options of {title}"] = ", ".join(chosen)
    for name in run.workloads:
        of_workload = "; ".join(map(sizes, run.parameters(name))) or "no cell"
        facts[f"sizes of workload {name}"] = of_workload
    facts["repetitions (n)"] = str(study.repetitions)
    facts["seed of the order"] = str(study.seed)
    return facts


def _jars(run: RecordedRun, stores: Iterable[str]) -> dict[str, str]:
    """The files on the class paths of the shared stores' clients, with their checksums."""
    return {
        name: str(digest)
        for store in stores
        # A store without a measured cell has no entry.
        for name, digest in (run.environment["stores"].get(store, {}).get("jars") or {}).items()
    }


def _only(one: dict[str, str], other: dict[str, str]) -> str:
    """The files of ``one`` that ``other`` has not, or has with another content."""
    return ", ".join(
        name if name not in other else f"{name} ({digest[:8]})"
        for name, digest in sorted(one.items())
        if other.get(name) != digest
    )


def _words(part: dict[str, str] | None) -> str:
    if part is None:
        return UNKNOWN
    return ", ".join(sentence(text) for text in (part.get("name"), part.get("details")) if text)


def _distinct(texts: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(text for text in texts if text)) or UNKNOWN


def store_looks(run: RecordedRun, stores: list[str]) -> dict[str, Look]:
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
        use = StoreUse(store=record.folder, name=name, title=record.title, options=record.options)
        try:
            store = load_store(STORES / record.folder, use)
            titles[name], colors[name] = store.title, lighter(store.color, again)
        except KvstudyError:
            titles[name], colors[name] = record.title or name, next(spare)
    return looks(titles, colors)


def workload_labels(run: RecordedRun, matching: Matching) -> dict[tuple[str, str], str]:
    """The name of each match, with its parameters where a workload has several."""
    sets = Counter(match.workload for match in matching.matches)
    labels = {}
    for name, parameters in (match.place.values() for match in matching.matches):
        title = run.workloads[name].title or name
        labels[name, parameters] = f"{title}, {sizes(parameters)}" if sets[name] > 1 else title
    return labels


TABLES = ["facts", "left-out", "changes", "throughputs", "orders"]


@dataclass(frozen=True)
class Comparison:
    """What two runs say of each other; the modules of each table say what its columns are.

    ``base`` is the store that the others are divided by, None when only one is shared.
    ``two_machines`` says why ``throughputs`` has no rows; "" when both are of one machine.
    """

    a: RecordedRun
    b: RecordedRun
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


def compare(first: str, second: str, base: str | None = None) -> Comparison:
    """Compare the runs called ``first`` (A) and ``second`` (B), or the folders of that name.

    KvstudyError when they cannot be compared; it says why.
    """
    folders = [find_recorded(name) for name in (first, second)]
    a, b = map(read_recorded, folders)
    refuse_same(a, b)
    matching = match_runs(a, b, base)
    two_machines = not_one_machine(a, b)
    if matching.base is None and two_machines:
        raise KvstudyError(
            f"{a.folder} and {b.folder}: they share one store only, {matching.stores[0]}, and "
            f"{two_machines}. Between machines only ratios of two stores compare: compare runs "
            "that share two stores"
        )
    # These two leave out some more.
    changes = relative_changes(a, b, matching)
    placed = orders(a, b, matching)
    looks = store_looks(a, matching.stores)
    return Comparison(
        a=a,
        b=b,
        base=matching.base,
        stores=looks,
        workloads=workload_labels(a, matching),
        facts=facts_of_both(a, b, {name: look.title for name, look in looks.items()}),
        left_out=pd.DataFrame(matching.left_out, columns=LEFT_OUT),
        changes=changes,
        throughputs=absolute_changes([] if two_machines else matching.matches),
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
    for name in TABLES:
        table = getattr(found, name.replace("-", "_"))
        table.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    use_style()
    drawn = []
    for number, part in enumerate(pages(found.changes), start=1):
        path = output / f"forest-{number}"
        save(draw_forest(part, found.changes, found.workloads, found.stores), path)
        drawn.append(path.with_suffix(".pdf"))
    return drawn
