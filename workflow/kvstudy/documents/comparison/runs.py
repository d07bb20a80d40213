"""Reading a finished run, which may come from another machine, and what it was measured on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ValidationError

from kvstudy.analyse.tidy.collect import StoreRecord, StudyRecord, WorkloadRecord
from kvstudy.analyse.tidy.files import (
    CELL,
    CELLS,
    MEASUREMENTS,
    SETTING,
    read_environment,
    ycsb_versions,
)
from kvstudy.analyse.tidy.summary import per_repetition, throughputs
from kvstudy.errors import DataError, KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import grouped
from kvstudy.study.consistency import cores_of
from kvstudy.study.naming import did_you_mean
from kvstudy.study.run_names import RESULTS

FILES = ["cells.csv", "measurements.csv", "environment.json"]
PARSE_AGAIN = "parse its raw logs again with 'kvstudy parse'"
PLACE = ["workload", "parameters", "store"]
UNKNOWN = "not recorded"
# How environment.json says that the machine does not tell.
HIDDEN = {"", UNKNOWN, "not visible"}


def sizes(parameters: str) -> str:
    """The short name of a cell's parameters in words."""
    slug = re.fullmatch(r"r(\d+)_o(\d+)_t(\d+)(?:_s(\d+))?", parameters)
    if not slug:
        return parameters
    names = ["records", "operations", "threads", "seconds"]
    return ", ".join(
        f"{grouped(count)} {name if count != '1' else name[:-1]}"
        for name, count in zip(names, slug.groups(), strict=True)
        if count not in (None, "0")
    )


class Record(BaseModel):
    """The used part of ``environment.json``, without its stores and hosts."""

    study: StudyRecord
    # The components of each machine.
    machines: list[list[dict[str, str]] | None]


@dataclass(frozen=True)
class RecordedRun:
    """A finished run of which only the results are here, not its study file.

    ``cells`` are those of its study's own stores and workloads; their ``value`` is the throughput
    (ops/s) that counts, NaN where none does. ``latencies`` are mean latencies (us) of single
    operations, by store, workload, parameters and operation: the means of the cells that count.
    ``machines`` are their components by name.
    """

    folder: Path
    study: StudyRecord
    machines: list[dict[str, dict[str, str]]]
    cells: pd.DataFrame
    latencies: pd.Series
    environment: dict

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @cached_property
    def stores(self) -> dict[str, StoreRecord]:
        return {store.name: store for store in self.study.stores}

    @cached_property
    def workloads(self) -> dict[str, WorkloadRecord]:
        return {workload.name: workload for workload in self.study.workloads}

    def named(self, kind: str) -> dict[str, dict[str, str]]:
        """The stores or workloads with what makes them the same in another run."""
        if kind == "store":
            return {name: {"folder": store.folder} for name, store in self.stores.items()}
        return {name: workload.properties for name, workload in self.workloads.items()}

    @cached_property
    def speeds(self) -> pd.DataFrame:
        """The cells with a value that counts."""
        return self.cells.dropna(subset="value")[[*CELL, "value"]].reset_index(drop=True)

    def parameters(self, workload: str) -> list[str]:
        """The sets of parameters that were planned for ``workload``, in their order."""
        return list(self.cells.loc[self.cells["workload"] == workload, "parameters"].unique())

    def of(self, *place: str) -> pd.DataFrame:
        """The cells of a workload with these parameters, of a store."""
        return self.cells[(self.cells[PLACE] == list(place)).all(axis=1)]

    def of_store(self, store: str, key: str) -> dict | list:
        """Its images, or its clients' jars; none for one without a measured cell."""
        return self.environment["stores"].get(store, {}).get(key, {})


def read_recorded(name: str) -> RecordedRun:
    """The run called ``name``, or in the folder of that path.

    DataError when there is none, and for files that are broken, contradict each other or
    were written by another version of kvstudy.
    """
    folder = next((path for path in (RESULTS / name, Path(name)) if path.is_dir()), None)
    if folder is None:
        known = sorted(path.parent.name for path in RESULTS.glob(f"*/{FILES[0]}"))
        hint = did_you_mean(name, known) if known else "; there are none below results/"
        raise DataError(f"{name}: no run of that name and no such folder{hint}")
    for file in FILES:
        if not (folder / file).is_file():
            raise DataError(
                f"{folder}: is not a finished run, it has no {file}. Name a folder that "
                "'kvstudy parse' has written, such as results/<study>"
            )
    path = folder / "environment.json"
    environment = read_environment(path, ["study", "machines"])
    try:
        record = Record.model_validate(environment)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise DataError(f"{path}: {place}: {problem['msg']}; {PARSE_AGAIN}") from None
    cells = CELLS.read(folder)
    try:
        measured = per_repetition(MEASUREMENTS.read(folder), cells, [])
    except KvstudyError as error:
        raise DataError(f"{folder}: {error}") from None
    study, machines = record.study, [parts or [] for parts in record.machines]
    machines = [{part["component"]: part for part in parts} for parts in machines]
    # Controls that the pipeline adds to a study are not among its stores.
    stores, workloads = ({each.name for each in of} for of in (study.stores, study.workloads))
    cells = cells[cells["store"].isin(stores) & cells["workload"].isin(workloads)]
    values = throughputs(measured)
    values = values.loc[values["value"] > 0, [*CELL, "value"]]
    cells = cells.merge(values, on=CELL, how="left")
    latencies = measured[(measured["metric"] == "latency_mean") & (measured["value"] > 0)]
    latencies = latencies.groupby([*SETTING, "operation"])["value"].mean()
    return RecordedRun(folder, study, machines, cells, latencies, environment)


