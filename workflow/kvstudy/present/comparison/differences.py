"""What two runs were measured on and with, and in what they differ."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.comparison.runs import PARSE_AGAIN, Run, sizes
from kvstudy.study.alike import cores_of

COLUMNS = ["what", "a", "b", "same"]
UNKNOWN = "not recorded"
# How environment.json says that the machine does not tell.
HIDDEN = {"", UNKNOWN, "not visible"}


def facts_of_both(a: Run, b: Run, titles: dict[str, str]) -> pd.DataFrame:
    """One row for each fact about machines, programs and plans.

    Columns: what, a, b (text; "not recorded" where a run does not tell), same (yes, no).
    ``titles`` are the names of the shared stores. KvstudyError for an environment.json
    of another form.
    """
    one, other = _facts(a, titles), _facts(b, titles)
    jars = [_jars(run, titles) for run in (a, b)]
    shown = [_only(jars[0], jars[1]), _only(jars[1], jars[0])]
    if not all(jars):
        shown = ["" if of else UNKNOWN for of in jars]
    elif shown == ["", ""]:
        shown = [f"{len(jars[0])} files"] * 2
    one["client's files"], other["client's files"] = (text or "no others" for text in shown)
    rows = [
        [what, one.get(what, UNKNOWN), other.get(what, UNKNOWN)]
        for what in dict.fromkeys([*one, *other])
    ]
    return pd.DataFrame(
        [[what, x, y, "yes" if x == y else "no"] for what, x, y in rows], columns=COLUMNS
    )


def not_one_machine(a: Run, b: Run) -> str:
    """Why both runs are not known to be of one machine; "" when they say they are.

    One machine is: the same CPU, cores and memory. Two machines of one type look the same.
    """
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


def _machines(run: Run) -> list[dict[str, dict[str, str]]]:
    """Each description of a machine as component -> {name, details}."""
    try:
        return [
            {part["component"]: part for part in machine or []}
            for machine in run.environment["machines"]
        ]
    except (KeyError, TypeError) as error:
        raise _other_form(run, error) from None


def _identity(machine: dict[str, dict[str, str]]) -> tuple[str, str, str] | None:
    cpu, memory = machine.get("CPU", {}), machine.get("Memory", {})
    # The clock rate is left out: where no highest one is told, it is that of the moment.
    cores = cores_of(cpu.get("details", ""))
    described = "{} cores, {} hardware threads usable".format(*cores) if cores else ""
    found = (cpu.get("name", ""), described, sentence(memory.get("name", "")))
    return None if HIDDEN.intersection(found) else found


def _facts(run: Run, titles: dict[str, str]) -> dict[str, str]:
    study, cells = run.study, run.cells
    measured = cells[cells["status"] == "measured"]
    facts = {"study": study.name}
    machines = _machines(run)
    for component in dict.fromkeys(name for machine in machines for name in machine):
        facts[component] = _distinct(_words(machine.get(component)) for machine in machines)
    facts["YCSB"] = _ycsb(run)
    facts["YCSB client"] = _distinct(measured["client"])
    facts["servers run as"] = _distinct(measured["provider"])
    for store, title in titles.items():
        rows = measured[measured["store"] == store]
        facts[f"version of {title}"] = _distinct(rows["server_version"])
        images = _store(run, store).get("images") or []
        if images:
            facts[f"image of {title}"] = ", ".join(images)
        options = run.stores[store].options
        if options:
            facts[f"options of {title}"] = ", ".join(
                f"{k}: {v}" for k, v in sorted(options.items())
            )
    for name in run.workloads:
        facts[f"sizes of workload {name}"] = (
            "; ".join(map(sizes, run.parameters(name))) or "no cell"
        )
    facts["repetitions (n)"] = str(study.repetitions)
    facts["seed of the order"] = str(study.seed)
    return facts


def _store(run: Run, store: str) -> dict:
    try:
        # A store without a measured cell has no entry.
        return dict(run.environment["stores"].get(store, {}))
    except (AttributeError, TypeError, ValueError) as error:
        raise _other_form(run, error) from None


def _jars(run: Run, stores: Iterable[str]) -> dict[str, str]:
    """The files on the class paths of the shared stores' clients, with their checksums."""
    return {
        name: str(digest)
        for store in stores
        for name, digest in (_store(run, store).get("jars") or {}).items()
    }


def _only(one: dict[str, str], other: dict[str, str]) -> str:
    """The files of ``one`` that ``other`` has not, or has with another content."""
    return ", ".join(
        name if name not in other else f"{name} ({digest[:8]})"
        for name, digest in sorted(one.items())
        if other.get(name) != digest
    )


def _ycsb(run: Run) -> str:
    """Version of YCSB's core on the class paths, as its file is named."""
    found = (re.fullmatch(r"core-(\d.*)\.jar", jar) for jar in _jars(run, run.stores))
    return _distinct(match[1] for match in found if match)


def _words(part: dict[str, str] | None) -> str:
    if part is None:
        return UNKNOWN
    return ", ".join(sentence(text) for text in (part.get("name"), part.get("details")) if text)


def _distinct(texts: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(text for text in texts if text)) or UNKNOWN


def _other_form(run: Run, error: Exception) -> KvstudyError:
    return KvstudyError(
        f"{run.folder / 'environment.json'}: {error!r}: another version of kvstudy wrote it; "
        f"{PARSE_AGAIN}"
    )
