"""``kvstudy servers`` with packages that are made here, from a server of files on loopback."""

from __future__ import annotations

import fcntl
import functools
import http.server
import json
import os
import shutil
import subprocess
import tarfile
import threading
from pathlib import Path
from typing import ClassVar

import pytest
import yaml
from click.testing import CliRunner
from kvstudy.commands.machine import servers as command
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.process import state_directory
from kvstudy.study.raw import file_digest

from tests.project import PRETEND

RELEASE = "usr/lib/odd"
PROGRAM = Path("servers/odd/bin/oddd")


def deb(folder: Path, program: bytes = b"#!/bin/sh\necho odd\n") -> Path:
    """A package with the program in a release, and a starter of the same name next to it."""
    tree = folder / "tree"
    for path in (f"{RELEASE}/bin/oddd", "usr/sbin/oddd", "etc/odd/odd.conf"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(program)
        (tree / path).chmod(0o755)
    # As long as a download that is interrupted needs.
    (tree / RELEASE / "data").write_bytes(os.urandom(200_000))
    (tree / "DEBIAN").mkdir(exist_ok=True)
    (tree / "DEBIAN/control").write_text(
        "Package: odd\nVersion: 1.2\nArchitecture: all\nMaintainer: nobody\nDescription: odd\n"
    )
    path = folder / "odd_1.2_all.deb"
    subprocess.run(["dpkg-deb", "--build", tree, path], check=True, capture_output=True)
    return path


class Files(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, in parts if asked; the first answers end after ``short`` bytes."""

    short: ClassVar[list[int]] = []
    requested_ranges: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        data = Path(self.directory, self.path[1:]).read_bytes()
        requested = self.headers.get("Range")
        self.requested_ranges.append(requested)
        start = int(requested.removeprefix("bytes=").rstrip("-")) if requested else 0
        self.send_response(206 if requested else 200)
        if requested:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        end = start + self.short.pop(0) if self.short else len(data)
        self.wfile.write(data[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def clone(project: Path, monkeypatch) -> Path:
    """The project, whose set-up writes down for which stores it installs packages."""
    monkeypatch.chdir(project)
    setup = Path("envs/setup")
    setup.write_text('#!/bin/sh\necho "$@" >>packages\n[ ! -e no-packages ]\n')
    setup.chmod(0o755)
    return project


@pytest.fixture
def offered(tmp_path: Path, clone: Path):
    """A folder of packages on loopback, and a store that has one of them; what sets it."""
    folder = tmp_path / "offered"
    folder.mkdir()
    Files.short, Files.requested_ranges = [], []
    handler = functools.partial(Files, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def offer(path: Path, **package: str) -> None:
        store = clone / "envs/stores/odd"
        shutil.copytree(PRETEND / "store", store, dirs_exist_ok=True)
        data = yaml.safe_load((store / "store.yaml").read_text())
        data["title"] = "Odd"
        data["native"] |= {"program": "oddd", "command": ["{program}"]}
        data["native"]["release"] = RELEASE
        known = {
            "version": "1.2",
            "machine": os.uname().machine,
            "glibc": "2.1",
            "url": f"http://127.0.0.1:{server.server_port}/{path.name}",
            "sha256": file_digest(path),
            "license": "Apache-2.0",
        }
        data["native"]["packages"] = [known | package]
        (store / "store.yaml").write_text(yaml.safe_dump(data))

    yield folder, offer
    server.shutdown()
    server.server_close()


def call(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    return done.exit_code, done.output + str(done.exception or "")


def test_a_package_of_the_makers_is_fetched_checked_and_unpacked(offered):
    folder, offer = offered
    inner = deb(folder)
    # As Aerospike packs: an archive with a folder of packages.
    archive = folder / "odd_1.2.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(inner, "odd_1.2/odd_1.2_all.deb")
    offer(archive)
    status, said = call("get", "odd")
    assert (status, "Odd is ready" in said) == (0, True), said
    # The release's own program, not the starter that needs an installed package.
    assert subprocess.run([PROGRAM], capture_output=True, text=True).stdout == "odd\n"
    record = {"file": archive.name, "sha256": file_digest(archive), "known": True}
    assert json.loads(Path("servers/odd/package.json").read_text()) == record
    server = NativeServer(load_store(Path("envs/stores/odd")), 1, Path("data"), Path("log"))
    assert server.describe()["package"] == record
    assert f"odd: {PROGRAM.absolute()}" in call("list")[1]
    # Once more over what is there.
    assert call("get", "odd")[0] == 0
    assert sorted(path.name for path in Path("servers").iterdir()) == [".packages", "odd"]


def script(store: str, text: str) -> None:
    """Give the store an install script."""
    path = Path("envs/stores", store, "install")
    path.write_text(f"#!/bin/sh\necho {store} >>installed\n{text}\n")
    path.chmod(0o755)


def installed() -> list[str]:
    path = Path("installed")
    return path.read_text().split() if path.exists() else []


PETROV = """\
name: petrov2014
title: Small
question: Which?
stores: [mysql, odd, redis]
workloads: [a]
parameters: {records: 10, operations: 10, threads: 1}
repetitions: 1
"""


def test_a_study_gets_its_servers_and_no_others(offered, monkeypatch, tmp_path):
    folder, offer = offered
    offer(deb(folder))
    for store in ("mysql", "cassandra", "mongodb", "postgresql", "valkey", "dynamodb"):
        script(store, "")
    study = Path("config/studies/petrov2014/study.yaml")
    study.parent.mkdir(parents=True, exist_ok=True)
    study.write_text(PETROV)
    for program in ("redis-server", "mysqld"):
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    status, said = call("get", "--study", "petrov2014")
    assert (status, installed()) == (0, ["mysql"]), said
    assert Path("packages").read_text().split() == ["mysql", "odd", "redis"]
    # A package of its makers is fetched when it is named only.
    assert "left out: Odd: no program oddd on this machine" in said
    assert Files.requested_ranges == []


@pytest.mark.parametrize(
    ("ending", "names", "right"),
    [
        ("exit 69", [], (0, "left out: Cassandra: not installed, the lines above say why")),
        ("exit 69", ["cassandra"], (1, "Cassandra: not installed, the lines above say why")),
        # What only failed, such as a download, is no success.
        ("exit 1", [], (1, "Cassandra: not installed, the lines above say why")),
        ("exit 0", ["cassandra"], (1, "Cassandra: no program jdk/bin/java on this machine")),
    ],
)
def test_what_a_system_cannot_have_is_left_out_with_its_reason(clone, ending, names, right):
    for path in sorted(Path("envs/stores").iterdir()):
        if path.name not in ("cassandra", "rocksdb"):
            shutil.rmtree(path)
    script("cassandra", ending)
    status, said = call("get", *names)
    assert (status, right[1] in said) == (right[0], True), said


def test_packages_that_cannot_be_had_keep_no_other_server_away(offered):
    folder, offer = offered
    offer(deb(folder))
    Path("no-packages").touch()
    status, said = call("get", "odd")
    assert status == 1
    assert "packages of the distribution: not installed, the lines above say why" in said
    assert PROGRAM.is_file()


@pytest.mark.parametrize("arguments", [["get", "odd"], ["add", "odd_1.2_all.deb"]])
def test_servers_are_not_installed_beside_a_measurement(offered, capfd, arguments):
    folder, offer = offered
    offer(deb(folder))
    shutil.copy(folder / "odd_1.2_all.deb", ".")
    lock = Path(".snakemake/kvstudy.lock")
    lock.parent.mkdir()
    with lock.open("w") as taken:
        taken.write("process 7, since 9:00: snakemake\n")
        taken.flush()
        fcntl.flock(taken, fcntl.LOCK_EX)
        status, said = call(*arguments)
    assert (status, PROGRAM.exists()) == (1, False)
    assert "another process works in this clone (process 7, since 9:00: snakemake)" in said
    # A cell of another clone is waited for.
    with (state_directory() / "measure.lock").open("w") as taken:
        taken.write("process 7 in /elsewhere is measuring")
        taken.flush()
        fcntl.flock(taken, fcntl.LOCK_EX)
        end = threading.Timer(1, taken.close)
        end.start()
        status, said = call(*arguments)
    assert (status, PROGRAM.exists()) == (0, True)
    assert "waiting: process 7 in /elsewhere is measuring" in said + capfd.readouterr().err


def test_an_interrupted_download_goes_on(offered):
    folder, offer = offered
    offer(deb(folder))
    Files.short = [50_000]
    status, said = call("get", "odd")
    assert status == 1
    assert "the next call goes on" in said
    assert "kvstudy servers add odd_1.2_all.deb" in said
    assert not PROGRAM.exists()
    assert call("get", "odd")[0] == 0
    assert Files.requested_ranges[-1] not in (None, "bytes=0-")
    assert PROGRAM.is_file()


def test_a_wrong_file_is_refused_and_kept_aside(offered):
    folder, offer = offered
    offer(deb(folder), sha256="0" * 64)
    status, said = call("get", "odd")
    assert status == 1
    assert "odd_1.2_all.deb.refused and not used" in said
    assert not PROGRAM.exists()


def test_a_file_of_ones_own_needs_a_known_checksum_or_consent(offered, tmp_path):
    folder, offer = offered
    offer(deb(folder))
    assert call("add", folder / "odd_1.2_all.deb")[0] == 0
    other = deb(tmp_path, b"#!/bin/sh\necho other\n")
    status, said = call("add", other)
    assert (status, "its checksum is not known" in said) == (1, True)
    assert subprocess.run([PROGRAM], capture_output=True, text=True).stdout == "odd\n"
    assert call("add", "--accept-unknown", other)[0] == 0
    assert subprocess.run([PROGRAM], capture_output=True, text=True).stdout == "other\n"
    assert json.loads(Path("servers/odd/package.json").read_text())["known"] is False


def test_a_release_in_a_folder_is_linked(offered, tmp_path):
    folder, offer = offered
    offer(deb(folder))
    assert call("add", folder / "tree" / RELEASE)[0] == 0
    assert Path("servers/odd").resolve() == folder / "tree" / RELEASE
    assert PROGRAM.is_file()
    # A folder that somebody put there is nobody's to remove.
    Path("servers/odd").unlink()
    Path("servers/odd").mkdir()
    status, said = call("add", folder / "odd_1.2_all.deb")
    assert (status, "move it away" in said) == (1, True)


def test_a_program_for_another_machine_is_refused(offered):
    folder, offer = offered
    program = Path("/bin/ls").read_bytes().replace(b"libc.so.6\0", b"libc.so.7\0")
    offer(deb(folder, program))
    status, said = call("get", "odd")
    assert status == 1
    assert "which lacks libc.so.7" in said
    assert not Path("servers/odd").exists()
    offer(folder / "odd_1.2_all.deb", glibc="99.1")
    assert "no known package is made for this machine" in call("get", "odd")[1]


@pytest.mark.parametrize("name", ["broken.deb", "broken.tgz"])
def test_what_is_no_package_is_named(offered, tmp_path, name):
    folder, offer = offered
    offer(deb(folder))
    (tmp_path / name).write_bytes(b"no package")
    status, said = call("add", "--accept-unknown", tmp_path / name)
    assert (status, f"{name}: cannot be unpacked" in said) == (1, True)
    with tarfile.open(tmp_path / "empty.tgz", "w:gz"):
        pass
    status, said = call("add", "--accept-unknown", tmp_path / "empty.tgz")
    assert (status, "oddd (Odd)" in said) == (1, True)
    assert "no such file" in call("add", tmp_path / "nothing.deb")[1]
