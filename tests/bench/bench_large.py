"""What the steps after the raw logs cost in a run of ten thousand cells.

    python tests/bench/bench_large.py [--repetitions 368] [--folder DIR] [--code CLONE] [STEP ...]

Replicates the raw logs of the reference run (27 cells a repetition) in a copy of the project: the
files are hard links, but for manifests and lists of checksums. Then runs each step by itself,
after those that it reads, and prints its time, CPU time and the memory of its largest process.
With ``--folder`` the copy is kept, and used again; ``--code`` takes the program of another clone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = "jedlicka2024"
RECORDED = 3
STUDY = Path(f"config/studies/{RUN}/study.yaml")
COPIED = ("config", "envs", "workloads", "workflow", "profiles", "report", "Snakefile")
STEPS = {
    "plan": ["snakemake", "-n", "--cores", "2", f"results/{RUN}/cells.csv"],
    "parse": ["parse", RUN],
    "parse again": ["parse", RUN],
    "analyse": ["analyse", RUN],
    "audit": ["audit", "--study", str(STUDY)],
    "claims": ["claims", RUN],
    "tabulate": ["tabulate", RUN],
    "draw": ["draw", RUN],
    "provenance": ["provenance", RUN],
    "render": ["render", RUN],
    "build-html": ["build-html", RUN],
}
# Others do not need them.
MORE = {
    "build-docx": ["build-docx", RUN],
    "workbook": ["workbook", RUN],
    "commands": ["commands", RUN, "--output", f"results/{RUN}/commands.txt"],
    "export": ["export", RUN],
    "all steps": ["snakemake", "--cores", "2", "--forceall", f"report/{RUN}.html"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=368)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--code", type=Path, default=ROOT)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS | MORE))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        clone = (given.folder or Path(temporary)).resolve()
        if not (clone / STUDY).is_file():
            replicate(clone, given.repetitions)
        cells = len([*clone.glob(f"results/{RUN}/raw/*/*/*/*/SHA256SUMS")])
        print(f"{cells} cells\n{'step':14}{'s':>9}{'CPU s':>9}{'MiB':>9}", flush=True)
        for step in given.steps or STEPS:
            if step in ("parse", "all steps"):
                shutil.rmtree(clone / ".snakemake/cells", ignore_errors=True)
            print(f"{step:14}{'{:9.1f}{:9.1f}{:9.0f}'.format(*used(clone, given.code, step))}")


def replicate(clone: Path, repetitions: int) -> None:
    """Make the run with so many repetitions in the new folder ``clone``."""
    clone.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("*.pdf", "*.html", "target")
            shutil.copytree(ROOT / name, clone / name, ignore=ignore, symlinks=True)
        else:
            shutil.copy(ROOT / name, clone)
    raw = f"results/{RUN}/raw/"
    with zipfile.ZipFile(ROOT / f"reference/{RUN}.zip") as archive:
        kept = (
            raw,
            f"results/{RUN}/probes/",
            f"config/studies/{RUN}/",
            "envs/stores/",
            "workloads/",
        )
        archive.extractall(clone, [name for name in archive.namelist() if name.startswith(kept)])
    with (clone / "config/config.yaml").open("w") as file:
        file.write(f"study: {RUN}\nmeasure: false\n")
    study = (clone / STUDY).read_text()
    (clone / STUDY).write_text(
        study.replace(f"repetitions: {RECORDED}\n", f"repetitions: {repetitions}\n")
    )
    recorded = sorted((clone / raw).glob("*/*/*/rep*"))
    block = len(recorded) // RECORDED
    for number in range(RECORDED, repetitions):
        for cell in recorded:
            if cell.name == f"rep{number % RECORDED + 1}":
                _copy(cell, number + 1, number // RECORDED * RECORDED * block)


def _copy(cell: Path, repetition: int, later: int) -> None:
    """Make the ``cell`` again, so many cells ``later``, a minute each."""
    copy = cell.with_name(f"rep{repetition}")
    copy.mkdir()
    manifest = json.loads((cell / "manifest.json").read_text())
    started = datetime.fromisoformat(manifest["started"]) + timedelta(minutes=later)
    manifest["cell"]["repetition"] = repetition
    manifest |= {"position": manifest["position"] + later, "started": started.isoformat()}
    text = json.dumps(manifest, indent=1) + "\n"
    (copy / "manifest.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    sums = (cell / "SHA256SUMS").read_text().splitlines()
    lines = [f"{digest}  manifest.json" if "  manifest.json" in line else line for line in sums]
    for path in cell.iterdir():
        if path.name not in ("manifest.json", "SHA256SUMS"):
            os.link(path, copy / path.name)
    (copy / "SHA256SUMS").write_text("".join(f"{line}\n" for line in lines))


def used(clone: Path, code: Path, step: str) -> tuple[float, float, float]:
    """Run the step; its time (s), CPU time (s) and largest memory (MiB)."""
    words = (STEPS | MORE)[step]
    program = ["kvstudy"] if words[0] != "snakemake" else []
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    python_path = str(code.resolve() / "workflow")
    log = clone / f"{step.replace(' ', '-')}.log"
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.chdir(clone)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, 1)
        os.dup2(file, 2)
        environment = os.environ | {"PATH": path, "PYTHONPATH": python_path}
        os.execvpe([*program, *words][0], [*program, *words], environment)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{step} failed:\n{log.read_text()[-2000:]}")
    seconds = time.monotonic() - began
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
