"""The pipeline on real servers, run as its user runs it, and what it leaves."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psutil
import yaml
from kvstudy.stores.definition import load_store
from kvstudy.stores.providers import missing_requirement

from tests.cell_texts import check_formats
from tests.formats_support import text_of
from tests.project import edit

ROOT = Path(__file__).parents[2]
# A study of what every machine has, as small as it gets.
TWO_STORES = {
    "stores": ["redis", "memcached"],
    "workloads": ["c"],
    "parameters": {"records": 1000, "operations": 10_000, "threads": 2},
    "repetitions": 2,
    "noise_floor": False,
    "client_ceiling": False,
}
# No package registry has their servers: tested where somebody installed them. Cassandra needs
# Java 17, which Debian 13 has not.
BY_HAND = {"aerospike", "riak"}
if not any(Path("/usr/lib/jvm").glob("*-17-*")):
    BY_HAND.add("cassandra")


def run(
    clone: Path, *command: str | Path, answers: str = "", seconds: int = 600, **environment: str
) -> str:
    """Run the command in the clone; returns what it printed, and fails the test when it fails."""
    done = subprocess.run(
        command,
        cwd=clone,
        env=os.environ | {"KVSTUDY_STATE": str(clone / "state")} | environment,
        input=answers,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def snakemake(clone: Path, *config: str, target: str = "all", **environment: str) -> str:
    """Run the pipeline to the ``target``, or several; returns what it printed."""
    command = ("snakemake", *target.split(), "--cores", "4", "--config", *config)
    return run(clone, *command, seconds=1200, **environment)


def programs_in(folder: Path) -> list[str]:
    """Command lines of the processes of others that work below ``folder`` or name it."""
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            here = Path(process.cwd()).is_relative_to(folder) or str(folder) in line
            if here and process.pid != os.getpid():
                lines.append(line)
    return lines


def measured_tiny(
    clone: Path,
    name: str,
    change: Callable[[dict], object],
    target: str,
) -> Path:
    """Measure a study natively, once and as small as it gets, after a ``change`` of it.

    Builds the ``target`` of its ``run``. Returns the results.
    """
    servers = ROOT / "servers"
    if servers.is_dir() and not (clone / "servers").exists():
        (clone / "servers").symlink_to(servers)
    file = clone / f"config/studies/{name}/study.yaml"

    def once(study: dict) -> None:
        study.update(noise_floor=False, client_ceiling=False, repetitions=1)
        study["parameters"].update(operations=2000)
        # A timed cell takes its seconds whatever it does in them.
        study["parameters"].pop("seconds", None)
        change(study)

    edit(file, once)
    run = f"{name}-scale0.001"
    config = (f"study={name}", "scale=0.001", "provider=native")
    # On a busy machine Cassandra's driver may need all five seconds of a cell to connect; the
    # same command goes on with what is left.
    target = target.format(run=run)
    try:
        printed = snakemake(clone, *config, target=target)
    except AssertionError:
        printed = snakemake(clone, *config, target=target)
    assert programs_in(clone) == []
    results = clone / "results" / run
    cells = pd.read_csv(results / "cells.csv", keep_default_na=False)
    wrong = cells[(cells["status"] == "failed") | (cells["invalid"] != "")]
    assert wrong.empty, wrong.to_string() + printed[-3000:]
    study = yaml.safe_load(file.read_text())
    uses = [{"store": use} if isinstance(use, str) else use for use in study["stores"]]
    folders = {use.get("name", use["store"]): use["store"] for use in uses}
    installed = {
        name
        for name, folder in folders.items()
        if not missing_requirement(load_store(clone / "envs/stores" / folder), "native")
    }
    assert {folders[name] for name in folders.keys() - installed} <= BY_HAND
    assert set(cells.loc[cells["status"] == "measured", "store"]) == installed
    return results


def reported_tiny(clone: Path, name: str, change: Callable[[dict], object]) -> Path:
    """The same, with a PDF without a warning that has all tables and figures, and a workbook."""
    results = measured_tiny(clone, name, change, "report/{run}.pdf results/{run}/{run}.xlsx")
    run = results.name
    assert "warning" not in (results / "logs/build-pdf.log").read_text()
    assert check_formats(results / "tables", results / f"{run}.xlsx")
    study = yaml.safe_load((clone / f"config/studies/{name}/study.yaml").read_text())
    words = " ".join(text_of(clone / f"report/{run}.pdf").split())
    assert study["title"].split()[0] in words
    for part in study.get("tables", []) + study.get("figures", []):
        assert part["caption"].split(":")[0][:30] in words
    return results
