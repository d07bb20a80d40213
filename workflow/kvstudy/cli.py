"""The command ``kvstudy``: each step of the pipeline, to be run by hand or from a rule."""

import errno
import importlib
import sys

import click

from kvstudy import __version__
from kvstudy.errors import KvstudyError
from kvstudy.measure.controller import Interrupted, end_with_children, stop_with_controller

# By the module of kvstudy.commands that has them, in the order of the pipeline. A module is
# imported when one of its commands is called: pandas and matplotlib take longer to load than
# most steps.
COMMANDS = {
    "machine": {
        "doctor": "Show what is ready on this machine and what is missing.",
        "servers": "Install servers that no distribution packages.",
        "gap": "Record why a store cannot be measured here.",
        "ready": "Wait until a server that was started by hand can be loaded.",
    },
    "new": {"new": "Write a commented first version of a study, a store or a workload."},
    "plan": {
        "plan": "Show what a study will take, in hours and disk, and what it can tell.",
        "watch": "Show how far a run is while it is measured.",
    },
    "measure": {
        "run": "Measure one cell outside any study; asks for store, workload and sizes.",
        "measure": "Measure one cell on a real server.",
        "probe": "Find out what one operation makes a store's server do.",
    },
    "analyse": {
        "import": "Take logs of YCSB that were made elsewhere as the cells of a study.",
        "parse": "Turn raw logs into measurements.csv and cells.csv.",
        "summarise": "Turn measurements.csv into means over the repetitions.",
        "analyse": "Work out intervals, ratios between stores and the drift of the runs.",
        "claims": "Ask what holds of the claims of a study's source.",
        "audit": "Check the values of a study's source against each other and its text.",
        "provenance": "Write which cells each table and figure is made of.",
    },
    "present": {
        "tabulate": "Make the tables.",
        "workbook": "Write averages and single runs as a workbook (.xlsx).",
        "draw": "Draw the figures.",
        "render": "Make the text of the report, and its LaTeX source.",
        "published": "Make the report of what a study's source published.",
        "build-pdf": "Build the PDF from the LaTeX source.",
        "build-html": "Build the report as one HTML page from its text.",
        "build-docx": "Build the report as a Word file from its text.",
        "notebook": "Run the analysis notebook and export it to HTML.",
        "export": "Collect tables, figures, numbers and references for a thesis of your own.",
        "commands": "Write the plain commands of every cell, to repeat one by hand.",
    },
    "share": {
        "trace": "Follow a number, table or figure back to the lines of its logs.",
        "compare": "Compare two finished runs: two machines, two versions, before and after.",
        "archive": "Pack a run with its raw logs as one file (RO-Crate).",
        "verify": "Check an archive or a run: checksums, plan, course, every number anew.",
        "rebuild": "Build the report of an archive from its raw logs.",
    },
    "translate": {
        "translate": "Bring the catalogues of a language up to date with the texts.",
    },
    "schema": {"schema": "Write the JSON schemas and the page of all keys."},
}
LISTED = {name: text for of_module in COMMANDS.values() for name, text in of_module.items()}
# Called by other commands, and listed nowhere.
MODULES = {name: module for module in COMMANDS for name in COMMANDS[module]} | {"agent": "measure"}

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
        return list(LISTED)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in MODULES:
            return None
        module = importlib.import_module(f"kvstudy.commands.{MODULES[name]}")
        commands = [value for value in vars(module).values() if isinstance(value, click.Command)]
        return next(command for command in commands if command.name == name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(LISTED.items()))


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
        sys.exit(1)
    except OSError as error:
        # Any command may write to a disk that is full, or to a folder of somebody else.
        where = f"{error.filename}: " if error.filename else ""
        problem = PROBLEMS.get(error.errno, f"{error.strerror or error}; mend that")
        print(f"kvstudy: {where}{problem}, and run it again", file=sys.stderr)
        sys.exit(1)
