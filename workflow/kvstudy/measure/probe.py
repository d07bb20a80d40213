"""Probe one store: what each operation makes its server do, from the server's own counters."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from kvstudy import __version__
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_executed, check_load
from kvstudy.logs.ycsb.parse import parse
from kvstudy.measure import environment
from kvstudy.measure.client import check_class, store_properties, ycsb_command
from kvstudy.measure.phase import Phase, commands_text, run_phase, true_cause_first
from kvstudy.measure.setting import Setting, counters, moved
from kvstudy.measure.work_directory import WorkDirectory
from kvstudy.stores.definition import Store
from kvstudy.stores.process import bound_to
from kvstudy.stores.server import Server, ask
from kvstudy.study.probe import FACTS, SECONDS, THREADS, Step, steps_of
from kvstudy.study.raw import probe_directory, write_sums
from kvstudy.study.workload import CORE, class_of, field_names


def probe_store(setting: Setting, store: Store, plan: dict) -> Path:
    """Run the steps on a fresh server and return the folder of the raw facts and logs.

    ``plan`` is what the probe depends on. A failed probe leaves nothing there;
    its logs go to ``results/<run>/failed/probes/<store>/<time>/``.
    """
    shape = {"workload": CORE} | plan["shape"]
    provider, client, pinned = setting.resolve(store)
    check_class(client, class_of(shape))
    environment.java(bound_to(client.cores))
    name = f"the probe of {store.name}"
    known = {"server": {"provider": "none" if store.in_process else provider}}
    setting.refuse_unlike(store, name, known)
    done = probe_directory(setting.run, store.name)
    with WorkDirectory(setting.results, done, f"probes/{store.name}").working() as work:
        phases: dict[str, Phase] = {}

        def run(step: Step, server: Server) -> None:
            address = store_properties(store, server.host, server.port)
            command = ycsb_command(
                *(client, step.operation == "insert", THREADS, shape | address | step.properties)
            )
            phases[step.name] = run_phase(command, client.classpath, work, step.name, store, server)

        started = datetime.datetime.now(datetime.UTC)
        fields = field_names(shape)
        with setting.serving(store, provider, pinned, work, name, fields) as server:
            steps = _steps(store, server, work, run)
            described = server.describe() | {"version": server.version}
        shutil.rmtree(work / "data", ignore_errors=True)
        (work / "commands.sh").write_text(
            commands_text(client.classpath, server, phases), encoding="utf-8"
        )
        facts = {
            "kvstudy": __version__,
            "protocol": setting.protocol,
            "run": setting.run,
            "plan": plan,
            "misses": store.misses,
            "started": started.isoformat(timespec="seconds"),
            "server": described,
            "client": client.describe(),
            "phases": {name: asdict(phase) for name, phase in phases.items()},
            "steps": steps,
        }
        (work / FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        write_sums(work)
    return done


def _steps(
    store: Store, server: Server, work: Path, run: Callable[[Step, Server], None]
) -> list[dict]:
    """Run all steps; what YCSB reported of each, and how counters and records changed."""
    found = []
    size = None
    for step in steps_of(store.unsupported):
        # Sizes are asked for outside of the counted time: asking is work for the server too.
        counted = counters(store, server)
        with true_cause_first([work / f"{step.name}.err"]):
            run(step, server)
            returns = _returns(step, work)
        change = moved(store, counted, counters(store, server))
        before, size = size, ask(store, server, "record_bytes")
        found.append(
            {
                "step": step.name,
                "returns": returns,
                "counters": change,
                "record_bytes": {"before": before, "after": size},
            }
        )
    return found


def _returns(step: Step, work: Path) -> dict[str, int]:
    """How many operations ended with which status; KvstudyError for a broken step."""
    name = f"{step.name}.out"
    log = parse((work / name).read_text(encoding="utf-8", errors="replace"), name)
    if step.operation == "insert":
        check_load(log, step.count, name)
    else:
        out_of_time = log.runtime >= (SECONDS - 1) * 1000
        check_executed(log, step.count, SECONDS if out_of_time else None, name)
    section = log.sections.get(step.operation.upper())
    if not section:
        raise KvstudyError(f"{name}: no operation ended in {SECONDS} s; is the machine busy?")
    return section.returns
