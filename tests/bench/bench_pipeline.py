"""What the pipeline costs next to YCSB's own run time.

Measures the thesis study at a hundredth of its size in a copy of the project
(two stores, 24 cells), then builds its report again: from the raw logs, and
after an edit of the text, both next to a bare latexmk of the same document. The
rebuilds are interleaved, ROUNDS times.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = "jedlicka2024-scale0.01"
ROUNDS = 3
SNAKEMAKE = ["snakemake", "--cores", "2", "--config", "scale=0.01", "provider=native"]


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary)
        for name in ("config", "envs", "workloads", "workflow", "profiles", "report"):
            ignore = shutil.ignore_patterns("*.pdf", "*.html")
            shutil.copytree(ROOT / name, clone / name, ignore=ignore)
        shutil.copy(ROOT / "Snakefile", clone)

        study = timed(clone, SNAKEMAKE)
        manifests = [
            json.loads(path.read_text()) for path in clone.glob("results/*/raw/**/manifest.json")
        ]
        overheads = [overhead(clone, manifest) for manifest in manifests]
        show("overhead of a cell in kvstudy (s)", overheads)
        total = sum(manifest["seconds"]["total"] for manifest in manifests)

        raw, text, bare = [], [], []
        for _ in range(ROUNDS):
            for folder in (clone / "figures", clone / f"results/{RUN}/tables"):
                shutil.rmtree(folder)
            for path in [*clone.glob(f"results/{RUN}/*.csv"), *clone.glob("report/*.pdf")]:
                path.unlink()
            shutil.rmtree(clone / f"results/{RUN}/report")
            raw.append(timed(clone, SNAKEMAKE))
            edited = clone / "report" / "text" / "report.md.j2"
            edited.write_text(edited.read_text() + "\nOne more sentence.\n")
            text.append(timed(clone, SNAKEMAKE))
            source = clone / f"results/{RUN}/report"
            shutil.rmtree(source / "build")
            latexmk = ["latexmk", "-pdf", "-interaction=nonstopmode", "-outdir=build"]
            bare.append(timed(source, [*latexmk, f"{RUN}.tex"]))
        outside = study - total - statistics.median(raw)
        show("overhead of a cell in Snakemake (s)", [outside / len(manifests)])
        show("whole study (s)", [study])
        show("report from the raw logs (s)", raw)
        show("report after an edit of the text (s)", text)
        show("bare latexmk of the same document (s)", bare)


def overhead(clone: Path, manifest: dict) -> float:
    """Seconds of a cell that are neither YCSB's run time nor the server's start."""
    cell = manifest["cell"]
    slug = f"r{cell['records']}_o{cell['operations']}_t{cell['threads']}"
    raw = clone / f"results/{RUN}/raw/{cell['store']}/{cell['workload']}/{slug}"
    measured = 0.0
    for phase in manifest["phases"]:
        log = (raw / f"rep{cell['repetition']}" / f"{phase}.out").read_text()
        line = next(line for line in log.splitlines() if "RunTime(ms)" in line)
        measured += float(line.rsplit(",", 1)[1]) / 1000
    return manifest["seconds"]["total"] - manifest["seconds"]["ready"] - measured


def timed(folder: Path, command: list[str]) -> float:
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.monotonic() - start


def show(what: str, values: list[float]) -> None:
    print(
        f"{what:40} median {statistics.median(values):6.2f}  "
        f"min {min(values):6.2f}  max {max(values):6.2f}  n {len(values)}",
        flush=True,
    )


if __name__ == "__main__":
    main()
