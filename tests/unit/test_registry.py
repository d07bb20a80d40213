"""Where locks and records of servers are kept, and what is said where they cannot be."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import process

from tests.project import CELL, STUDY, kvstudy


@pytest.fixture
def home(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user who says nothing of such folders."""
    monkeypatch.delenv("KVSTUDY_STATE")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(project / "home"))
    return project / "home"


def test_they_are_in_a_folder_that_nobody_else_can_take(home, monkeypatch, tmp_path):
    machine = Path("kvstudy", platform.node())
    assert process.state_directory() == home / ".local/state" / machine
    assert process.state_directory().stat().st_mode & 0o077 == 0
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert process.state_directory() == tmp_path / "state" / machine
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "mine"))
    assert process.state_directory() == tmp_path / "mine" / platform.node()


@pytest.mark.parametrize("name", ["KVSTUDY_STATE", "HOME"])
def test_what_is_no_folder_is_named(home, monkeypatch, tmp_path, name):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv(name, str(file))
    with pytest.raises(KvstudyError) as error:
        process.state_directory()
    assert str(error.value).startswith(f"{file}")
    assert "Not a directory" in str(error.value)
    assert "set KVSTUDY_STATE to a folder of your own" in str(error.value)


def test_the_folder_of_another_user_is_not_taken(home, monkeypatch, tmp_path):
    theirs = process.state_directory()
    monkeypatch.setattr(process.os, "getuid", lambda: theirs.stat().st_uid + 1)
    with pytest.raises(KvstudyError, match="belongs to another user; set KVSTUDY_STATE"):
        process.state_directory()


@pytest.mark.parametrize("port", ["-5", "65536"])
def test_a_port_that_does_not_exist(port):
    done = kvstudy("measure", CELL, "--study", STUDY, "--port", port)
    assert done.exit_code == 2
    assert f"Invalid value for '--port': {port} is not in the range 0<=x<=65535" in done.output


def test_what_works_in_the_data_of_a_killed_cell_is_ended(project, tmp_path):
    """As a Redis in the background, which writes its title over its environment."""
    data = tmp_path / "data"
    data.mkdir()
    with (
        subprocess.Popen(["sleep", "60"], cwd=data, env={}, start_new_session=True) as left,
        subprocess.Popen(["sleep", "60"], cwd=tmp_path, env={}) as other,
    ):
        for each in (left, other):
            # As it was when its parent had ended: the id is that of nobody now.
            entry = {"kind": "process", "what": "pretend", "pid": 2**22, "created": 0.0}
            process.record(f"pretend-{each.pid}", entry | {"mark": str(data)})
        assert process.sweep() == [f"pretend (process {left.pid})"]
        assert not psutil.pid_exists(left.pid)
        assert other.poll() is None
        other.kill()
