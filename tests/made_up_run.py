"""Made-up runs of the stores Redis, Riak KV and Memcached in which any part may be missing."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml
from kvstudy.analyse.audit.files import audit
from kvstudy.analyse.claims.table import judge_run
from kvstudy.analyse.findings.files import analyse
from kvstudy.analyse.findings.repetitions import pool
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy import files, open_loop
from kvstudy.analyse.tidy.cell import STALL_SECONDS
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.analyse.tidy.probes import Probes, rows_of
from kvstudy.analyse.tidy.summary import summarise
from kvstudy.study.cells import closed_loop
from kvstudy.study.load import load_study
from kvstudy.study.published import CLAIMS, PUBLISHED

from tests.histogram_rows import histograms

STORES = {"redis": 9000.0, "riak": 1000.0, "memcached": 8000.0}
WORKLOADS = {"a": ("read", "update"), "c": ("read",), "insert": ("insert",)}
FACTS = Path(__file__).parent / "data/probes"
# What a run may lack of all of its cells, next to the metrics of that name.
PARTS = ("histograms", "seconds", "counters", "probes", "started", "versions", "machine", "load")
METRICS = ("latencies", "goodput", "client", "server", "watching", "pauses")
STATES = {
    "failed": ("failed", "the server died", ""),
    "gone": ("not measured", "no-program program=riak remedy='install it'", ""),
    "invalid": ("measured", "", "stood-still seconds=30"),
}
MACHINE = [{"component": name, "name": name, "details": "fast"} for name in ("CPU", "OS")]
SOURCE = {
    "key": "jedlicka2024",
    **{"author": "A. Nobody", "title": "Stores", "year": 2020, "published_as": "Thesis"},
}
VALUES = """\
study,table,store,workload,operation,metric,unit,value
made,Table 1,redis,a,overall,throughput,ops/s,4801
made,Table 1,memcached,a,overall,throughput,ops/s,2345
made,Table 1,memcached,a,read,latency_p99,us,386
"""


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """What a made-up run has; ``lacks`` are names of ``PARTS`` and ``METRICS``.

    ``states`` are those of cells that have no valid value, by store, workload and repetition
    ("*": all). ``few`` says that there are too few operations for a 99th percentile, ``swept`` that
    a table shows all thread counts.
    """

    stores: tuple[str, ...] = tuple(STORES)
    workloads: tuple[str, ...] = tuple(WORKLOADS)
    threads: tuple[int, ...] = (4,)
    repetitions: int = 2
    states: tuple[tuple[tuple[str, str, str], str], ...] = ()
    lacks: frozenset[str] = frozenset()
    controls: bool = True
    few: bool = False
    swept: bool = False
    spread: float = 0.1
    stalled: bool = False
    imported: bool = False
    source: bool = False
    values: bool = False
    claims: bool = False
    scale: float = 1.0
    seed: int = 1

    def run(self) -> Run:
        """The run, in the working directory, which is a project."""
        folder = Path("config/studies/made")
        folder.mkdir(exist_ok=True)
        (folder / "study.yaml").write_text(yaml.safe_dump(self._study()), encoding="utf-8")
        texts = {PUBLISHED: VALUES if self.values else "", CLAIMS: ""}
        if self.claims:
            texts[CLAIMS] = yaml.safe_dump(self._claims())
        for name, text in texts.items():
            if text and (self.source or name == CLAIMS):
                (folder / name).write_text(text, encoding="utf-8")
            else:
                (folder / name).unlink(missing_ok=True)
        run = Run("made", load_study(folder / "study.yaml"), self.scale)
        names = run.study.workload_names
        cells = files.CELLS.frame(list(self._cells(run)))
        measured = cells[cells["status"] == "measured"]
        values = files.MEASUREMENTS.frame(list(self._values(measured)))
        selected = {
            "cells": cells,
            "measurements": values,
            "summary": summarise(values, cells, run.study.store_names, names, run.headline),
            "series": files.SERIES.frame(list(self._seconds(measured))),
            "resources": files.RESOURCES.frame(),
            "outcomes": files.OUTCOMES.frame(list(self._outcomes(measured))),
            "rounds": files.ROUNDS.frame(),
            "probes": Probes(files.PROBES.frame(list(self._probes()))),
            "open_loop": open_loop.OpenLoopTables(*(table.frame() for table in open_loop.TABLES)),
            "all_cells": cells,
            "environment": self._environment(len(measured)),
            "pooled_latencies": pool(read_histograms(histograms(self._histograms(measured)))),
        }
        # In place of what is read from files.
        vars(run).update(selected)
        vars(run)["analysis"] = analyse(run)
        if run.audit_file:
            vars(run)["audit"] = audit(run.study, folder / PUBLISHED, None)
        if run.claims_file:
            run.folder.mkdir(parents=True, exist_ok=True)
            judge_run(run).to_csv(run.folder / "claims.csv", index=False)
        return run

    def _study(self) -> dict:
        study = {
            **{"name": "made", "title": "Made up", "question": "Which one?"},
            "stores": list(self.stores),
            "workloads": list(self.workloads),
            "parameters": {
                **{"records": 1000, "operations": 10_000, "threads": list(self.threads)},
                "shown": {"threads": self.threads[0]},
            },
            "repetitions": self.repetitions,
            **{"noise_floor": self.controls, "client_ceiling": self.controls},
        }
        if self.swept:
            sizes = {"name": "sizes", "kind": "sweep", "caption": "Sizes", "over": "threads"}
            study["tables"] = [sizes | {"workload": self.workloads[0]}]
        if self.source:
            study["source"] = SOURCE
        if self.imported:
            study |= {"imported": {}, "noise_floor": False, "client_ceiling": False}
        return study

    def _claims(self) -> dict:
        of = {"store": self.stores[0], "workload": self.workloads[0]}
        statements = [of | {"kind": "bound", "at_least": "5 kops/s"}]
        statements += [of | {"kind": "best"}] * (len(self.stores) > 1)
        about = {"id": "M1", "claim": "The best", "place": "Table 1", "said": "quoted"}
        return {"claims": [about | {"statements": statements}]}

    def _cells(self, run: Run) -> Iterator[list]:
        states = dict(self.states)
        for position, cell in enumerate(closed_loop(run.planned.values()), start=1):
            known = ((cell.store, cell.workload, of) for of in (str(cell.repetition), "*"))
            state = next((states[key] for key in known if key in states), "")
            status, reason, invalid = STATES.get(state, ("measured", "", ""))
            facts = ["", "", "", "", None]
            if status == "measured":
                version = "" if "versions" in self.lacks else "7.0"
                started = f"2026-11-01T10:00:{position % 60:02}+00:00"
                # What was measured here always has it.
                started = "" if self.imported and "started" in self.lacks else started
                facts = ["imported" if self.imported else "native", "kvstudy", version, started, 9]
            key = [cell.store, cell.workload, cell.parameters, str(cell.repetition)]
            yield [*key, status, reason, invalid, *facts, str(position), ""]

    def _values(self, cells: pd.DataFrame) -> Iterator[list]:
        chance = random.Random(self.seed)
        for row in cells.itertuples():
            key = [row.store, row.workload, row.parameters, row.repetition]
            key.append("load" if row.workload == "insert" else "run")
            base = STORES.get(row.store.removesuffix("-again"), 30_000)
            speed = base * (1 + self.spread * (chance.random() - 0.5))
            whole = [("throughput", "ops/s", speed), ("runtime", "ms", 1e7 / speed)]
            whole += [("operations", "count", 10_000), ("failed", "count", 0)]
            whole += [("goodput", "ops/s", speed)] * self._has("goodput")
            if self._has("client"):
                whole += [("client_cores", "cores", 1.0), ("client_cpu", "us", 90.0)]
                whole += [("client_allowed", "cores", 2.0), ("in_call", "share", 0.9)]
            if self._has("server"):
                whole += [("server_cores", "cores", 0.5), ("server_cpu", "us", 30.0)]
            whole += [("monitor_cpu", "%", 0.3)] * self._has("watching")
            if self._has("pauses"):
                whole += [("gc_count", "count", 3), ("gc_pause", "ms", 7.0)]
            whole += [("stalled", "s", STALL_SECONDS + 1)] * self.stalled
            for metric, unit, value in whole:
                yield [*key, "overall", metric, unit, value]
            for operation in WORKLOADS[row.workload]:
                yield [*key, operation, "operations", "count", 5000]
                yield [*key, operation, "failed", "count", 0]
                for metric in ("mean", "min", "max", "p95", "p99") * self._has("latencies"):
                    yield [*key, operation, f"latency_{metric}", "us", 1e6 / speed]

    def _seconds(self, cells: pd.DataFrame) -> Iterator[list]:
        for row in cells.itertuples() if self._has("seconds") else ():
            phase = "load" if row.workload == "insert" else "run"
            for second in range(40 if row.store == "redis" else 4):
                key = [row.store, row.workload, row.parameters, row.repetition]
                yield [*key, phase, second, 1000.0 + second % 3]

    def _histograms(self, cells: pd.DataFrame) -> Iterator[list]:
        count = 20 if self.few else 5000
        for row in cells.itertuples() if self._has("histograms") else ():
            if row.store not in self.stores or row.invalid:
                continue
            phase = "load" if row.workload == "insert" else "run"
            for operation in WORKLOADS[row.workload]:
                key = [row.store, row.workload, row.parameters, row.repetition, phase, operation]
                yield from ([*key, latency, count / 10] for latency in range(100, 110))

    def _outcomes(self, cells: pd.DataFrame) -> Iterator[list]:
        for row in cells.itertuples():
            key = [row.store, row.workload, row.parameters, row.repetition]
            yield [*key, "client", "", "kvstudy", None]
            for operation in WORKLOADS[row.workload]:
                yield [*key, "status", operation, "OK", 5000]
            if not self._has("counters") or row.store not in self.stores:
                yield [*key, "none", "", "counters-not-recorded", None]

    def _probes(self) -> Iterator[dict]:
        for store in self.stores:
            path, nothing = FACTS / f"{store}.json", {"store": store, "step": "", "name": ""}
            if self._has("probes") and path.is_file():
                facts = json.loads(path.read_text(encoding="utf-8"))
                yield from (nothing | {"reason": ""} | row for row in rows_of(facts))
            else:
                yield nothing | {"kind": "none", "reason": "not-probed"}

    def _environment(self, measured: int) -> dict:
        present = self._has("machine")
        example = {
            **{"measured": measured, "looked_at": 0, "mixed": [], "pinned": [], "findings": []},
            "stores": {store: {} for store in self.stores},
            "machines": [MACHINE] if present else [],
            "components": MACHINE if present else [],
            "disturbance": self._disturbance(measured) if self._has("load") and measured else {},
        }
        if self.imported:
            without = dict.fromkeys(("server", "seconds"), measured)
            example["imported"] = {
                "logs": measured,
                "cells": measured,
                "without": without,
                "ycsb": [],
            }
        return example

    def _disturbance(self, measured: int) -> dict:
        worst = {"store": self.stores[0], "workload": self.workloads[0], "repetition": 1}
        size = f"r1000_o10000_t{self.threads[0]}"
        worst |= {"parameters": size, "value": 12.5}
        above = {"cells": measured, "above": 1, "least": 2.5, "worst": worst}
        none = {"cells": max(1, measured - 1), "above": 0, "least": 0.1}
        none |= {"worst": worst | {"value": 0.5}}
        return {"background_cpu": above, "steal_cpu": none}

    def _has(self, part: str) -> bool:
        return part not in self.lacks


def every_key(stores: Collection[str], repetitions: int) -> list[tuple[str, str, str]]:
    """What a state can be of: single repetitions, whole workloads of a store."""
    runs = [str(number) for number in range(1, repetitions + 1)]
    return [
        (store, workload, run)
        for store in [*stores, "client-ceiling", f"{stores[0]}-again"]
        for workload in WORKLOADS
        for run in [*runs, "*"]
    ]
