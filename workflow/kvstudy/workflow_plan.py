"""Snakemake's plan for a configuration: the run, its cells, and which of them exist."""

import re
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kvstudy.analyse.claims.file import check_source
from kvstudy.errors import InputError, KvstudyError
from kvstudy.language.current import FOLDER, subfolder, suffix, translation_note
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import lock_exclusive, lock_shared
from kvstudy.measure.planning.costs import BETWEEN, read_costs
from kvstudy.measure.planning.progress import (
    CALIBRATION,
    Progress,
    duration,
    earlier_runs,
    look,
    times,
)
from kvstudy.stores.configuration import is_current, outdated_probe
from kvstudy.stores.definition import Store, stores_to_measure
from kvstudy.stores.process import state_directory
from kvstudy.study.bibliography import TEXTS
from kvstudy.study.cells import Cell, plan, run_name
from kvstudy.study.config import Config, check_config
from kvstudy.study.controls import clients_of_trial
from kvstudy.study.load import STORES, load_study, study_path
from kvstudy.study.model import Study
from kvstudy.study.parts import MOST_REPETITIONS
from kvstudy.study.probe import planned
from kvstudy.study.published import published_name, source_files
from kvstudy.study.raw import (
    IMPORTS,
    SUMS,
    is_complete,
    is_measured,
    probe_directory,
    raw_directory,
    refuse_edited,
)
from kvstudy.study.run_names import command_of
from kvstudy.whole_file import ROOM, check_folder, check_writable, free_bytes, full_disk


@dataclass
class WorkflowPlan:
    """The ``run`` that Snakemake is asked for, of the study in ``study_file``.

    ``cells`` are all that the study has, in the order of measurement; ``measured`` are there,
    ``wanted`` those that the run is to have. Of the ``probes``, by store, ``probed`` are there.
    ``outdated`` says of lists of checksums that are there what the study has otherwise by now:
    that is measured again. ``gaps`` are stores that cannot be measured here. ``holder`` is who
    changes the clone now, or "". Of published values, which ``source_files`` tell, nothing is
    planned, measured or read from logs.
    """

    config: Config
    study_file: Path
    study: Study
    run: str
    holder: str = ""
    stores: dict[str, Store] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    measured: list[Cell] = field(default_factory=list)
    wanted: list[Cell] = field(default_factory=list)
    probes: dict[str, dict] = field(default_factory=dict)
    probed: list[str] = field(default_factory=list)
    wanted_probes: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    without_server: set[str] = field(default_factory=set)
    outdated: dict[str, str] = field(default_factory=dict)
    source_files: list[str] = field(default_factory=list)

    @property
    def published(self) -> bool:
        """Return whether only the source's own values are shown."""
        return self.config.source == "published"

    @property
    def nothing_measured(self) -> bool:
        """Return whether nothing is measured, so that missing cells stay gaps."""
        return bool(self.study.imported) or not self.config.measure or self.published

    @property
    def subfolder(self) -> str:
        """Return the subfolder of texts in another language than English."""
        # A run of published values has no data that languages could share: it has its own name.
        return "" if self.published else subfolder(self.config.language)

    @property
    def suffix(self) -> str:
        return "" if self.published else suffix(self.config.language)

    @property
    def imports(self) -> list[str]:
        return [f"results/{self.run}/{IMPORTS}"] if self.study.imported else []

    @cached_property
    def positions(self) -> dict[str, int]:
        """Each cell's place in the order of measurement, from 1, by its path."""
        return {cell.path: position for position, cell in enumerate(self.cells, start=1)}

    @cached_property
    def progress(self) -> Progress:
        """Return the progress in the messages of cells: finished, elapsed, left, failed."""
        earlier = [*earlier_runs(self.study.name, self.run)[1:], CALIBRATION]
        is_done = partial(is_current, self.study, self.stores, self.run)
        wanted = [] if self.nothing_measured else self.wanted
        return Progress(self.run, wanted, earlier, is_done=is_done)

    # --- files of the study that steps read; each list has only what is there

    def study_files(self, *names: str) -> list[str]:
        """Files in the study's folder."""
        return _there(self.study_file.with_name(name) for name in names)

    def of_stores(self, name: str) -> list[str]:
        """Files of that name in the folders of the study's stores."""
        return sorted({*_there(STORES / use.store / name for use in self.study.stores)})

    @property
    def workloads(self) -> list[str]:
        return sorted({f"workloads/{use.file}" for use in self.study.workloads})

    @property
    def audited(self) -> list[str]:
        """Empty for a study without a source, and where that has neither values nor quotes."""
        return self.study_files("published.csv", "quotes.yaml") if self.study.source else []

    @property
    def catalogues(self) -> list[str]:
        """The translations of the language, of the package, the study and its stores."""
        name = f"{self.config.language}.po"
        catalogue = _there([Path("workflow/kvstudy/language", name)])
        return sorted(catalogue + self.study_files(name) + self.of_stores(name))

    def cell(self, path: str) -> Cell:
        """The cell of that path; InputError where the study has none."""
        if path not in self.positions:
            raise InputError(f"{path}: no cell of the study; 'kvstudy plan --cells' lists them")
        return self.cells[self.positions[path] - 1]


