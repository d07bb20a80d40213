"""Read a study file and say precisely what is wrong with it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from kvstudy.errors import InputError
from kvstudy.study.combinations import combinations_of, most_cells, shown_combination
from kvstudy.study.controls import measured_uses
from kvstudy.study.kinds import FIGURES, TABLES
from kvstudy.study.model import Design, Study, with_further
from kvstudy.study.naming import check_known
from kvstudy.study.parts import AUTO, MEAN, WorkloadUse
from kvstudy.study.published import CLAIMS, PUBLISHED, QUOTES, check_names, sibling_file
from kvstudy.study.reading import line_of, read_yaml
from kvstudy.study.workload import (
    SIZES,
    WORKLOADS,
    class_of,
    divisible,
    load_only,
    named_record,
    project_workloads,
    properties_of,
    rounds_problems,
)
from kvstudy.study.ycsb_properties import ROUNDS, cell_problems, joint_problems, property_problems

STUDIES = Path("config/studies")
STORES = Path("envs/stores")
# More take Snakemake minutes of silence to plan.
MOST_CELLS = 10_000


def load_study(path: Path) -> Study:
    """The study in the file ``path``, checked against the stores and workloads there are."""
    study = load_design(path, Study)
    study = _with_source(path, study, project_stores(), project_workloads())
    if study.open_loop:
        study = study.with_open_loop()
    _refuse(path, _problems_of_parts(path, study))
    return study


def load_design(path: Path, model: type[Study] = Design) -> Study:
    """Load what the study in the file ``path`` measures, without its tables and figures."""
    study = read_yaml(path, model)
    _refuse(path, design_problems(path, study))
    if study.open_loop:
        runs = [use for use in study.workloads if not load_only(properties_of(study, use))]
        _refuse(path, _problems_of_open_loop(path, study, runs))
        if not study.open_loop.workloads:
            names = [use.name for use in runs]
            every = study.open_loop.model_copy(update={"workloads": names})
            study = study.model_copy(update={"open_loop": every})
    return study


def _refuse(path: Path, problems: Iterable[tuple[str, str]]) -> None:
    """Raise InputError for the first of the problems: a key, and what is wrong with it."""
    for key, problem in problems:
        raise InputError(f"{path}: {key[:200]}: {problem} (line {line_of(path, key)})")


def design_problems(path: Path, study: Study) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with what the study in the file ``path`` measures: a key, the problem."""
    stores, workloads = project_stores(), project_workloads()
    if (cells := most_cells(study)) > MOST_CELLS:
        yield (
            "repetitions",
            f"with {study.repetitions} of them the study has {cells} cells; {MOST_CELLS} can be "
            "planned. Take fewer, or shorter lists of sizes",
        )
    if study.name != (folder := path.parent.name):
        yield "name", f"is '{study.name}', but the folder is '{folder}'; give both the same name"
    for index, use in enumerate(study.stores):
        check_known(f"{path}: stores[{index}]", "store", use.store, stores)
    files = [use for use in study.workloads if use.file in workloads]
    classes = {class_of(properties_of(study, use)) for use in files}
    for name, problem in _in_study(study.parameters.property_texts, classes):
        yield f"parameters.properties.{name}", problem
    for index, use in enumerate(study.workloads):
        yield from _problems_of_workload(path, f"workloads[{index}]", study, use, workloads)
    measured = [one for use in study.workloads for one in combinations_of(study, use)]
    for name, value in study.parameters.shown:
        if value not in (None, *(getattr(one, name) for one in measured)):
            text = f"no cell has {value} {name}; name one of the values of a list"
            yield f"parameters.shown.{name}", text
    for key in ("baseline", "noise_floor"):
        if isinstance(store := getattr(study, key), str):
            check_known(f"{path}: {key}", "store", store, study.store_names)
    for index, expected in enumerate(study.expected_failures):
        key = f"expected_failures[{index}].store"
        check_known(f"{path}: {key}", "store", expected.store, study.store_names)
    uses = measured_uses(study)
    yield from _twice(
        *("stores", [use.name for use in uses]),
        remedy=", or give one another name: {{store: {}, name: ...}}",
        added={use.name for use in uses[len(study.stores) :]},
        by="a control (noise_floor, client_ceiling, clients)",
    )
    yield from _twice("workloads", study.workload_names)
    if MEAN in study.workload_names:
        yield (
            "workloads",
            f"'{MEAN}' is the name of the mean of all workloads; give the workload's file another "
            "name",
        )