def facts_of_both(a: RecordedRun, b: RecordedRun, titles: dict[str, str]) -> pd.DataFrame:
    """One row for each fact about machines, programs and plans.

    Columns: what, a, b (text; "not recorded" where a run does not tell), same (yes, no).
    ``titles`` are the names of the shared stores.
    """
    facts = [_facts(run, titles) for run in (a, b)]
    # Checksums of the files on the class paths of the shared stores' clients.
    jars = [
        {name: digest for store in titles for name, digest in run.of_store(store, "jars").items()}
        for run in (a, b)
    ]
    files = [_only(*jars), _only(*reversed(jars))]
    if not all(jars):
        files = ["" if of else UNKNOWN for of in jars]
    elif not any(files):
        files = [f"{len(jars[0])} files"] * 2
    for of_run, text in zip(facts, files, strict=True):
        of_run["client's files"] = text or "no others"
    table = pd.DataFrame(facts, index=["a", "b"]).T.fillna(UNKNOWN)
    table["same"] = (table["a"] == table["b"]).map({True: "yes", False: "no"})
    return table.rename_axis("what").reset_index()


def _facts(run: RecordedRun, titles: dict[str, str]) -> dict[str, str]:
    study, measured = run.study, run.cells[run.cells["status"] == "measured"]
    facts = {"study": study.name}
    for component in dict.fromkeys(name for machine in run.machines for name in machine):
        parts = (machine.get(component, {}) for machine in run.machines)
        words = [
            [sentence(part[key]) for key in ("name", "details") if part.get(key)] for part in parts
        ]
        facts[component] = _distinct(", ".join(of) or UNKNOWN for of in words)
    facts["YCSB"] = _distinct(ycsb_versions(run.environment))
    facts["YCSB client"] = _distinct(measured["client"])
    facts["servers run as"] = _distinct(measured["provider"])
    for store, title in titles.items():
        rows = measured[measured["store"] == store]
        facts[f"version of {title}"] = _distinct(rows["server_version"])
        facts[f"image of {title}"] = ", ".join(run.of_store(store, "images"))
        options = sorted(run.stores[store].options.items())
        facts[f"options of {title}"] = ", ".join(f"{name}: {value}" for name, value in options)
    for name in run.workloads:
        of_workload = "; ".join(map(sizes, run.parameters(name))) or "no cell"
        facts[f"sizes of workload {name}"] = of_workload
    facts["repetitions (n)"] = str(study.repetitions)
    facts["seed of the order"] = str(study.seed)
    return {what: text for what, text in facts.items() if text}


def _only(one: dict[str, str], other: dict[str, str]) -> str:
    """The files of ``one`` that ``other`` has not, or has with another content."""
    return ", ".join(
        name if name not in other else f"{name} ({digest[:8]})"
        for name, digest in sorted(one.items())
        if other.get(name) != digest
    )


def _distinct(texts: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(text for text in texts if text)) or UNKNOWN


def not_one_machine(a: RecordedRun, b: RecordedRun) -> str:
    """Return why the runs may be from different machines; "" if both say that it is the same.

    One machine is: the same CPU, cores and memory. Two machines of one type look the same.
    """
    one, other = (
        [(hosts["server"], *hosts["clients"]) for hosts in run.environment.get("hosts", [])]
        for run in (a, b)
    )
    if one != other:
        return "server and clients ran on other hosts"
    machines = []
    for side, run in (("A", a), ("B", b)):
        described = {_identity(machine) for machine in run.machines}
        if len(described) > 1:
            return f"run {side} was measured on {len(described)} machines"
        if not described or HIDDEN.intersection(*described):
            return f"run {side} does not record CPU, cores and memory"
        machines += described
    parts = zip(("CPU", "cores", "memory"), *machines, strict=True)
    different = [f"{part} ({x} and {y})" for part, x, y in parts if x != y]
    return f"the machines differ in {' and '.join(different)}" if different else ""


def _identity(machine: dict[str, dict[str, str]]) -> tuple[str, str, str]:
    """CPU, cores and memory. The clock rate is left out: it may be that of the moment."""
    cpu, memory = machine.get("CPU", {}), machine.get("Memory", {})
    cores = cores_of(cpu.get("details", ""))
    described = "{} cores, {} hardware threads usable".format(*cores) if cores else ""
    return cpu.get("name", ""), described, sentence(memory.get("name", ""))
