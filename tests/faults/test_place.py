"""Faults of the place: no rights, no room, no port, folders of others, odd names."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kvstudy.errors import EnvironmentFault, InputError, KvstudyError
from kvstudy.stores.process import state_directory
from kvstudy.stores.server import free_port

from tests.faults.cells import CELL, OTHER, RAW, check_next, check_numbers
from tests.faults.scene import MARK, Answer, Scene, says

ROOT = Path(__file__).parents[2]
# Root may write anywhere, unless these rights are taken away from it.
RIGHTS = "-dac_override,-dac_read_search,-fowner"
NOT_ROOT = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}", "--"]
# Nobody of this machine.
STRANGER = 54321
NODE = platform.node()

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


def alone(scene: Scene, *options: str, cell: str = CELL, size: int = 0) -> Answer:
    """Measure the cell in a process of its own, without root's rights over files.

    ``size``: no file may grow beyond so many bytes.
    """

    def limit() -> None:
        if size:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    command = [sys.executable, "-m", "kvstudy", "measure", cell, "--study", str(scene.study)]
    done = subprocess.run(
        [*(NOT_ROOT if os.getuid() == 0 else []), *command, "--provider", "native", *options],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        timeout=100,
    )
    return Answer(done.returncode, done.stdout + done.stderr)


def check_refused(
    scene: Scene, answer: Answer, message: str, kind: type[KvstudyError] = EnvironmentFault
) -> None:
    says(answer, message)
    assert answer.code == kind.status, answer.text
    assert len(answer.text) < 3000
    assert not (RAW / CELL / "SHA256SUMS").exists()
    assert scene.left() == []


@contextlib.contextmanager
def without_rights(path: Path, mode: int, owner: int | None = None) -> Iterator[None]:
    before = path.stat()
    path.chmod(mode)
    if owner is not None:
        os.chown(path, owner, owner)
    try:
        yield
    finally:
        os.chown(path, before.st_uid, before.st_gid)
        path.chmod(before.st_mode & 0o7777)


# --- rights

FOLDERS = [Path("results/small"), Path("results/small/raw/pretend/a/r1000_o2000_t2")]


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
@pytest.mark.parametrize("owner", [None, pytest.param(STRANGER, marks=AS_ROOT)])
def test_a_folder_that_cannot_be_written(small, folder, owner):
    with without_rights(folder, 0o555, owner):
        answer = alone(small)
        if answer.code == 0:
            # Nothing is made in a folder whose own folders are there.
            return check_numbers(small, CELL, OTHER)
        check_refused(small, answer, f"{folder}|results/small")
    # It is seen before an hour is spent on measuring.
    assert not list(Path("results/small").glob("failed/**/run.out"))
    check_next(small)


@pytest.mark.parametrize("folder", [*FOLDERS, Path("results"), Path("results/small/raw")], ids=str)
def test_a_folder_that_cannot_be_read(small, folder):
    with without_rights(folder, 0o000):
        answer = alone(small)
        check_refused(small, answer, "results/small")
    check_next(small)


@pytest.mark.parametrize(
    "path",
    [
        *("config/studies/small/study.yaml", "workloads/a", "envs/stores/pretend/store.yaml"),
        *("envs/stores/pretend/verbs.py", "workflow/bindings/target/lib/kvstudy-bindings.jar"),
    ],
)
def test_a_file_that_cannot_be_read(small, path):
    with without_rights(Path(path), 0o000):
        answer = alone(small)
        # Python imports a store's program as it imports the project's other modules.
        kind = InputError if path.endswith("verbs.py") else EnvironmentFault
        check_refused(small, answer, path, kind)
    check_next(small)


@pytest.mark.parametrize("name", ["results", "results/small", "results/small/raw"])
def test_a_file_where_a_folder_belongs(scene, name):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("")
    answer = scene.measure(CELL)
    check_refused(scene, answer, name)
    Path(name).unlink()
    answer = scene.measure(CELL)
    assert answer.code == 0, answer.text
    check_numbers(scene, CELL)


# --- the user's folder of locks and records


@pytest.mark.parametrize(
    "squat",
    [
        lambda path: path.write_text(""),
        lambda path: path.symlink_to("/nowhere/at/all"),
        lambda path: ((path / NODE).mkdir(parents=True), (path / NODE / "servers").touch()),
        lambda path: (path / NODE / "measure.lock").mkdir(parents=True),
        lambda path: path.mkdir(mode=0o500),
    ],
    ids=["a file", "a link to nothing", "a file in it", "a folder as lock", "not writable"],
)
def test_a_state_folder(small, squat, tmp_path):
    state = tmp_path / "mine"
    squat(state)
    small.monkeypatch.setenv("KVSTUDY_STATE", str(state))
    check_refused(small, alone(small), "KVSTUDY_STATE|mine")
    state.chmod(0o700) if state.is_dir() else state.unlink()
    shutil.rmtree(state, ignore_errors=True)
    check_next(small)


@AS_ROOT
@pytest.mark.parametrize("mode", [0o755, 0o777, 0o700])
def test_a_state_folder_of_somebody_else(small, tmp_path, mode):
    state = tmp_path / "mine"
    state.mkdir()
    small.monkeypatch.setenv("KVSTUDY_STATE", str(state))
    with without_rights(state, mode, STRANGER):
        check_refused(small, alone(small), "another user|KVSTUDY_STATE|mine")
    check_next(small)


@AS_ROOT
@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nobody_blocks_another_user(small, tmp_path, kind):
    """What is at the default place, and belongs to somebody else, is not taken."""
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o1777)
    squatted = temporary / f"kvstudy-{os.getuid()}"
    if kind == "folder":
        squatted.mkdir()
    elif kind == "file":
        squatted.write_text("")
    else:
        squatted.symlink_to(tmp_path / "elsewhere")
    os.chown(squatted, STRANGER, STRANGER, follow_symlinks=False)
    small.monkeypatch.delenv("KVSTUDY_STATE")
    small.monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    small.monkeypatch.setenv("TMPDIR", str(temporary))
    small.monkeypatch.setenv("HOME", str(tmp_path / "home"))
    answer = alone(small)
    assert answer.code == 0, answer.text
    check_numbers(small, CELL, OTHER)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"kind": "process"}', b"7"])
def test_a_record_of_a_server_that_cannot_be_read(small, content):
    state = state_directory() / "servers"
    (state / "pretend-1.json").write_bytes(content)
    answer = small.measure(CELL)
    assert answer.code == 0, answer.text
    check_numbers(small, CELL, OTHER)


def test_a_record_of_a_process_that_is_another_now(small):
    """Its number was given away again: it is left alone."""
    state = state_directory() / "servers"
    other = subprocess.Popen(["sleep", "100"], cwd="/", env={})
    try:
        entry = {"kind": "process", "what": "pretend", "pid": other.pid, "created": 1.0}
        (state / "pretend-1.json").write_text(json.dumps(entry))
        answer = small.measure(CELL)
        assert answer.code == 0, answer.text
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
    check_numbers(small, CELL, OTHER)


# --- room


@pytest.fixture
def disk(small):
    """A file system of 2 MB as the run's folder; the measured cell is on it."""
    kept = Path("kept")
    shutil.move("results", kept)
    Path("results").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", "results"]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        shutil.rmtree("results")
        shutil.move(kept, "results")
        pytest.skip("cannot mount a small file system")
    try:
        shutil.copytree(kept, "results", dirs_exist_ok=True)
        yield Path("results")
    finally:
        shutil.copytree("results", kept, dirs_exist_ok=True)
        subprocess.run(["umount", "results"], check=True)
        Path("results").rmdir()
        shutil.move(kept, "results")


