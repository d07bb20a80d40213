"""Snakemake in a process that has it loaded: importing it is most of what a dry run costs."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    [
        *("snakemake.cli", "snakemake.workflow", "snakemake.report.html_reporter"),
        *("kvstudy.workflow_plan", "kvstudy.code_files", "kvstudy.analyse.findings.files"),
    ]
)


def run(
    arguments: list[str], folder: Path, environment: dict[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    """Run ``snakemake ARGUMENTS`` in ``folder``; TimeoutError when it takes longer."""
    said = [folder.with_name(f"snakemake.{name}") for name in ("stdout", "stderr")]
    process = SERVER.Process(target=_snakemake, args=(arguments, folder, environment, said))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        raise TimeoutError(f"{arguments}: still running after {seconds} s")
    texts = [path.read_text(encoding="utf-8") for path in said]
    return subprocess.CompletedProcess(arguments, process.exitcode, *texts)


def _snakemake(
    arguments: list[str], folder: Path, environment: dict[str, str], said: list[Path]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(said, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from snakemake.cli import main

    sys.argv = ["snakemake", *arguments]
    main(arguments)
