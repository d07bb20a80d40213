"""The command line ``kvstudy``: each step of the pipeline, for users and for rules."""

import errno
import functools
import importlib
import sys
import traceback

import click

from kvstudy import __version__
from kvstudy.errors import INTERNAL, EnvironmentFault, KvstudyError, RunError
from kvstudy.measure.controller import (
    Interrupted,
    end_with_children,
    stop_controller,
    stop_with_controller,
)

# The commands by section of the help, each with its module in kvstudy.commands and its summary,
# the first line of its docstring. Modules are imported when one of their commands is called,
# because loading pandas and matplotlib takes longer than most steps.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Set-up": {
        "doctor": (
            "machine",
            "Show which tools, YCSB bindings and stores are ready on this machine.",
        ),
        "servers": (
            "machine",
            "Install servers: vendors' releases into servers/, system packages with apt.",
        ),
        "new": ("new", "Create a commented template of a study, a store or a workload."),
    },
    "Measuring": {
        "plan": (
            "plan",
            "Estimate the time and disk space for STUDY, and the detectable differences.",
        ),
        "watch": ("plan", "Show the live progress of a run; start it in a second terminal."),
        "run": (
            "single_cell",
            "Measure one cell without a study, print its result and keep its logs.",
        ),
        "measure": (
            "measure",
            "Measure CELL (store/workload/parameters/rep<n>, see 'kvstudy plan --cells').",
        ),
        "probe": ("measure", "Count the server commands that each YCSB operation causes on STORE."),
        "ready": (
            "machine",
            "Wait until a manually started server of STORE is ready for the load phase.",
        ),
        "gap": ("machine", "Record why STORE of a study cannot be measured on this machine."),
    },
    "Analysis": {
        "import": (
            "imports",
            "Import the YCSB logs in FOLDER and its subfolders as the cells of a study.",
        ),
        "parse": (
            "analyse",
            "Parse the raw logs of RUN into tidy tables: cells.csv, measurements.csv and more.",
        ),
        "look": ("analyse", "Test whether REPETITIONS repetitions are enough (interim analysis)."),
        "analyse": (
            "analyse",
            "Compute the statistics of RUN: means, confidence intervals, ratios and more.",
        ),
        "claims": ("analyse", "Check the source's claims against the measurements of RUN."),
        "audit": (
            "analyse",
            "Check whether the values in a study's source are consistent with each other.",
        ),
        "provenance": ("analyse", "List the cells behind each table and figure of RUN, as JSON."),
    },
    "Report": {
        "tabulate": ("documents", "Write the tables of RUN as LaTeX, HTML and unrounded CSV."),
        "workbook": ("documents", "Write RUN as a workbook (.xlsx)."),
        "draw": (
            "documents",
            "Draw the figures of RUN (PDF, SVG, PNG, interactive) and write their data.",
        ),
        "render": ("documents", "Write the report of RUN as Markdown and LaTeX."),
        "published": (
            "documents",
            "Write a report of a source's published values only, without measurements.",
        ),
        "build-pdf": (
            "documents",
            "Build the PDF of RUN with latexmk from the LaTeX source of 'kvstudy render'.",
        ),
        "build-html": (
            "documents",
            "Build the report of RUN as one HTML page from the Markdown of 'kvstudy render'.",
        ),
        "build-docx": (
            "documents",
            "Build the report of RUN as a Word file from the Markdown of 'kvstudy render'.",
        ),
        "notebook": ("documents", "Run the analysis notebook on RUN and export it to HTML."),
        "export": ("documents", "Export tables, figures and numbers of RUN for a LaTeX document."),
    },
    "Checking and sharing": {
        "trace": (
            "share",
            "Trace a number, table or figure (WHAT) back to the lines of the raw logs.",
        ),
        "open": (
            "data",
            "Open a notebook with the data of RUN in JupyterLab or Jupyter Notebook.",
        ),
        "data": (
            "data",
            "Write the data of RUN as CSV and Parquet with a schema, for R and other programs.",
        ),
        "commands": (
            "documents",
            "Write the shell commands of all measured cells of RUN, in the order of measurement.",
        ),
        "compare": ("share", "Compare two finished runs, for example of two versions or machines."),
        "publish": (
            "site",
            "Publish RUNS as a static site, for any web server or GitHub Pages.",
        ),
        "archive": ("share", "Pack RUN into one file to share with others or to publish."),
        "verify": (
            "share",
            "Verify ARCHIVE: a file made by 'kvstudy archive', or a run in results/.",
        ),
        "review": (
            "review",
            "Review ARCHIVE: verify it, and measure its main comparisons again on this machine.",
        ),
        "rebuild": ("share", "Rebuild the report of ARCHIVE from its raw logs."),
    },
    "Development": {
        "translate": (
            "translate",
            "Update the message catalogues of LANGUAGE (a language code such as cs).",
        ),
        "schema": ("schema", "Regenerate the JSON schemas, config/README.md and docs/stores.md."),
    },
}
# Called by other commands, not listed.
HIDDEN = {"agent": "measure"}
MODULES = HIDDEN | {
    name: module for section in SECTIONS.values() for name, (module, _) in section.items()
}

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
    """The group of all commands; imports a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in MODULES if name not in HIDDEN]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return load_command(name) if name in MODULES else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in section.items()])


@functools.cache
def load_command(name: str) -> click.Command:
    """Return the command from its module."""
    module = importlib.import_module(f"kvstudy.commands.{MODULES[name]}")
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
    """Measure key-value stores with YCSB and build a report from the logs.

    Run kvstudy in the clone of its repository. 'snakemake --cores 4' measures a
    study and builds its report; most commands below are single steps of that.
    A cell is one measurement: a store, a workload, its parameters (records,
    operations, threads) and a repetition. RUN is the name of a folder in
    results/. See 'kvstudy COMMAND --help'.
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
        sys.exit(getattr(error, "status", 1))
    except OSError as error:
        # Any command may write to a disk that is full, or to a folder of somebody else.
        where = f"{error.filename}: " if error.filename else ""
        problem = PROBLEMS.get(error.errno, f"{error.strerror or error}; mend that")
        print(f"kvstudy: {where}{problem}, and run it again", file=sys.stderr)
        sys.exit(EnvironmentFault.status)
    except Exception:
        traceback.print_exc()
        print(
            "kvstudy: this is a fault of kvstudy; report it with the lines above", file=sys.stderr
        )
        sys.exit(INTERNAL)
