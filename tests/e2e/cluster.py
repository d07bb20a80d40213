"""A SLURM cluster on this machine: one slurmctld, and nodes in namespaces of network and name.

It has no accounting database. All nodes share the cores and files of the machine, as those of a
real cluster share a file system: it tests how jobs are run, never how fast.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests.e2e.namespaces import Network, inside, network
from tests.project import wait_for

PROGRAMS = ("slurmctld", "slurmd", "munged", "unshare")
# Beyond its own needs a node of so many CPUs takes a job whatever else the machine does.
CONFIGURATION = """
ClusterName={name}
SlurmctldHost={host}({address})
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n.spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
# A node that was lost is found so within seconds, and comes back by itself.
SlurmdTimeout=15
ReturnToService=2
KillWait=20
MinJobAge=3600
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def reason_to_skip() -> str:
    """Why no cluster can be had on this machine; "" where it can."""
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        return f"no {', '.join(missing)}; envs/setup test installs them"
    tried = subprocess.run(["unshare", "--uts", "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


def _free_port() -> int:
    with socket.socket() as at:
        at.bind(("127.0.0.1", 0))
        return at.getsockname()[1]


class Cluster:
    """Its ``nodes`` are the hosts of a network; ``environment`` is what SLURM's commands need."""

    def __init__(self, folder: Path, of: Network) -> None:
        self.folder = folder
        self.nodes = of.names
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self.network = of
        self._daemons: dict[str, subprocess.Popen] = {}

    # --- up and down

    def start(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        for name in ("state", *(f"{node}.spool" for node in self.nodes)):
            (self.folder / name).mkdir()
        text = CONFIGURATION.format(
            name=self.nodes[0],
            host=socket.gethostname().split(".")[0],
            address=self.network.ours,
            control=_free_port(),
            node=_free_port(),
            folder=self.folder,
        )
        for node in self.nodes:
            address = self.network.address(node)
            text += f"NodeName={node} NodeAddr={address} CPUs=2 RealMemory=1000\n"
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "cgroup.conf").write_text(
            "CgroupPlugin=cgroup/v1\n" if Path("/sys/fs/cgroup/memory").is_dir() else ""
        )
        # All paths below are those of this cluster, so it needs none of root's own.
        self._start(
            "munged",
            "munged",
            "--foreground",
            "--force",
            *(
                f"--{what}={self.folder}/munge.{ending}"
                for what, ending in (
                    ("key-file", "key"),
                    ("socket", "socket"),
                    ("pid-file", "pid"),
                    ("log-file", "log"),
                    ("seed-file", "seed"),
                )
            ),
        )
        self._until(lambda: (self.folder / "munge.socket").exists(), "munged does not start")
        self._start("slurmctld", "slurmctld", "-D")
        for node in self.nodes:
            self.start_node(node)
        self.wait_for_nodes()

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.out").open("a") as out:
            self._daemons[name] = subprocess.Popen(
                command, env=os.environ | self.environment, stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, start_new_session=True, cwd="/",
            )  # fmt: skip

    def start_node(self, node: str) -> None:
        script = f"hostname {node}; exec slurmd -D"
        self._start(node, *inside(node), "unshare", "--uts", "sh", "-c", script)

    def stop(self) -> None:
        """End all that was started, and what jobs left. Some may be gone."""
        with contextlib.suppress(Exception):
            self.run("scancel", "--user=root", "--full")
        for process in self._daemons.values():
            process.send_signal(signal.SIGTERM)
        for process in self._daemons.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        left = self.processes()
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=10)

    def processes(self, *nodes: str) -> list[psutil.Process]:
        """What runs on these nodes, or on all of them."""
        result = []
        for pid in (pid for node in nodes or self.nodes for pid in self.network.pids(node)):
            with contextlib.suppress(psutil.NoSuchProcess):
                result.append(psutil.Process(pid))
        return result

    # --- what is asked of it

    def run(self, *command: str) -> str:
        return subprocess.run(
            command,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    def jobs(self, state: str = "running,pending") -> list[str]:
        return self.run("squeue", "--noheader", f"--states={state}", "--format=%i").split()

    def node_of(self, job: str) -> str:
        return self.run("squeue", "--noheader", f"--jobs={job}", "--format=%N").strip()

    def kill_node(self, node: str) -> None:
        """Its daemon and all that runs there, as when the machine loses its power."""
        for process in self.processes(node):
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._daemons[node].wait()

    def kill_daemon(self, node: str) -> None:
        self._daemons[node].kill()
        self._daemons[node].wait()

    def wait_for_nodes(self) -> None:
        def ready() -> bool:
            try:
                states = self.run("sinfo", "--noheader", "--Node", "--format=%N %t")
            except subprocess.CalledProcessError:
                return False
            wanted = {
                f"{node} {state}" for node in self.nodes for state in ("idle", "mix", "alloc")
            }
            return len(set(states.splitlines()) & wanted) == len(self.nodes)

        self._until(ready, "the nodes do not come up")

    def _until(self, look, what: str, seconds: float = 120) -> None:
        def logs() -> str:
            ends = (path.read_text()[-1500:] for path in self.folder.glob("*.out"))
            return f"{what}: {''.join(ends)}"

        wait_for(look, logs, seconds)


@contextlib.contextmanager
def running_cluster(count: int) -> Iterator[Cluster]:
    # munged wants a folder that everybody may enter, and pytest's are closed.
    folder = Path(tempfile.mkdtemp(prefix="kvstudy-slurm-"))
    folder.chmod(0o755)
    try:
        with network(count) as of:
            cluster = Cluster(folder, of)
            try:
                cluster.start()
                yield cluster
            finally:
                cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
