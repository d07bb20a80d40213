"""Hosts that are network namespaces of this machine, reached by ``nsenter`` or by ``ssh``."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

# Of benchmarks of networks (RFC 2544): no other network has them.
NETWORK = "198.18"


@dataclass(frozen=True)
class Network:
    """Hosts ``names`` on one bridge; the first is ``<prefix>.1``, we are ``<prefix>.254``."""

    names: list[str]
    prefix: str

    @property
    def ours(self) -> str:
        return f"{self.prefix}.254"

    def address(self, name: str) -> str:
        return f"{self.prefix}.{self.names.index(name) + 1}"

    def pids(self, name: str) -> list[int]:
        return [int(word) for word in run("ip", "netns", "pids", name).split()]

    def agent(self, name: str) -> psutil.Process | None:
        return self.program(name, "python", "agent")

    def program(self, name: str, program: str, word: str = "") -> psutil.Process | None:
        """The first process of the program on the host whose command has the word."""
        for pid in self.pids(name):
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                if process.name().startswith(program) and (not word or word in process.cmdline()):
                    return process
        return None

    def programs(self) -> list[str]:
        """Command lines of what runs on the hosts, but for their own sshd."""
        lines = []
        for name in self.names:
            for pid in self.pids(name):
                with contextlib.suppress(psutil.Error):
                    line = " ".join(psutil.Process(pid).cmdline())
                    if line and not line.startswith(("sshd: /", "/usr/sbin/sshd")):
                        lines.append(line)
        return lines


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def inside(name: str) -> list[str]:
    return ["nsenter", f"--net=/run/netns/{name}"]


@contextlib.contextmanager
def network(hosts: int = 3) -> Iterator[Network]:
    """So many hosts while the block runs; the test is skipped where they cannot be made."""
    mark = secrets.token_hex(3)
    names = [f"kv{mark}-{number}" for number in range(1, hosts + 1)]
    bridge, of = f"kv{mark}b", Network(names, f"{NETWORK}.{secrets.randbelow(255)}")
    with contextlib.ExitStack() as example:
        try:
            if os.geteuid():
                raise OSError("only root may")
            run("ip", "link", "add", bridge, "type", "bridge")
            example.callback(run, "ip", "link", "delete", bridge)
            run("ip", "address", "add", f"{of.ours}/24", "dev", bridge)
            run("ip", "link", "set", bridge, "up")
            for number, name in enumerate(names, start=1):
                run("ip", "netns", "add", name)
                example.callback(run, "ip", "netns", "delete", name)
                end = f"kv{mark}v{number}"
                run(*("ip", "link", "add", end, "type", "veth"), *("peer", "eth0", "netns", name))
                run("ip", "link", "set", end, "master", bridge, "up")
                ip = [*inside(name), "ip"]
                run(*ip, "address", "add", f"{of.address(name)}/24", "dev", "eth0")
                run(*ip, "link", "set", "eth0", "up")
                run(*ip, "link", "set", "lo", "up")
        except OSError as error:
            reason = f"no network namespaces can be made here: {error}"
            pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
        yield of


@contextlib.contextmanager
def sshd(of: Network, folder: Path) -> Iterator[Path]:
    """An ssh server on each host; yields the configuration of a client that may log in to all."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        reason = "no program sshd (openssh-server)"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    key = folder / "key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    Path("/run/sshd").mkdir(exist_ok=True)
    server = folder / "sshd_config"
    server.write_text(
        f"HostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nPidFile none\n"
        "PasswordAuthentication no\n"
    )
    lines = [
        *(f"Host {name}\n HostName {of.address(name)}" for name in of.names),
        f"Host *\n IdentityFile {key}\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null",
        " LogLevel ERROR\n BatchMode yes",
    ]
    client = folder / "ssh_config"
    client.write_text("\n".join(lines) + "\n")
    servers = []
    try:
        for name in of.names:
            address = f"ListenAddress={of.address(name)}"
            command = [*inside(name), program, "-D", "-e", "-f", str(server), "-o", address]
            servers.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        yield client
    finally:
        for process in servers:
            process.kill()
            process.wait()
