"""How often does the report call a store faster than itself?

Measures the study aa, one store under eight names, in a copy of the project: once for each seed of
its random order (words of the command line; 1 and 2 if there are none). Each run has 28 pairs under
each of four workloads. Prints the table of docs/reliability.md. Let nothing else run meanwhile.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
PAIRS = "results/aa/analysis/pairs.csv"
SNAKEMAKE = ["snakemake", "--cores", "2", PAIRS, "--config", "study=aa", "provider=native"]


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary)
        for name in ("config", "envs", "workloads", "workflow", "profiles", "report"):
            shutil.copytree(ROOT / name, clone / name)
        shutil.copy(ROOT / "Snakefile", clone)
        seeds = map(int, sys.argv[1:] or ("1", "2"))
        table(pd.concat([measured(clone, seed) for seed in seeds]))


def measured(clone: Path, seed: int) -> pd.DataFrame:
    """The pairs of one run, as ``analysis.pairs`` has them."""
    study = clone / "config/studies/aa/study.yaml"
    lines = study.read_text().splitlines()
    lines = [f"seed: {seed}" if line.startswith("seed:") else line for line in lines]
    study.write_text("\n".join(lines) + "\n")
    shutil.rmtree(clone / "results", ignore_errors=True)
    subprocess.run(SNAKEMAKE, cwd=clone, check=True)
    return pd.read_csv(clone / PAIRS)


def table(pairs: pd.DataFrame) -> None:
    print("| workload | comparisons | called faster | p < 0.05 alone | largest ratio |")
    print("|---|---|---|---|---|")
    for workload, of in [*pairs.groupby("workload"), ("all", pairs)]:
        called, alone = (of["decision"] == "faster").sum(), (of["p"] < 0.05).sum()
        shares = [f"{count} ({count / len(of):.1%})" for count in (called, alone)]
        print(f"| {workload} | {len(of)} | {' | '.join(shares)} | {of['ratio'].max():.2f} |")


if __name__ == "__main__":
    main()
