"""Which file under workloads/ a log's workload is, and what differs from it."""

import re
from pathlib import Path

from kvstudy.logs.imports.command_line import CommandLine
from kvstudy.logs.imports.sources import base_name, decoded
from kvstudy.study.workload import (
    CORE,
    KNOWN,
    OF_CLASS,
    WORKLOADS,
    load_workload,
    project_workloads,
)

# What YCSB takes when a property is not set (CoreWorkload of YCSB 0.17.0).
DEFAULTS = {
    **{"readproportion": "0.95", "updateproportion": "0.05", "insertproportion": "0.0"},
    **{"scanproportion": "0.0", "readmodifywriteproportion": "0.0"},
    **{"requestdistribution": "uniform", "scanlengthdistribution": "uniform"},
    **{"maxscanlength": "1000", "minscanlength": "1", "insertorder": "hashed"},
    **{"fieldcount": "10", "fieldlength": "100", "fieldlengthdistribution": "constant"},
    **{"readallfields": "true", "writeallfields": "false", "dataintegrity": "false"},
    **{
        "workload": CORE,
        "table": "usertable",
        "measurement.interval": "op",
        "fieldnameprefix": "field",
    },
    **{"insertstart": "0", "zeropadding": "1", "hotspotdatafraction": "0.2"},
    "hotspotopnfraction": "0.8",
}
# Sizes have columns of their own; how latencies are written down is no part of a workload.
_NO_PART = frozenset(
    """
    recordcount operationcount insertcount maxexecutiontime measurementtype
    hdrhistogram.percentiles histogram.buckets timeseries.granularity
    reportlatencyforeacherror latencytrackederrors
    """.split()  # noqa: SIM905
)
# All that workloads read, those of kvstudy's own classes too; the rest is the binding's.
OF_WORKLOADS = KNOWN.union(*OF_CLASS.values())
PARTS = OF_WORKLOADS - _NO_PART
# What the records are like.
_SHAPE = frozenset(
    """
    table fieldcount fieldlength fieldlengthdistribution fieldlengthhistogram minfieldlength
    fieldnameprefix dataintegrity insertorder zeropadding insertstart workload
    """.split()  # noqa: SIM905
)
# And how they are loaded.
_LOAD = _SHAPE | {"target", "measurement.interval"}
_PROPERTY = re.compile(r"^\s*([A-Za-z][\w.]*)\s*[=:]\s*(.*?)\s*$", re.MULTILINE)


def file_properties(name: str, folder: Path) -> dict[str, str] | None:
    """Properties of the workload file ``name`` (-P) if it lies in ``folder``; None without."""
    for path in sorted(folder.rglob(base_name(name))) if base_name(name) else []:
        text = decoded(path.read_bytes()) if path.is_file() else None
        if text and (found := dict(_PROPERTY.findall(text))).keys() & KNOWN:
            return found
    return None


def study_name(name: str) -> str:
    """The workload file's name as kvstudy has them: ``a`` for ``C:\\ycsb\\workloada``."""
    stem = base_name(name).casefold()
    stem = re.sub(r"\.(properties|txt|dat|conf)$", "", stem)
    stem = re.sub(r"^workload[-_]?(?=.)", "", stem)
    slug = re.sub(r"[^a-z0-9]+", "-", stem).strip("-")
    return slug if re.match(r"[a-z]", slug) else f"w{slug}"


def differences(
    properties: dict[str, str], file: dict[str, str], of: str = "run"
) -> dict[str, str]:
    """The ``properties`` that make another workload of ``file``.

    ``of`` is run, load (those that a load obeys) or shape (those of the records).
    """
    parts = {"run": PARTS, "load": _LOAD, "shape": _SHAPE}[of]
    return {
        name: value
        for name, value in sorted(properties.items())
        if name in parts and not _same(name, value, file.get(name, DEFAULTS.get(name)))
    }


def _same(name: str, one: str, other: str | None) -> bool:
    if other is None:
        return False
    if name == "workload":
        # Its package was com.yahoo.ycsb before YCSB 0.16.
        return one.rpartition(".")[2] == other.rpartition(".")[2]
    try:
        return float(one) == float(other)
    except ValueError:
        return one.casefold() == other.casefold()


def base_workload(command: CommandLine, folder: Path, study: str) -> str | None:
    """Name of the file under workloads/ that the log's run was made with; None when unknown.

    A file beside the logs that is like none there is copied to it.
    """
    name = next(iter(command.files), "")
    if not name:
        return None
    slug = study_name(name)
    there = project_workloads()
    beside = file_properties(name, folder)
    if beside is None:
        return slug if slug in there else None
    for known in dict.fromkeys([slug, f"{study}-{slug}"]):
        if known not in there:
            _copy(beside, name, WORKLOADS / known)
            return known
        file = load_workload(WORKLOADS / known)
        # Each way: what one has and the other leaves to its default.
        if not differences(beside, file) and not differences(file, beside):
            return known
    return None


def _copy(properties: dict[str, str], name: str, path: Path) -> None:
    """Write the workload; properties of stores and drivers are no part of it."""
    lines = [f"# {base_name(name)}, as it lay beside imported logs."]
    lines += [
        f"{key}={value.replace('com.yahoo.ycsb', 'site.ycsb')}"
        for key, value in properties.items()
        if key in OF_WORKLOADS and not (key == "operationcount" and value == "0")
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def slug_of(differing: dict[str, str]) -> str:
    """What stands behind a workload's name: ``uniform``, ``target-6000``."""
    parts = []
    for name, value in differing.items():
        word = value if value.isalpha() and value not in ("true", "false") else f"{name}-{value}"
        parts.append(re.sub(r"[^a-z0-9]+", "-", word.casefold().split(".")[-1]).strip("-"))
    return "-".join(parts)
