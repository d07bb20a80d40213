"""The reference runs: what this code makes of their raw logs are the numbers that were packed."""

import json
import re
import zipfile
from html import unescape
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.share.archive import rebuild

from tests.project import kvstudy

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("run", sorted(path.stem for path in ROOT.glob("reference/*.zip")))
def test_its_numbers_follow_from_its_raw_logs(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """In any folder: the workflow is that of the clone which the command is of."""
    monkeypatch.chdir(tmp_path)
    checked = kvstudy("verify", ROOT / f"reference/{run}.zip")
    assert checked.exit_code == 0, checked.output
    assert "made again from the raw logs, and equal" in checked.output


@pytest.mark.parametrize("run", sorted(path.stem for path in ROOT.glob("reference/*.zip")))
def test_each_number_and_mark_of_its_page_has_its_log_lines(run: str):
    page = (ROOT / f"reference/{run}.html").read_text(encoding="utf-8")
    numbers = set(map(unescape, re.findall(r'data-runs="([^"]*)"', page)))
    with zipfile.ZipFile(ROOT / f"reference/{run}.zip") as archive:
        charts = [name for name in archive.namelist() if name.endswith(".vl.json")]
        for name in charts:
            marks = json.loads(archive.read(name))["data"]["values"]
            numbers |= {mark["made_of"] for mark in marks if mark.get("made_of")}
        keys = {key for text in numbers for part in text.split("|")[1:] for key in part.split()}
        content = json.loads(archive.read(f"results/{run}/log_lines.json"))
        lines: dict[str, list[str]] = {}
        assert keys
        for key in keys:
            assert content["values"][key]
            for place, _value, _unit, shown in content["values"][key]:
                assert shown, key
                for name, number, text in shown:
                    file = f"{content['cells'][place]['folder']}/{name}"
                    if file not in lines:
                        lines[file] = archive.read(file).decode().splitlines()
                    assert lines[file][number - 1] == text


@pytest.mark.parametrize("command", [["verify"], ["rebuild", "--own-code", "--output", "new"]])
def test_without_any_clone(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rebuild, "CLONE", tmp_path)
    with pytest.raises(KvstudyError, match=r"Snakefile: no such file; run .* in a clone"):
        kvstudy(*command, ROOT / "reference/jedlicka2024.zip")
    assert not Path("new").exists()
