"""A private image registry on loopback, so that pulling is tested without the network."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

CONFIG = """version: 0.1
storage: {{filesystem: {{rootdirectory: {root}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


def missing() -> str | None:
    """Why no registry can run here, or None."""
    if shutil.which("docker-registry"):
        return None
    return "not installed: docker-registry (apt-get install docker-registry)"


@contextmanager
def private_registry(home: Path) -> Iterator[str]:
    """Run a registry that keeps its files in `home`; yields host:port.

    Docker speaks plain HTTP to a registry on loopback.
    """
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = home / "config.yml"
    config.write_text(CONFIG.format(root=home / "images", port=port))
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "docker-registry", "serve", config],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_until_open(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_until_open(port: int, process: subprocess.Popen, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise
        time.sleep(0.05)