def plan_run(data: dict, main: bool = True) -> WorkflowPlan:
    """Plan the work for the configuration that Snakemake has merged.

    ``main`` is whether no other Snakemake started this one as a job. InputError names file and
    key of whatever is wrong, before anything is made or measured.
    """
    # Before anything is planned from files that another Snakemake writes.
    # A job that outlives its Snakemake on a cluster must not keep the next one from cancelling it.
    holder = lock_shared() if main else ""
    config = check_config(data)
    path = study_path(config.study)
    study = load_study(path)
    check_source(path, study)
    run = run_name(study.name, config.scale)
    if config.source == "published":
        run = published_name(study.name, config.language)
    of = WorkflowPlan(config, path, study, run, holder)
    # The run's files can be written, and were not edited by hand.
    check_folder(Path(f"results/{run}/logs"))
    for name in (run, f"{run}-partial"):
        tops = {f"results/{name}", f"results/{name}{of.subfolder}", f"figures/{name}{of.subfolder}"}
        refuse_edited(Path(top) / below for top in tops for below in ("", "analysis", "tables"))
    if of.published:
        of.source_files = [str(path) for path in source_files(path).values()]
        return of
    of.stores = stores_to_measure(study, path)
    if study.imported and not Path(of.imports[0]).is_file():
        raise InputError(
            f"{path}: imported: no logs of it in results/{of.run}; run "
            f"'kvstudy import FOLDER --study {study.name}', with scale 1"
        )
    of.probes = {} if study.imported else planned(study)
    of.probed = [name for name in of.probes if is_complete(probe_directory(of.run, name))]
    if of.nothing_measured:
        of.cells = plan(study, config.scale)
        of.measured = of.wanted = [cell for cell in of.cells if is_measured(of.run, cell)]
        of.wanted_probes = of.probed
        return of
    # Programs are asked for their versions only where they may be measured.
    outlook = look(study, of.stores, config, config.scale)
    of.cells, of.wanted = outlook.cells, outlook.wanted
    # Raw logs that exist always count, whatever this machine could measure.
    of.measured = [cell for cell in of.cells if cell in outlook.done]
    for name in of.probed:
        folder = probe_directory(of.run, name)
        if changed := outdated_probe(of.probes[name], of.stores[name], folder):
            of.outdated[f"{folder}/{SUMS}"] = changed
    of.probed = [
        name for name in of.probed if f"{probe_directory(of.run, name)}/{SUMS}" not in of.outdated
    ]
    for cell, changed in outlook.outdated.items():
        of.outdated[f"{raw_directory(of.run, cell)}/{SUMS}"] = changed
    of.wanted_probes = [
        name for name in of.probes if name in of.probed or name not in outlook.missing
    ]
    absent = {cell.store for cell in outlook.absent}
    of.gaps = sorted(absent | (of.probes.keys() - of.wanted_probes))
    of.without_server = set(outlook.missing)
    of.missing = {store: outlook.missing[store] for store in of.gaps if store in outlook.missing}
    return of