@pytest.mark.parametrize("free", [0, 4, 12, 24, 48])
def test_a_full_disk(small, disk, free):
    """So many kB are free when the cell starts; some are enough."""
    filler = disk / "filler"
    usage = shutil.disk_usage(disk)
    filler.write_bytes(bytes(max(0, usage.free - free * 1024)))
    answer = small.measure(CELL)
    if answer.code:
        check_refused(
            small, answer, r"disk is full \(results/small: \d+ kB are free, .* needs 1024 kB"
        )
    filler.unlink()
    if answer.code:
        check_next(small)
    else:
        check_numbers(small, CELL, OTHER)


@pytest.mark.parametrize("phase", ["load", "run"])
def test_a_disk_that_the_client_fills(small, disk, phase):
    """The client is told so first, and ends; that is the reason, not its exit status."""
    steps = [["write", "noise", "x" * 8], ["fill", str(disk / "filler")], ["exit", 1]]
    small.monkeypatch.setenv("PRETEND_FAULT", json.dumps({"phase": phase, "before": steps}))
    answer = small.measure(CELL)
    small.monkeypatch.delenv("PRETEND_FAULT")
    check_refused(small, answer, "(?i)disk is full")
    (disk / "filler").unlink()
    check_next(small)


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_files_that_may_not_grow(small, size):
    answer = alone(small, size=size)
    check_refused(small, answer, r"(?i)file|space|large|limit|SIGXFSZ")
    check_next(small)


# --- ports


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_taken_port(small, taken):
    check_refused(small, small.measure(CELL, "--port", taken), f"port {taken} is taken by")
    check_next(small)


def test_a_port_that_is_taken_while_the_server_starts(small, taken):
    """The store's own message reaches the user."""
    with small.monkeypatch.context() as patch:
        patch.setattr("kvstudy.measure.setting.free_port", lambda *given: taken)
        answer = small.measure(CELL)
    check_refused(small, answer, "exit status 1 before it was ready|did not get ready")
    check_next(small)


def test_a_port_of_the_system(small):
    """Without the right to take it."""
    answer = alone(small, "--port", "1")
    if answer.code:
        check_refused(small, answer, "port 1|exit status 1")
    check_next(small)


def test_an_external_server_that_is_not_there(small):
    address = f"127.0.0.1:{free_port()}"
    options = ("--provider", "external", "--address", address, "--mixed", "true")
    answer = small.kvstudy("measure", CELL, "--study", small.study, *options)
    check_refused(small, answer, "(?i)refused|not reach|no .*answer|ready")
    check_next(small)


# --- names


NAMES = ["with space", "näme", "it's", "a&b", "a;b", "(x)", "#1", "%s", "{0}", "-dash", "a*b"]


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_of_the_clone(scene, name):
    """The cell is measured there, or the set-up refuses the folder by name."""
    clone = scene.folder / name
    clone.mkdir()
    for each in ("config", "envs", "workloads", "workflow"):
        shutil.move(scene.folder / each, clone / each)
    scene.monkeypatch.chdir(clone)
    scene.monkeypatch.setenv(MARK, str(scene.folder))
    answer = scene.measure(CELL)
    assert answer.code == 0, answer.text
    check_numbers(scene, CELL)


@pytest.mark.parametrize("name", ['a"b', "a$b", "a`b", "a\\b"])
def test_a_name_of_the_clone_that_set_up_refuses(tmp_path, name):
    """Before it installs anything."""
    clone = tmp_path / name
    shutil.copytree(ROOT / "envs", clone / "envs")
    done = subprocess.run(
        [str(clone / "envs/setup"), "study"], cwd=clone, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert name in said
    assert "folder" in said
    assert not (clone / ".venv").exists()
