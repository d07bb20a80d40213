"""Configuration files that are filled in for one server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import filled_in, shell_line

VALUES = {"host": "127.0.0.1", "port": 7, "ports": {"other": 8}, "data": "/d"}


@pytest.fixture
def template(pretend_study):
    """A file of the pretended store's folder, to write into."""
    return Path("envs/stores/pretend/server.conf")


def fill(template: Path) -> str:
    store = load_store(template.parent)
    return filled_in(store, {"made.conf": template.name}, VALUES)["made.conf"]


def test_values_and_further_ports(template):
    template.write_text("a {$host:$port}\nb ${port_other}$data $$1\n")
    assert fill(template) == "a {127.0.0.1:7}\nb 8/d $1\n"


@pytest.mark.parametrize("text", ["port $prot", "price $ 1"])
def test_a_template_that_asks_for_what_is_not_there(template, text):
    template.write_text(text)
    with pytest.raises(KvstudyError, match=r"pretend/server\.conf: cannot be filled in"):
        fill(template)


def test_a_template_that_is_not_there(template):
    with pytest.raises(KvstudyError, match=r"pretend/server\.conf: cannot be filled in: .*No such"):
        fill(template)


def test_the_shell_line_writes_the_same_text(tmp_path):
    text = "one\n\ttwo 'quoted' \"twice\" 100 % \\n \\\\ $HOME `date`\nlast without end"
    line = shell_line(tmp_path / "with space", text)
    assert "\n" not in line
    subprocess.run(["bash", "-c", line], check=True)
    assert (tmp_path / "with space").read_text() == text
    subprocess.run(["dash", "-c", line], check=True)
    assert (tmp_path / "with space").read_text() == text
