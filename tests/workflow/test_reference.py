"""The reference run: what this code makes of its raw logs are the numbers that were packed."""

from pathlib import Path

import pytest

from tests.project import kvstudy

ROOT = Path(__file__).parents[2]


def test_its_numbers_follow_from_its_raw_logs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    checked = kvstudy("verify", "reference/jedlicka2024.zip")
    assert checked.exit_code == 0, checked.output
    assert "made anew from the raw logs, and equal" in checked.output
