"""Options that commands share, and what they stand for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kvstudy.errors import KvstudyError

if TYPE_CHECKING:
    from kvstudy.study.config import Config
    from kvstudy.study.model import Study


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
PROVIDER = click.Choice(["auto", "native", "docker", "external"])


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