def follow(of: WorkflowPlan) -> None:
    """Have Snakemake measure again what is ``outdated``, and no other cell or probe that is there.

    Its own notes of parameters know nothing of cells that were carried here or measured by hand,
    and its notes of interrupted jobs nothing of a cell that ended before the note was removed.
    """
    from snakemake.persistence import NO_PARAMS_CHANGE, ParamsChange, PersistenceBase

    has_metadata, params_changed = PersistenceBase.has_metadata, PersistenceBase.params_changed
    interrupted = PersistenceBase.incomplete

    def measures(job: Any) -> bool:
        return job.rule.name in ("measure", "probe_store")

    def has(self: Any, job: Any) -> bool:
        return measures(job) or has_metadata(self, job)

    def changed(self: Any, job: Any, file: str | None = None) -> Any:
        if not measures(job):
            return params_changed(self, job, file)
        output = str(job.output[0])
        why = of.outdated.get(output)
        return ParamsChange(only_new={why}, files={output}) if why else NO_PARAMS_CHANGE

    async def incomplete(self: Any, job: Any) -> list:
        # Logs come to their place in one step: what is there is whole.
        return [] if measures(job) else await interrupted(self, job)

    PersistenceBase.has_metadata, PersistenceBase.params_changed = has, changed
    PersistenceBase.incomplete = incomplete


def as_workflow_error(function: Callable, *arguments: Any) -> Any:
    """Call the function; turn an error for the user into Snakemake's, without a traceback."""
    from snakemake.exceptions import WorkflowError

    try:
        return function(*arguments)
    except KvstudyError as error:
        raise WorkflowError(str(error)) from None


def prepare(of: WorkflowPlan, outputs: Iterable[str]) -> None:
    """Before the first job: the clone is taken, all folders can be written, the clock runs."""
    lock_exclusive(of.holder)
    if len(of.measured) < len(of.wanted):
        state_directory()
    folders = {Path(f"results/{of.run}/{name}") for name in ("logs", "raw")}
    for folder in sorted(folders | {Path(path).parent for path in outputs}):
        check_writable(folder)
    # A closed terminal ends it like SIGTERM; nohup asks to go on.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    of.progress.begin(Path(f"results/{of.run}/logs/progress.log"))
    for line in _not_measured(of):
        print(line, file=sys.stderr)
    if len(of.measured) < len(of.wanted) and sys.stderr.isatty():
        print("To see each cell live: 'kvstudy watch' in a second terminal.", file=sys.stderr)


def unreadable_cells(of: WorkflowPlan) -> list[str]:
    """At the end, what to say of cells that were there and could not be read; may be empty."""
    # Its log gets the last line.
    str(of.progress)
    stores = {raw_directory(of.run, cell): cell.store for cell in of.measured}
    stores |= {probe_directory(of.run, name): name for name in of.probed}
    gone = [folder for folder in stores if not is_complete(folder)]
    if not gone:
        return []
    run = Path("results") / of.run
    names = [f"  {str(folder.relative_to(run)).removeprefix('raw/')}" for folder in gone]
    lines = [f"Could not be read, with reasons in results/{of.run}/failed/:", *names]
    # Neither where nothing is measured nor of a store without a server here.
    if not of.nothing_measured and all(stores[folder] not in of.without_server for folder in gone):
        lines.append(f"'{command_of(of.run)}' measures them again.")
    return lines


def stopped(of: WorkflowPlan) -> list[str]:
    """After an error, how far the run is; may be empty."""
    lines, folder = [], Path("results") / of.run
    # The log of the step that failed is empty then.
    if (free := free_bytes(folder)) < ROOM:
        lines.append(f"{full_disk(folder, free)}, and run it again")
    return [*lines, *filter(None, [of.progress.end()])]


# The answers, with which the text of a report opens: a list, whose items may have several lines.
_ITEM = r"^- .+\n(?:(?!- ).+\n)*"
_ANSWERS = re.compile(rf"^:+ glance\n+((?:{_ITEM}\n*)+)", re.MULTILINE)
_REFERENCE = r"(?:; )?\[[^]]*\]\([^)]*\)\{[^}]*\}"


