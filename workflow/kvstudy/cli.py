"""The command ``kvstudy``: each step of the pipeline, to be run by hand or from a rule."""

import errno
import functools
import importlib
import re
import sys
from pathlib import Path

import click

from kvstudy import __version__
from kvstudy.errors import KvstudyError, RunError
from kvstudy.measure.controller import (
    Interrupted,
    end_with_children,
    stop_controller,
    stop_with_controller,
)

# Modules of kvstudy.commands in the order of the pipeline. One is imported when a command of it is
# called: pandas and matplotlib take longer to load than most steps.
STAGES = ["machine", "new", "plan", "measure", "analyse", "present", "share", "translate", "schema"]
# In the text of a module: a command, whether it is listed, and what it says of itself first.
COMMAND = re.compile(
    r'^@click\.(?:command|group)\("([\w-]+)"(, hidden=True)?\)$.*?^    """(.*?)(?:""")?$',
    re.M | re.S,
)

FULL = "the disk is full; free some space"
DENIED = "permission denied; give yourself the right (chown, chmod)"
PROBLEMS = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EACCES: DENIED,
    errno.EPERM: DENIED,
    errno.EROFS: "the file system cannot be written; work in a copy elsewhere",
    errno.ENOTDIR: "a file is where a folder belongs; move it away",
    errno.EEXIST: "a file is where a folder belongs; move it away",
    errno.EISDIR: "a folder is where a file belongs; move it away",
    errno.ENAMETOOLONG: "the name is too long; work in a folder with a shorter one",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
}


class Commands(click.Group):
    """Loads a command's module when it is called, and lists them without loading any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, (_, text) in commands().items() if text]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in commands():
            return None
        return load_command(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in commands().items() if text])


@functools.cache
def commands() -> dict[str, tuple[str, str]]:
    """The module of each command, and what it does; "" where other commands call it."""
    return {
        name: (stage, "" if hidden else text)
        for stage in STAGES
        for name, hidden, text in COMMAND.findall(
            (Path(__file__).parent / "commands" / f"{stage}.py").read_text(encoding="utf-8")
        )
    }


@functools.cache
def load_command(name: str) -> click.Command:
    """The command of that name, out of its module."""
    module = importlib.import_module(f"kvstudy.commands.{commands()[name][0]}")
    values = [value for value in vars(module).values() if isinstance(value, click.Command)]
    command = next(command for command in values if command.name == name)
    for one in (command, *getattr(command, "commands", {}).values()):
        _refuse_repeated(one)
    return command


def _refuse_repeated(command: click.Command) -> None:
    """Let the command refuse an option that has one value and is given twice.

    click would take the last value without a word.
    """
    parse_args = command.parse_args

    def parse_each_once(ctx: click.Context, args: list[str]) -> list[str]:
        _, _, given = command.make_parser(ctx).parse_args([*args])
        for option in given:
            single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if single and given.count(option) > 1:
                raise click.UsageError(f"{option.opts[0]} was given twice; give it once.", ctx)
        return parse_args(ctx, args)

    command.parse_args = parse_each_once


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kvstudy")
def cli() -> None:
    """Measure key-value stores with YCSB and turn the logs into a report.

    Run it in the project's folder. 'snakemake --cores 4' runs all steps of a
    study in order; each of them is a command here. 'kvstudy COMMAND --help'
    tells more.
    """


def main() -> None:
    """Entry point; prints a user's error as plain text."""
    stop_with_controller()
    end_with_children()
    try:
        cli()
    except (KvstudyError, Interrupted) as error:
        print(f"kvstudy: {error}", file=sys.stderr)
        if isinstance(error, RunError):
            stop_controller()
        sys.exit(1)
    except OSError as error:
        # Any command may write to a disk that is full, or to a folder of somebody else.
        where = f"{error.filename}: " if error.filename else ""
        problem = PROBLEMS.get(error.errno, f"{error.strerror or error}; mend that")
        print(f"kvstudy: {where}{problem}, and run it again", file=sys.stderr)
        sys.exit(1)
