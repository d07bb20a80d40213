"""Folders of finished runs with made-up throughputs, for the tests of their comparison."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from kvstudy.analyse.tidy.files import CELLS, MEASUREMENTS
from kvstudy.documents.comparison.compare import Comparison, compare

SIZES = "r1000_o5000_t2"
MACHINE = {
    "CPU": ("Quick 9", "cores-clock cores=4 threads=8 clock=3000"),
    "Memory": ("16.0 GiB", "no swap"),
    "Java": ("openjdk version 17.0.1", "OpenJDK 64-Bit Server VM"),
}
JARS = {"core-0.17.0.jar": "c" * 64, "jedis-8.0.jar": "1" * 64}
# Ops/s of each repetition by (store, workload).
Speeds = Mapping[tuple[str, str], Sequence[float]]


def write_run(
    folder: Path,
    speeds: Speeds,
    *,
    gaps: Mapping[tuple[str, str, int], tuple[str, str, str]] | None = None,
    parameters: str | Mapping[str, str] = SIZES,
    machine: Mapping[str, tuple[str, str]] = MACHINE,
    versions: Mapping[str, str] | None = None,
    jars: Mapping[str, str] = JARS,
    properties: Mapping[str, Mapping[str, str]] | None = None,
    folders: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    controls: Speeds | None = None,
    seed: int = 1,
    imported: bool = False,
    drop: Mapping[str, str] | None = None,
    added: float | None = None,
) -> Path:
    """Write cells.csv, measurements.csv and environment.json of a run into ``folder``.

    ``gaps`` replace a cell's (status, reason, invalid); ``controls`` are cells of stores that
    the study does not name; ``drop`` removes a column of a file. ``added`` gives reads a mean
    latency: that of two threads that do nothing else, and so many us.
    """
    cells, values = [], []
    for (store, workload), runs in {**speeds, **(controls or {})}.items():
        sizes = parameters if isinstance(parameters, str) else parameters[workload]
        for repetition, speed in enumerate(runs, start=1):
            state = (gaps or {}).get((store, workload, repetition), ("measured", "", ""))
            cell, facts = [store, workload, sizes, repetition], [""] * 4
            if state[0] == "measured":
                version = (versions or {}).get(store, "1.0")
                facts = ["native", "kvstudy", version, f"2026-01-0{repetition}T10:00:00+00:00"]
                values.append([*cell, "run", "overall", "throughput", "ops/s", speed])
                values.append([*cell, "run", "overall", "runtime", "ms", 5e6 / speed])
                if added is not None:
                    latency = 2e6 / speed + added
                    values.append([*cell, "run", "read", "latency_mean", "us", latency])
            # Its seconds and its node are not told.
            cells.append([*cell, *state, *facts, "", len(cells) + 1, ""])
    stores = list(dict.fromkeys(store for store, _ in speeds))
    workloads = list(dict.fromkeys(workload for _, workload in speeds))
    part = [{"component": name, "name": n, "details": d} for name, (n, d) in machine.items()]
    environment = {
        "machines": [part],
        "components": part,
        "stores": {store: {"jars": dict(jars), "images": []} for store in stores},
        "study": {
            "name": folder.name,
            "title": "Made up",
            "seed": seed,
            "imported": imported,
            "repetitions": max(len(runs) for runs in speeds.values()),
            "stores": [
                {
                    "name": store,
                    "folder": (folders or {}).get(store, store),
                    "title": (titles or {}).get(store, ""),
                    "options": {},
                }
                for store in stores
            ],
            "workloads": [
                {
                    "name": name,
                    "title": f"Workload {name.upper()}",
                    "properties": dict((properties or {}).get(name, {"readproportion": "1"})),
                }
                for name in workloads
            ],
        },
    }
    folder.mkdir(parents=True)
    frames = {"cells.csv": CELLS.frame(cells), "measurements.csv": MEASUREMENTS.frame(values)}
    for name, frame in frames.items():
        if name in (drop or {}):
            frame = frame.drop(columns=drop[name])
        frame.to_csv(folder / name, index=False)
    (folder / "environment.json").write_text(json.dumps(environment))
    return folder


def two_runs(project: Path, stores: list[str], **options) -> Comparison:
    """Runs ``before`` and ``after``; Memcached is 1.5 times as fast in the second."""
    rng = random.Random(1)
    for name, scale in (("before", 1.0), ("after", 0.7)):
        speeds = {
            (store, workload): [
                scale * 1000 * (place + 1) * rng.uniform(0.98, 1.02) * factor
                for factor in [1.5 if (store, name) == ("memcached", "after") else 1] * 5
            ]
            for place, store in enumerate(stores)
            for workload in "abcdf"
        }
        selected = {
            key[len(name) + 1 :]: v for key, v in options.items() if key.startswith(f"{name}_")
        }
        write_run(project / "results" / name, speeds, **selected)
    return compare("before", "after")