def _in_study(properties: Mapping[str, str], classes: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with properties that a study gives: names, and problems."""
    for name, size in zip(SIZES, ("records", "operations"), strict=True):
        # No operations: there is no run phase.
        if name in properties and (name, properties[name]) != ("operationcount", "0"):
            yield name, f"would not be used; give the study's key {size}"
    yield from property_problems(properties, classes)


def _problems_of_workload(
    path: Path, key: str, study: Study, use: WorkloadUse, workloads: list[str]
) -> Iterator[tuple[str, str]]:
    check_known(f"{path}: {key}", "workload", use.file, workloads)
    if use.name != use.file and use.name in workloads:
        text = f"'{use.name}' is the name of another file than '{use.file}'; give another name"
        yield key, text
    for name in use.stores:
        check_known(f"{path}: {key}.stores", "store", name, study.store_names)
    properties = properties_of(study, use)
    for name, problem in _in_study(use.property_texts, [class_of(properties)]):
        yield f"{key}.properties.{name}", problem
    # What YCSB has done already, it has done somehow.
    for name, problem in () if study.imported else cell_problems(properties):
        if name in use.properties:
            yield f"{key}.properties.{name}", problem
        elif name in study.parameters.properties:
            yield f"parameters.properties.{name}", problem
        else:
            yield key, f"{name} in {WORKLOADS / use.file}: {problem}"
    for name, problem in () if study.imported else joint_problems(properties):
        place = f"{key}.properties" if use.properties else "parameters.properties"
        yield f"{place}.{name}" if name in use.properties else place, problem
    named_record(properties, f"{path}: {key}")
    several, one = combinations_of(study, use), shown_combination(study, use)
    seconds = use.seconds or study.parameters.seconds
    if class_of(properties) == ROUNDS:
        if study.open_loop is not None:
            text = f"workload '{use.name}' has rounds, which have no rate; remove the key"
            yield "open_loop", text
        if seconds:
            yield key, f"'{use.name}' has rounds, which end by their counts; remove seconds"
        for problem in rounds_problems(properties, several):
            yield key, f"'{use.name}': {problem}"
    if one not in several:
        yield (
            f"{key}.shown" if use.shown else "parameters.shown",
            f"no cell of workload '{use.name}' has {one.records} records, {one.operations} "
            f"operations and {one.threads} threads; name sizes of its lists",
        )
    clients = study.parameters.several
    if clients in (None, AUTO):
        return
    if not divisible(properties, bool(seconds)):
        yield (
            key,
            f"'{use.name}' inserts records and asks for them, or inserts for a time: {clients} "
            "clients would not know each other's keys; leave it out, or parameters.clients",
        )
    if (fewest := min(sizes.threads for sizes in several)) < clients:
        threads = f"{fewest} thread{'s' if fewest > 1 else ''}"
        yield (
            "parameters.clients",
            f"{clients} clients cannot share the {threads} of workload '{use.name}'; give fewer "
            "clients, or more threads",
        )


def _twice(
    key: str, names: list[str], remedy: str = "", added: Collection[str] = (), by: str = ""
) -> Iterator[tuple[str, str]]:
    """A name that appears twice, or is one of those ``added`` (``by``)."""
    for name in names:
        if names.count(name) > 1:
            text = f"appears twice; name each once{remedy.format(name)}"
            if name in added:
                text = f"is the name of {by}; give yours another name"
            yield key, f"'{name}' {text}"


def _with_source(path: Path, study: Study, stores: list[str], workloads: list[str]) -> Study:
    """The study with what its claims.yaml, published.csv and quotes.yaml bring to its report.

    ``stores`` and ``workloads`` are those of the project. InputError for values of others.
    """
    values = sibling_file(path, PUBLISHED)
    rows = check_names(values, study, stores, workloads) if values else []
    kinds = ["scoreboard", "claims"] if sibling_file(path, CLAIMS) else []
    if study.source:
        kinds += ["audit"] if rows or sibling_file(path, QUOTES) else []
    tables = [table for kind in kinds for table in TABLES[kind].automatic(study)]
    means = any(row["metric"] == "latency_mean" for row in rows)
    figures = FIGURES["separation"].automatic(study) if means else []
    parts = {"tables": with_further(study.tables, tables)}
    parts["figures"] = with_further(study.figures, figures)
    return study.model_copy(update=parts)


def _problems_of_open_loop(
    path: Path, study: Study, runs: list[WorkloadUse]
) -> Iterator[tuple[str, str]]:
    """``runs`` are the workloads with a run phase."""
    if study.imported:
        yield (
            "open_loop",
            "the study's logs were imported, nothing is measured at rates; remove the key",
        )
    named = study.open_loop.workloads
    for index, name in enumerate(named):
        key = f"open_loop.workloads[{index}]"
        check_known(f"{path}: {key}", "workload", name, study.workload_names)
        if name not in [use.name for use in runs]:
            yield key, f"'{name}' has a load phase only, which has no rate; leave it out"
    yield from _twice("open_loop.workloads", named)
    if not runs:
        yield "open_loop", "no workload of the study has a run phase; remove the key"
    for use in runs:
        if use.name in (named or study.workload_names) and "target" in properties_of(study, use):
            yield (
                "open_loop",
                f"the property 'target' gives workload '{use.name}' a rate already, so no cell "
                "shows the store's maximum; remove one of the two",
            )


def _problems_of_parts(path: Path, study: Study) -> Iterator[tuple[str, str]]:
    for key, parts in (("tables", study.tables), ("figures", study.figures)):
        yield from _twice(
            *(key, [part.name for part in parts]),
            added=study.automatic_names[key],
            by=f"one of the {key} that the report has by itself",
        )
        for index, part in enumerate(parts):
            part.check(study, path, f"{key}[{index}]")


def project_stores() -> list[str]:
    """The names of the stores that the project has."""
    return sorted(path.parent.name for path in STORES.glob("*/store.yaml"))


def project_studies() -> list[str]:
    """The names of the studies that the project has."""
    return sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))


def known_stores(study: Study) -> list[str]:
    """Return the known stores, the study's first, for hints on mistyped names."""
    return list(dict.fromkeys([*study.store_names, *project_stores()]))


def study_path(name: str) -> Path:
    """The file of the study called ``name``; InputError when there is none."""
    check_known("config/config.yaml: study", "study", name, project_studies())
    return STUDIES / name / "study.yaml"
