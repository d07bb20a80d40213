"""A full disk is an error of the machine, not of the program."""

from __future__ import annotations

import sys

import pytest
from kvstudy.cli import main
from kvstudy.study.load import STUDIES


def test_any_command_says_that_the_disk_is_full(monkeypatch, capsys):
    study = str(STUDIES / "haverinen2018" / "study.yaml")
    given = ["kvstudy", "commands", "--study", study, "--raw", "nothing", "--output", "/dev/full"]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit, match="1"):
        main()
    assert capsys.readouterr().err.startswith("kvstudy: the disk is full; free some space")
