"""Images built from this machine's own server programs, in a second or two each."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from kvstudy.stores.definition import load_store
from kvstudy.stores.native import find_program

from .daemon import docker

ROOT = Path(__file__).parents[2]
STORES = ROOT / "envs" / "stores"

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
# As the official image: without a word on passwords it refuses to make its tables, and it makes
# them before the server starts. The statements are those of mariadb-install-db.
MARIADB = """#!/bin/sh
set -e
if [ "${1#-}" != "$1" ]; then set -- mariadbd "$@"; fi
if [ ! -d /var/lib/mysql/mysql ]; then
    if [ -z "$MARIADB_ALLOW_EMPTY_ROOT_PASSWORD" ]; then
        echo "[ERROR] [Entrypoint]: Database is uninitialized and password option is not specified"
        exit 1
    fi
    {
        # One statement a line: that is all that a server in this mode reads.
        echo "CREATE DATABASE mysql;"
        echo "USE mysql;"
        echo "SET @auth_root_socket=NULL;"
        cd /usr/share/mysql
        cat mysql_system_tables.sql mysql_performance_tables.sql mysql_system_tables_data.sql
    } | mariadbd --bootstrap --enforce-storage-engine= >/dev/null
fi
exec "$@"
"""
PASSWD = """root:x:0:0::/:/bin/sh
mysql:x:998:998::/var/lib/mysql:/bin/sh
mongodb:x:997:997::/data/db:/bin/sh
redis:x:999:999::/data:/bin/sh
memcache:x:11211:11211::/:/bin/sh
nobody:x:65534:65534::/:/bin/sh
"""


class LocalImages:
    """References (name:tag) of images in the daemon at ``host``, each built when it is first asked
    for, and the version that each real server has.
    """

    def __init__(self, host: str) -> None:
        self._host = host

    @cached_property
    def redis(self) -> str:
        server = ["VOLUME /data", "WORKDIR /data", 'CMD ["redis-server"]']
        return self._real("redis", ENTRYPOINT % "redis-server", server)

    @cached_property
    def memcached(self) -> str:
        server = ["USER memcache", 'CMD ["memcached"]']
        return self._real("memcached", ENTRYPOINT % "memcached", server)

    @cached_property
    def mariadb(self) -> str:
        server = ["VOLUME /var/lib/mysql", "USER mysql", 'CMD ["mariadbd"]']
        folders = ("var/lib/mysql", "run/mysqld")
        return self._real("mariadb", MARIADB, server, ["cat"], ["/usr/share/mysql"], folders)

    @cached_property
    def mongodb(self) -> str:
        server = ["VOLUME /data/db", "USER mongodb", 'CMD ["mongod"]']
        return self._real("mongodb", ENTRYPOINT % "mongod", server, folders=("data/db",))

    @cached_property
    def dies(self) -> str:
        tree = _root_filesystem([_program("redis")], DIES)
        return self._imported("kvstudy-test/dies:1.0.0", tree, [])

    @cached_property
    def never_ready(self) -> str:
        tree = _root_filesystem([shutil.which("sleep")], NEVER_READY)
        return self._imported("kvstudy-test/never-ready:1.0.0", tree, [])

    @property
    def redis_version(self) -> str:
        return version("redis")

    def _real(
        self,
        store: str,
        entrypoint: str,
        changes: list[str],
        tools: Iterable[str] = (),
        shared: Iterable[str] = (),
        folders: Iterable[str] = (),
    ) -> str:
        """The image of a real server, with the ``tools`` that its entry point calls."""
        programs = [_program(store), *map(shutil.which, tools)]
        tree = _root_filesystem(programs, entrypoint, shared, folders)
        return self._imported(f"kvstudy-test/{store}:{version(store)}", tree, changes)

    def _imported(self, name: str, tree: bytes, changes: list[str]) -> str:
        settings = [
            "ENV PATH=/usr/local/bin:/usr/bin:/bin",
            'ENTRYPOINT ["docker-entrypoint.sh"]',
            *changes,
        ]
        options = [word for setting in settings for word in ("--change", setting)]
        docker(self._host, "import", *options, "-", name, input=tree)
        return name


def missing(store: str) -> str | None:
    """Why the store's image cannot be built here, or None."""
    definition = load_store(STORES / store)
    if _program(store) is None:
        return f"no program {definition.native.program}: {definition.native.remedy}"
    return None


def _program(store: str) -> str | None:
    # Programs below servers/ are looked for from here; a test may work in a folder of its own.
    with contextlib.chdir(ROOT):
        return find_program(load_store(STORES / store))


def version(store: str) -> str:
    """The version that the store's program shows."""
    output = subprocess.run([_program(store), "--version"], check=True, capture_output=True)
    return re.search(r"\d+\.\d+\.\d+", output.stdout.decode()).group()


def _root_filesystem(
    programs: list[str],
    entrypoint: str,
    shared: Iterable[str] = (),
    folders: Iterable[str] = (),
) -> bytes:
    """A tar of the programs, the libraries that they are linked with, a shell and the entry point.

    ``shared`` are folders of this machine to copy, ``folders`` are new ones that anybody may use.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as tar:
        files = {program: f"usr/bin/{Path(program).name}" for program in programs}
        files[os.path.realpath("/bin/sh")] = "bin/sh"
        libraries = {path: path.lstrip("/") for source in files for path in _libraries(source)}
        for source, target in {**files, **libraries}.items():
            tar.add(os.path.realpath(source), target)
        for folder in shared:
            tar.add(folder, folder.lstrip("/"))
        _add_text(tar, "usr/local/bin/docker-entrypoint.sh", entrypoint, 0o755)
        _add_text(tar, "etc/passwd", PASSWD, 0o644)
        for folder in ("tmp", "data", *folders):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777
            tar.addfile(entry)
    return buffer.getvalue()


def _libraries(program: str | Path) -> list[str]:
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", linked)


def _add_text(tar: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), mode
    tar.addfile(entry, io.BytesIO(text.encode()))
