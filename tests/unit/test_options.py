"""Options of all commands: none is lost when it is given twice."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from kvstudy.cli import MODULES, load_command
from kvstudy.errors import KvstudyError

from tests.project import kvstudy


def _single_options() -> list[tuple[list[str], str]]:
    """Each command with each of its options that have one value."""
    result = []
    for name in MODULES:
        command = load_command(name)
        for below, one in getattr(command, "commands", {"": command}).items():
            result += [
                ([name, below] if below else [name], option.opts[0])
                for option in one.params
                if isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            ]
    return result


def test_an_option_with_one_value_is_refused_when_it_is_given_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = _single_options()
    assert (["plan"], "--scale") in options
    assert (["new", "study"], "--repetitions") in options
    for command, option in options:
        done = kvstudy(*command, option, "1", option, "2")
        assert done.exit_code == 2, (command, option)
        assert f"{option} was given twice; give it once." in done.output
    assert not list(Path().iterdir())


def test_a_choice_of_a_store_is_not_lost(project):
    with pytest.raises(KvstudyError, match="--option: gives one name twice; give each once"):
        kvstudy("run", "--store", "redis", *["--option", "x=1", "--option", "x=2"])
