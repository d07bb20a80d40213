"""Run the workflow on the raw logs of a run in a folder of its own; nothing is measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.contents import CODE, CONFIG, LOGS, MEASURED, REPORT, configuration
from kvstudy.study.run_names import RESULTS, RunName

# With the measured files and a configuration, all that a report is made from.
STUDY = ("config/studies", "envs/stores", "workloads")
SNAKEFILE = Path("workflow/Snakefile")
# What Snakemake says after each step.
STEPS = re.compile(r"\d+ of \d+ steps")


def is_input(run: RunName, name: str) -> bool:
    """Whether a file of the archive is not made by the workflow, but read by it."""
    results = f"{RESULTS / run.base}/"
    if name.startswith(results):
        return name.removeprefix(results).split("/")[0] in (*MEASURED, LOGS)
    built = name.startswith(f"{REPORT}/{run.name}") and name.count("/") == 1
    return not built and not name.startswith(("results/", "figures/"))


def compose(folder: Path, given: Path, code: Path, run: RunName) -> None:
    """Link study and measured files of ``given``, and the workflow of ``code``, in ``folder``."""
    if not (code / SNAKEFILE).is_file():
        raise KvstudyError(f"{SNAKEFILE}: no such file in the archive; leave --archived-code out")
    measured = [f"{RESULTS / run.base}/{name}" for name in MEASURED]
    report = [f"{REPORT}/{path.name}" for path in (code / REPORT).iterdir()]
    parts = [(given, name) for name in (*STUDY, *measured)]
    parts += [(code, name) for name in (*CODE, *report) if name != str(REPORT)]
    for source, name in parts:
        target = folder / name
        if (source / name).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to((source / name).resolve())
    # Not that of the archive, which could ask for measurements.
    (folder / CONFIG).write_text(configuration(run, given), encoding="utf-8")


def snakemake(
    folder: Path,
    *arguments: str,
    shown: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` with the package kvstudy that lies there.

    ``shown`` lets its output through, else it is in what is returned, and ``say`` is told
    how many steps are done.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder.resolve() / "workflow")}
    # A cell watches the process of this name; none runs here.
    environment.pop("KVSTUDY_CONTROLLER", None)
    command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1), *arguments]
    output = []
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=None if shown else subprocess.PIPE,
        stderr=None if shown else subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            output.append(line)
            if STEPS.match(line):
                say(line.strip())
    return subprocess.CompletedProcess(command, process.returncode, "".join(output))


def target(run: RunName) -> list[str]:
    """What Snakemake is asked for: all of the run, or of the report of its finished cells."""
    return ["report_partial"] if run.partial else []
