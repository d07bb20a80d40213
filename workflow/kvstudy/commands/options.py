"""Options that commands share, and what they stand for."""

import os
from pathlib import Path

import click

from kvstudy.errors import InputError
from kvstudy.language.current import FOLDER, translation_note, use
from kvstudy.study.bibliography import TEXTS
from kvstudy.study.config import Config
from kvstudy.study.load import STUDIES, load_design, load_study, project_studies
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean


def _use(context: click.Context, parameter: click.Parameter, language: str | None) -> None:
    use(language or configuration().language)
    if language and (note := translation_note(language, FOLDER, TEXTS)):
        click.echo(note, err=True)


# Of commands whose results people read. The command itself need not know the language. Where
# Snakemake runs it, the language is the configured one.
LANGUAGE = click.option(
    "--language",
    expose_value=False,
    callback=_use,
    help="Language of the output, including the decimal mark.  [default: en]",
)
PROVIDER = click.Choice(["auto", "native", "docker", "external"])


def configuration() -> Config:
    """Return Snakemake's configuration if it runs the command, otherwise the defaults."""
    configuration_json = os.environ.get("KVSTUDY_CONFIG")
    return (
        Config.model_validate_json(configuration_json)
        if configuration_json
        else Config(study="none")
    )


def study_to_measure(path: Path) -> Study:
    """Return the study in the file; InputError for logs that others measured.

    By hand, all that belongs to the study is checked, as Snakemake has done before its jobs: they
    read what is measured only, since the rest takes a tenth of a second.
    """
    if "KVSTUDY_CONFIG" in os.environ:
        study = load_design(path)
    else:
        from kvstudy.analyse.claims.file import check_source

        study = load_study(path)
        check_source(path, study)
    if study.imported:
        raise InputError(
            f"{path}: imported: the study has logs that were measured elsewhere, and nothing is "
            "measured for it; take that key out to measure the study here, under another name"
        )
    return study


def study_file(study: str) -> Path:
    """The study file of a name, a folder or a path; InputError when there is none."""
    path = Path(study)
    if path.is_dir() and (path / "study.yaml").is_file():
        return path / "study.yaml"
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return path
    if study not in (names := project_studies()):
        raise InputError(f"unknown study '{study}'{did_you_mean(study, names)}")
    return STUDIES / study / "study.yaml"
