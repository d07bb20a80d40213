"""Each command line of the documentation is one: command, options, targets and keys are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from kvstudy import cli
from kvstudy.cli import MODULES, SECTIONS, load_command
from kvstudy.study.config import Config
from snakemake.cli import get_argument_parser

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md")),
]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`([^`]+)`")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROGRAMS = ("kvstudy", "make", "snakemake")


def lines_of(page: str) -> list[tuple[str, bool]]:
    """The command lines of our programs, and whether each is written out to be typed."""
    text = (ROOT / page).read_text(encoding="utf-8")
    typed = [
        line for block in BLOCK.findall(text) for line in block.replace("\\\n", "").split("\n")
    ]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    named = [" ".join(code.split()) for code in INLINE.findall(prose)]
    result = [(line.strip(), True) for line in typed] + [(line, False) for line in named]
    return [(line, whole) for line, whole in result if line.split(" ")[0] in PROGRAMS]


def check(line: str, whole: bool) -> None:
    """Fail for what the program of the line would not take."""
    program, *words = shlex.split(line, comments=True)
    if program == "kvstudy":
        for one in alternatives(words):
            _check_kvstudy(one, whole)
    elif program == "make":
        targets = [word for word in words if "=" not in word]
        assert set(targets) <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M)), line
        for name in (word.partition("=")[0] for word in words if "=" in word):
            assert f"$({name})" in MAKEFILE, f"{line}: no variable {name}"
    else:
        # No other words than YAML's may be there.
        arguments = get_argument_parser().parse_args(words)
        keys = {word.partition("=")[0] for word in arguments.config or []}
        assert keys <= set(Config.model_fields), line
        assert all((ROOT / path / "profile.yaml").is_file() for path in arguments.profile or []), (
            line
        )


def alternatives(words: list[str]) -> list[list[str]]:
    """``new study|store NAME`` stands for two lines."""
    several = [word.split("|") for word in words]
    number = max(map(len, several), default=1)
    return [[each[min(n, len(each) - 1)] for each in several] for n in range(number)]


def _check_kvstudy(words: list[str], whole: bool) -> None:
    if not words or words[0].startswith("-") or (words[0] == "COMMAND" and not whole):
        return
    assert words[0] in MODULES, words
    command, rest = load_command(words[0]), words[1:]
    while isinstance(command, click.Group) and rest:
        assert rest[0] in command.commands, words
        command, rest = command.commands[rest[0]], rest[1:]
    if isinstance(command, click.Group) or "--help" in rest:
        return
    try:
        command.make_context(words[0], rest)
    except click.MissingParameter:
        # Within a sentence a command may be by its name.
        if whole:
            raise


@pytest.mark.parametrize("page", PAGES)
def test_the_command_lines_of_a_page_can_be_typed(page):
    for line, whole in lines_of(page):
        try:
            check(line, whole)
        except (click.UsageError, SystemExit, ValueError) as error:
            pytest.fail(f"{page}: {line}: {error}")


def test_lines_are_found_and_what_is_none_fails():
    lines = {line for page in PAGES for line, _ in lines_of(page)}
    assert "kvstudy --help                     # all commands" in lines
    assert any(line.startswith("snakemake") and "language=cs" in line for line in lines)
    assert len([line for line in lines if line.startswith("kvstudy")]) > 40
    for bad in ("kvstudy plan --cell x", "make stdy", "make study SCAL=1", "kvstudy pln"):
        with pytest.raises((click.UsageError, AssertionError)):
            check(bad, True)
    for bad in ("snakemake --cors 4", "snakemake --config stdy=aa"):
        with pytest.raises((SystemExit, AssertionError)):
            check(bad, True)


def test_the_help_lists_each_command_with_its_summary():
    listed = {name: text for section in SECTIONS.values() for name, (_, text) in section.items()}
    for name, summary in listed.items():
        assert load_command(name).help.split("\n\n")[0].replace("\n", " ") == summary, name
    modules = Path(cli.__file__).parent.glob("commands/*.py")
    commands = {
        name
        for path in modules
        for name in re.findall(r'^@click\.(?:command|group)\("([\w-]+)"', path.read_text(), re.M)
    }
    assert commands == {*MODULES}
