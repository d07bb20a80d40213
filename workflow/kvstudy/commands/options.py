"""Options that commands share; most are those of all that measure."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kvstudy.errors import KvstudyError

if TYPE_CHECKING:
    from kvstudy.study.config import Config
    from kvstudy.study.model import Study


def _checked(context: click.Context, parameter: click.Parameter, scale: float) -> float:
    from kvstudy.study.cells import check_scale

    check_scale(scale)
    return scale


def _use(context: click.Context, parameter: click.Parameter, language: str | None) -> None:
    from kvstudy.language.current import use

    use(language or configuration().language)


# Of commands whose results people read. The command itself need not know the language. Where
# Snakemake runs it, the language is the configured one.
LANGUAGE = click.option(
    "--language",
    expose_value=False,
    callback=_use,
    help="Language of text, tables, figures and numbers.  [default: en]",
)
PORT = click.IntRange(0, 65535)
# Whether the study can be read, its reader says.
STUDY = click.Path(path_type=Path, readable=False)
SCALE = {"type": float, "default": 1.0, "show_default": True, "callback": _checked}
PROVIDER = click.Choice(["auto", "native", "docker", "external"])
PINNED = (
    "Cores of server and client: true for two halves, or lists such as 0-1/2-3.  [default: false]"
)
EMPTY = "Delete ALL data of the external server first."
OPTIONS = [
    click.option("--study", type=STUDY, required=True, help="The study.yaml."),
    click.option("--scale", **SCALE, help="Factor on the counts."),
    click.option("--provider", type=PROVIDER, help="How the server runs.  [default: auto]"),
    click.option("--port", type=PORT, help="Its port; 0: any free.  [default: 0]"),
    click.option("--address", help="host:port of the server (provider external)."),
    click.option("--may-empty", is_flag=True, default=None, help=EMPTY),
    click.option("--ycsb-home", help="An unpacked YCSB distribution to use."),
    click.option("--protocol", default=1, help="Number of the way of measuring, recorded."),
    click.option("--pin-cpus", help=PINNED),
    click.option("--mixed", type=bool, help="Allow cells that were not measured alike."),
]


def completed(options: dict[str, Any], folder: str) -> dict[str, Any]:
    """The options of ``measuring`` for the store of that folder under envs/stores/.

    Those that were left out are as Snakemake was told, where it runs the command.
    """
    return configuration().setting_of(folder) | {
        name: value for name, value in options.items() if value is not None
    }


def configuration() -> Config:
    """What Snakemake was told, where it runs the command; else as nothing is configured."""
    from kvstudy.study.config import Config

    known = os.environ.get("KVSTUDY_CONFIG")
    return Config.model_validate_json(known) if known else Config(study="none")


def study_to_measure(path: Path) -> Study:
    """The study in the file; KvstudyError for one of logs that others measured."""
    from kvstudy.study.load import load_study

    study = load_study(path)
    if study.imported:
        raise KvstudyError(
            f"{path}: imported: the study has logs that were measured elsewhere, and nothing is "
            "measured for it; take that key out to measure the study here, under another name"
        )
    return study


def measuring(command: Callable) -> Callable:
    """Give ``command`` the options; all but study and scale are those of a Setting."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def study_file(study: str) -> Path:
    """The study file of a name, a folder or a path; KvstudyError when there is none."""
    from kvstudy.study.load import STUDIES, project_studies
    from kvstudy.study.naming import did_you_mean

    given = Path(study)
    if given.is_dir() and (given / "study.yaml").is_file():
        return given / "study.yaml"
    if given.suffix in (".yaml", ".yml") or given.is_file():
        return given
    if study not in (names := project_studies()):
        raise KvstudyError(f"unknown study '{study}'{did_you_mean(study, names)}")
    return STUDIES / study / "study.yaml"
