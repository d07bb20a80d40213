"""The names of runs' folders: study, scale, and whether it is partial."""

import contextlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import InputError
from kvstudy.language.current import ORIGINAL, current, languages, subfolder, suffix
from kvstudy.study.cells import run_name
from kvstudy.study.load import STUDIES, project_studies
from kvstudy.study.naming import did_you_mean
from kvstudy.study.published import published_name

RESULTS = Path("results")
REPORT = Path("report")
PARTIAL = "-partial"
SCALED = re.compile(r"(.+)-scale([0-9.e+-]+)")


class Paths:
    """The paths of the files of the run ``name``, relative to the project.

    Those of what people read are in the language of the process; of a run of values that its
    study's source published (``published_only``), the name shows the language.
    """

    name: str
    partial: bool
    published_only: bool

    @property
    def base(self) -> str:
        """The run that its raw logs belong to: another for a report of the cells that are there."""
        return self.name.removesuffix(PARTIAL) if self.partial else self.name

    @property
    def folder(self) -> Path:
        return RESULTS / self.name

    @property
    def raw(self) -> Path:
        return RESULTS / self.base / "raw"

    @property
    def text(self) -> Path:
        """The folder of what people read: tables, report, export."""
        return Path(f"{self.folder}{self._subfolder}")

    @property
    def tables(self) -> Path:
        return self.text / "tables"

    @property
    def figures(self) -> Path:
        return Path(f"figures/{self.name}{self._subfolder}")

    def document(self, form: str) -> Path:
        """The finished report as pdf, html or docx."""
        ending = "" if self.published_only else suffix(current())
        return REPORT / f"{self.name}{ending}.{form}"

    @property
    def _subfolder(self) -> str:
        return "" if self.published_only else subfolder(current())


@dataclass(frozen=True)
class RunName(Paths):
    """The parts of a run's name.

    A ``partial`` run is a report of the cells that are there. The ``language`` is that of a run
    of published values; measured data has none.
    """

    name: str
    study: str
    scale: float = 1.0
    source: str = "measured"
    partial: bool = False
    language: str = ORIGINAL

    @property
    def published_only(self) -> bool:
        """True where nothing was measured: the values are those of the study's source."""
        return self.source == "published"

    @property
    def study_file(self) -> Path:
        return STUDIES / self.study / "study.yaml"


def parse_name(name: str) -> RunName | None:
    """The run called ``name``; None for one that is of no study that is here."""
    studies = project_studies()
    if name in studies:
        return RunName(name, name)
    for study, language in itertools.product(studies, languages()):
        if name == published_name(study, language):
            return RunName(name, study, source="published", language=language)
    if name.endswith(PARTIAL):
        whole = parse_name(name.removesuffix(PARTIAL))
        if whole and not whole.partial and not whole.published_only:
            return RunName(name, whole.study, whole.scale, partial=True)
    scaled = SCALED.fullmatch(name)
    if scaled and scaled[1] in studies:
        with contextlib.suppress(ValueError):
            if run_name(scaled[1], float(scaled[2])) == name:
                return RunName(name, scaled[1], float(scaled[2]))
    return None


def command_of(name: str) -> str:
    """The command that measures what is left of the run, whatever config/config.yaml says."""
    run = parse_name(name)
    config = f" --config study={run.study} scale={run.scale:g}" if run else ""
    return f"snakemake --cores 4{config}"


def run_folders() -> list[str]:
    """Names of the folders below results/ that hold a run of a study that is here."""
    return sorted(path.name for path in RESULTS.glob("*") if parse_name(path.name))


def find_name(name: str, published: bool = True) -> RunName:
    """The run of that name, or of that folder below results/; InputError where there is none.

    Where it may not be ``published``, also for one whose values do not come from logs.
    """
    folder = Path(name).parent
    # Another clone may have a run of the same name.
    if folder != Path() and folder.resolve() != RESULTS.resolve():
        raise InputError(
            f"{name}: is not below {RESULTS.resolve()}; go to the clone that it is in, or pack "
            "it there ('kvstudy archive') and verify the archive here"
        )
    name = Path(name).name
    run = parse_name(name)
    # That of published values, and of the finished cells, is made by the first command.
    if not (run and run.published_only) and not (RESULTS / (run.base if run else name)).is_dir():
        folders = run_folders()
        hint = did_you_mean(name, folders) if folders else "; make one with 'snakemake --cores 4'"
        if not RESULTS.is_dir():
            hint = "; run the command in a clone of kvstudy"
        raise InputError(f"{RESULTS / name}: no such run{hint}")
    if run is None:
        raise InputError(
            f"{RESULTS / name}: is of no study in {STUDIES}; put the folder of its study there"
        )
    if run.published_only and not published:
        raise InputError(
            f"{run.name}: what a source published has no logs; its values are in "
            f"{run.study_file.with_name('published.csv')}"
        )
    return run
