"""A run's data as CSV and Parquet, with a schema that programs check (Frictionless)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.errors import InputError
from kvstudy.libraries import pd
from kvstudy.share.data.frames import FRAMES, RunData
from kvstudy.whole_file import put

# https://datapackage.org, version 1: what its validators and R's package frictionless read.
PROFILE = "tabular-data-resource"
DESCRIPTOR = "datapackage.json"
DECISIONS = ["faster", "equal", "undecided"]
FIELDS = {
    "store": "Name of the store in the study",
    "workload": "Name of the workload in the study; mean: the mean over the workloads",
    "parameters": "Sizes of the cell: r records, o operations, t threads, s seconds",
    "repetition": "Number of the repetition, from 1 on",
    "status": "measured, or why there are no logs",
    "reason": "Why there are no logs",
    "invalid": "Why a measured cell does not count; empty if it counts",
    "provider": "How the server ran: native, docker, external",
    "client": "The YCSB client",
    "server_version": "Version that the server reported",
    "started": "Start of the cell (ISO 8601)",
    "wall_seconds": "Duration of the whole cell in s",
    "position": "Place of the cell in the order of the run",
    "node": "Name of the node of a cluster",
    "phase": "load or run",
    "operation": "Operation of YCSB; overall: all together",
    "metric": "throughput, runtime, latency_mean, latency_p99, ...",
    "unit": "Unit of the value",
    "value": "The measured value, in the unit",
    "n": "Number of repetitions",
    "mean": "Arithmetic mean, in the unit",
    "geometric": "Geometric mean, in the unit",
    "sd": "Standard deviation, in the unit",
    "cv": "Coefficient of variation: sd / mean",
    "min": "Smallest value, in the unit",
    "max": "Largest value, in the unit",
    "faster": "The store with the higher throughput",
    "slower": "The other store",
    "ratio": "Throughput of faster by that of slower, of geometric means",
    "low": "Lower end of the ratio's 95 % interval",
    "high": "Upper end of the ratio's 95 % interval",
    "p": "p-value that the ratio is not above the noise floor",
    "p_adjusted": "p, corrected for all pairs of a workload (Holm, Shaffer)",
    "would_decide": "About how many repetitions would decide an undecided pair",
    "decision": "faster, equal (within the margin) or undecided",
    "in_floor": "Whether the interval reaches into the noise floor; empty if that is unknown",
    "latency": "Latency in µs",
    "count": "How many operations had this latency",
}
INTEGERS = {"latency", "count"}
KEYS = {
    "cells": ["store", "workload", "parameters", "repetition"],
    "pairs": ["workload", "parameters", "faster", "slower"],
}


def write_package(run: Run, output: Path) -> None:
    """Write each frame as CSV and Parquet, and ``datapackage.json``, into the new ``output``.

    InputError when ``output`` is there: what others left in it would seem to be of the run.
    """
    if output.exists():
        raise InputError(f"{output}: is there already; remove it, or give another --output")
    data = RunData(run.folder)
    resources = []
    for name, description in FRAMES.items():
        frame = getattr(data, name)
        content = frame.to_csv(index=False, lineterminator="\n").encode()
        put(content, output / f"{name}.csv")
        frame.to_parquet(output / f"{name}.parquet", index=False)
        resources.append(
            {"name": name, "path": f"{name}.csv", "format": "csv", "encoding": "utf-8"}
            | {"profile": PROFILE, "description": description, "bytes": len(content)}
            | {"hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
            | {"schema": _schema(name, frame)}
        )
        # Without size and checksum: Frictionless's validator (5.21) does not find those of a
        # Parquet file, and calls the package invalid.
        parquet = {"name": f"{name}-parquet", "path": f"{name}.parquet", "format": "parquet"}
        resources.append(parquet | {"description": f"The same as {name}.csv."})
    descriptor = {
        "profile": "data-package",
        "name": run.name,
        "title": run.study.title,
        "description": run.study.question,
        "resources": resources,
    }
    text = json.dumps(descriptor, ensure_ascii=False, indent=1)
    put(f"{text}\n".encode(), output / DESCRIPTOR)


def _schema(name: str, frame: pd.DataFrame) -> dict[str, object]:
    fields = []
    for column in frame.columns:
        number = pd.api.types.is_numeric_dtype(frame[column])
        kind = ("integer" if column in INTEGERS else "number") if number else "string"
        field: dict[str, object] = {
            "name": column,
            "type": kind,
            "description": FIELDS[column],
        }
        if column == "decision":
            field["constraints"] = {"enum": DECISIONS}
        fields.append(field)
    schema: dict[str, object] = {"fields": fields, "missingValues": [""]}
    if name in KEYS:
        schema["primaryKey"] = KEYS[name]
    return schema
