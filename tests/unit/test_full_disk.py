"""What a disk or its rights forbid is an error of the machine, not of the program."""

from __future__ import annotations

import os
import sys
from errno import EACCES, EIO, EISDIR, EMFILE, ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, EROFS
from pathlib import Path

import pytest
from kvstudy.cli import main
from kvstudy.study.load import STUDIES


def said(monkeypatch, capsys, output: str) -> str:
    monkeypatch.setattr("kvstudy.study.run_names.RESULTS", STUDIES)
    monkeypatch.setattr(sys, "argv", ["kvstudy", "commands", "haverinen2018", "--output", output])
    with pytest.raises(SystemExit, match="3"):
        main()
    return capsys.readouterr().err


def test_any_command_says_that_the_disk_is_full(monkeypatch, capsys):
    assert said(monkeypatch, capsys, "/dev/full").startswith(
        "kvstudy: the disk is full; free some space"
    )


def test_any_command_says_what_is_in_its_way(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").touch()
    message = said(monkeypatch, capsys, f"{tmp_path}/file/commands.txt")
    assert message.startswith(f"kvstudy: {tmp_path}/file")
    assert "a file is where a folder belongs; move it away, and run it again" in message


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (EACCES, "give yourself the right"),
        (EROFS, "work in a copy elsewhere"),
        (ENOSPC, "free some space"),
        (ENOTDIR, "move it away"),
        (EISDIR, "move it away"),
        (ENAMETOOLONG, "a shorter one"),
        (EMFILE, "ulimit -n"),
        (ENOENT, "No such file or directory; mend that, and run it again"),
        (EIO, "Input/output error; mend that, and run it again"),
    ],
)
def test_no_error_of_the_system_is_a_traceback(monkeypatch, capsys, number, remedy):
    def fail(path, *_arguments, **_options):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "mkdir", fail)
    monkeypatch.setattr(Path, "write_text", fail)
    message = said(monkeypatch, capsys, "somewhere/commands.txt")
    assert message.startswith("kvstudy: somewhere")
    assert remedy in message
    assert len(message.splitlines()) == 1
