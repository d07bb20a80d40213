"""Jobs on a SLURM cluster that an earlier Snakemake of this clone left behind."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from kvstudy.errors import KvstudyError

# How Snakemake's plugin comments the jobs of the groups in workflow/rules/measure.smk.
OURS = re.compile(r"rule_(repetition-\d+|probes)_")
# SLURM gives jobs its KillWait (30 s, if nobody changed it) before it kills them.
PATIENCE_SECONDS = 300


def end_earlier_jobs() -> None:
    """Cancel them, and return when they have ended: killed, Snakemake leaves its jobs in the queue.

    KvstudyError for jobs that do not end. Does nothing without SLURM.
    """
    if not shutil.which("squeue"):
        return
    limit = time.monotonic() + PATIENCE_SECONDS
    told: list[str] = []
    while jobs := _jobs():
        names = ", ".join(jobs)
        if jobs != told:
            print(f"Cancelling jobs of an earlier Snakemake: {names}", file=sys.stderr, flush=True)
            _slurm("scancel", *jobs)
            told = jobs
        if time.monotonic() > limit:
            raise KvstudyError(
                f"SLURM jobs {names}: of an earlier Snakemake in this clone, and do not end; "
                "'squeue' shows their state. Run this again when they are gone"
            )
        time.sleep(1)


def _jobs() -> list[str]:
    """The ids of all jobs of our groups that work in this clone, or wait to."""
    found = []
    for line in _slurm("squeue", "--me", "--noheader", "--format=%i|%k|%Z").splitlines():
        job, comment, folder = line.split("|", 2)
        if OURS.match(comment) and Path(folder).resolve() == Path.cwd():
            found.append(job)
    return found


def _slurm(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", "") or error
        raise KvstudyError(f"{command[0]}: {str(why).strip()}; does SLURM run?") from None
    return done.stdout
