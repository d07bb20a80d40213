"""Jobs on a cluster that an earlier Snakemake of this clone left behind."""

import json
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


def end_earlier_jobs(executor: str) -> None:
    """Cancel them, and return when they have ended: killed, Snakemake leaves its jobs in the queue.

    ``executor`` is Snakemake's name of it. KvstudyError for jobs that do not end. Does nothing
    where the cluster's commands are not.
    """
    if executor not in CLUSTERS:
        return
    listed, cancel, look = CLUSTERS[executor]
    if not shutil.which(look.split()[0]):
        return
    limit = time.monotonic() + PATIENCE_SECONDS
    told: list[str] = []
    while jobs := listed():
        names = ", ".join(jobs)
        if jobs != told:
            print(f"Cancelling jobs of an earlier Snakemake: {names}", file=sys.stderr, flush=True)
            _run(*cancel, *jobs)
            told = jobs
        if time.monotonic() > limit:
            raise KvstudyError(
                f"jobs {names}: of an earlier Snakemake in this clone, and do not end; "
                f"'{look}' shows their state. Run this again when they are gone"
            )
        time.sleep(1)


def _of_slurm() -> list[str]:
    """The ids of all jobs of our groups that work in this clone, or wait to."""
    lines = _run("squeue", "--me", "--noheader", "--format=%i|%k|%Z").splitlines()
    jobs = (line.split("|", 2) for line in lines)
    return [
        job
        for job, comment, folder in jobs
        if OURS.match(comment) and Path(folder).resolve() == Path.cwd()
    ]


def _of_kubernetes() -> list[str]:
    """The names of all Jobs of this clone that have not ended (profiles/kubernetes/job.yaml)."""
    told = _run("kubectl", "get", "jobs", "--selector=app=kvstudy", "--output=json")
    found = []
    for job in json.loads(told)["items"]:
        ends = {each["type"] for each in job["status"].get("conditions", [])}
        folder = job["spec"]["template"]["spec"]["containers"][0]["workingDir"]
        if not {"Complete", "Failed"} & ends and Path(folder) == Path.cwd():
            found.append(f"job/{job['metadata']['name']}")
    return found


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", "") or error
        raise KvstudyError(f"{command[0]}: {str(why).strip()}; does the cluster run?") from None
    return done.stdout


# How an executor's jobs are listed and cancelled, and what shows them.
CLUSTERS = {
    "slurm": (_of_slurm, ["scancel"], "squeue"),
    "cluster-generic": (_of_kubernetes, ["profiles/kubernetes/cancel"], "kubectl get jobs"),
}
