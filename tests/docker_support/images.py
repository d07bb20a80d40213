"""Images built from this machine's own server programs, in about a second."""

import io
import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from .daemon import docker

# As in the official images: arguments that begin with "-" go to the server program.
ENTRYPOINT = """#!/bin/sh
if [ "${1#-}" != "$1" ]; then set -- %s "$@"; fi
exec "$@"
"""
# A server that refuses its configuration, which is what dies at start in practice.
DIES = """#!/bin/sh
exec redis-server --no-such-directive 1 "$@"
"""
# A server that never opens its port, and does not listen to SIGTERM either.
NEVER_READY = """#!/bin/sh
trap '' TERM
echo "still starting"
while :; do sleep 0.2; done
"""
PASSWD = """root:x:0:0::/:/bin/sh
redis:x:999:999::/data:/bin/sh
memcache:x:11211:11211::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh
"""


@dataclass(frozen=True)
class LocalImages:
    """References (name:tag) of the images, and the version that each real server has."""

    redis: str
    memcached: str
    dies: str
    never_ready: str
    redis_version: str
    memcached_version: str


def missing() -> str | None:
    """Why the images cannot be built here, or None."""
    absent = [program for program in ("redis-server", "memcached") if not shutil.which(program)]
    return f"not installed: {', '.join(absent)} (apt-get install them)" if absent else None


def build(host: str) -> LocalImages:
    """Import the images into the daemon at `host`."""
    redis, memcached = _version("redis-server"), _version("memcached")
    names = {
        "redis": f"kvstudy-test/redis:{redis}",
        "memcached": f"kvstudy-test/memcached:{memcached}",
        "dies": "kvstudy-test/dies:1.0.0",
        "never_ready": "kvstudy-test/never-ready:1.0.0",
    }
    server = ["VOLUME /data", "WORKDIR /data", 'CMD ["redis-server"]']
    _import(host, names["redis"], "redis-server", ENTRYPOINT % "redis-server", server)
    other = ["USER memcache", 'CMD ["memcached"]']
    _import(host, names["memcached"], "memcached", ENTRYPOINT % "memcached", other)
    _import(host, names["dies"], "redis-server", DIES, [])
    _import(host, names["never_ready"], "sleep", NEVER_READY, [])
    return LocalImages(**names, redis_version=redis, memcached_version=memcached)


def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"\d+\.\d+\.\d+", said).group()


def _import(host: str, name: str, program: str, entrypoint: str, changes: list[str]) -> None:
    settings = [
        "ENV PATH=/usr/local/bin:/usr/bin:/bin",
        'ENTRYPOINT ["docker-entrypoint.sh"]',
        *changes,
    ]
    options = [word for setting in settings for word in ("--change", setting)]
    docker(host, "import", *options, "-", name, input=_root_filesystem(program, entrypoint))


def _root_filesystem(program: str, entrypoint: str) -> bytes:
    """A tar of the program, the libraries that it is linked with, a shell and the entry point."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
        shell = os.path.realpath("/bin/sh")
        files = {shutil.which(program): f"usr/bin/{program}", shell: "bin/sh"}
        libraries = {path: path.lstrip("/") for source in files for path in _libraries(source)}
        for source, target in {**files, **libraries}.items():
            tar.add(os.path.realpath(source), target)
        _add_text(tar, "usr/local/bin/docker-entrypoint.sh", entrypoint, 0o755)
        _add_text(tar, "etc/passwd", PASSWD, 0o644)
        for directory, mode in (("tmp", 0o1777), ("data", 0o777)):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
    return buffer.getvalue()


def _libraries(program: str | Path) -> list[str]:
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", linked)


def _add_text(tar: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), mode
    tar.addfile(entry, io.BytesIO(text.encode()))