def final_messages(of: WorkflowPlan) -> list[str]:
    """At the end, what came out, where it is, and what is missing; empty without a report."""
    name = f"report/{of.run}{of.suffix}"
    forms = [form for form in (".pdf", ".html", ".docx") if Path(name + form).is_file()]
    if not forms:
        return []
    text = Path(f"results/{of.run}{of.subfolder}/report/{of.run}.md")
    answers = _ANSWERS.search(text.read_text(encoding="utf-8") if text.is_file() else "")
    items = re.findall(_ITEM, answers[1], re.MULTILINE) if answers else []
    plain = (re.sub(rf"{_REFERENCE}|\*|\\(?=\W)", "", item) for item in items)
    lines = [" ".join(item.split()) for item in plain]
    lines.append(f"Report: {name}{', '.join(forms)}; data, tables and workbook: results/{of.run}/")
    note = translation_note(of.config.language, FOLDER, TEXTS)
    return [*lines, *filter(None, [note]), *_not_measured(of)]


def continuation_forecast(of: WorkflowPlan) -> list[str]:
    """After cells of a plain number of repetitions: what measuring until all is decided would add.

    Empty where all is decided or nothing was measured, and for a trial run.
    """
    study, raw = of.study, Path("results") / of.run / "raw"
    idle = of.nothing_measured or len(of.measured) == len(of.wanted)
    if study.until or idle or of.config.scale != 1 or 4 * study.repetitions > MOST_REPETITIONS:
        return []
    if not (raw.parent / "analysis" / "pairs.csv").is_file():
        return []
    # They take a second to load.
    from kvstudy.analyse.findings.looks import look_at
    from kvstudy.analyse.run import run_of

    run, number = run_of(study, of.config.scale), study.repetitions
    _, comparisons, undecided, *_ = look_at(run.spread, study, number, run.compared, run.claimed)
    if not undecided:
        return []
    first = max(number, 2)
    of_blocks = [cost for cost in read_costs([raw]) if clients_of_trial(cost.cell.store) is None]
    blocks = (4 * first - number) / number
    seconds = blocks * sum(cost.seconds + BETWEEN for cost in of_blocks)
    return [
        f"{undecided} of {times(comparisons, 'comparison')} undecided after "
        f"{times(number, 'repetition')}. 'repetitions: {{from: {first}, to: {4 * first}}}' in "
        f"{of.study_file} goes on until none is, by wider intervals: at most "
        f"{times(round(blocks * len(of_blocks)), 'more cell')}, about {duration(seconds)}."
    ]


def _not_measured(of: WorkflowPlan) -> list[str]:
    """Return the stores that are not measured, with reasons and remedies."""
    return [
        f"Not measured: {of.stores[store].title}: {sentence(why)}."
        for store, why in of.missing.items()
    ]


def _there(paths) -> list[str]:
    return [str(path) for path in paths if path.is_file()]


def described(study: Study, run: str, scale: float, published_only: bool = False) -> dict[str, str]:
    """Title, question, source and what was measured, each as text of reStructuredText."""
    of = study.source
    measured = f"Measured with {times(study.repetitions, 'repetition')} ({run})."
    if study.imported:
        measured = f"The logs were made elsewhere and imported ({run})."
    if scale != 1:
        measured += f" Sizes are {scale:g} times those of the study: no measurement of the stores."
    if published_only:
        measured = "All values are the source's own; nothing was measured."
    texts = {
        "title": study.title,
        "question": study.question,
        "source": f"After {of.author}, {of.title}, {of.year}." if of else "",
        "measured": measured,
    }
    # On one line, and without any mark-up.
    return {
        name: re.sub(r"([^\w\s,.;()'-])|(_)", r"\\\1\2", " ".join(text.split()))
        for name, text in texts.items()
    }


def label(text: str) -> str:
    """``text`` without what Snakemake would take for wildcards."""
    return text.translate({ord("{"): "(", ord("}"): ")"})
