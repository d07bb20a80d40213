"""Read a study file and say precisely what is wrong with it."""

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.base import MOST
from kvstudy.study.combinations import combinations_of, most_cells, shown_combination
from kvstudy.study.controls import measured_uses
from kvstudy.study.kinds import TABLES, added
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known, check_unique
from kvstudy.study.parts import AUTO, MEAN, WorkloadUse
from kvstudy.study.published import CLAIMS, PUBLISHED, QUOTES, beside, check_names
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import (
    ROUNDS,
    WORKLOADS,
    check_numbers,
    check_property,
    check_record,
    class_of,
    divisible,
    load_only,
    load_workload,
    project_workloads,
    properties_of,
    rounds_of,
    rounds_problems,
)

STUDIES = Path("config/studies")
STORES = Path("envs/stores")
# More take Snakemake minutes of silence to plan.
MOST_CELLS = 10_000


def load_study(path: Path) -> Study:
    """The study in the file ``path``, checked against the stores and workloads there are."""
    study = read_yaml(path, Study)
    if (cells := most_cells(study)) > MOST_CELLS:
        raise KvstudyError(
            f"{path}: repetitions: with {study.repetitions} of them the study has {cells} cells; "
            f"{MOST_CELLS} can be planned. Take fewer, or shorter lists of sizes"
        )
    if study.name != path.parent.name:
        raise KvstudyError(
            f"{path}: name: is '{study.name}', but the folder is '{path.parent.name}'; "
            "give both the same name"
        )
    stores = project_stores()
    for index, use in enumerate(study.stores):
        check_known(f"{path}: stores[{index}]", "store", use.store, stores)
    workloads = project_workloads()
    for index, use in enumerate(study.workloads):
        check_known(f"{path}: workloads[{index}]", "workload", use.file, workloads)
        load_workload(WORKLOADS / use.file)
        if use.name != use.file and use.name in workloads:
            raise KvstudyError(
                f"{path}: workloads[{index}]: '{use.name}' is the name of another file than "
                f"'{use.file}'; give another name"
            )
        for name in use.stores:
            check_known(f"{path}: workloads[{index}].stores", "store", name, study.store_names)
        properties = properties_of(study, use)
        for name in use.properties:
            check_property(f"{path}: workloads[{index}].properties", name, [class_of(properties)])
        check_record(f"{path}: workloads[{index}]", properties)
        check_numbers(f"{path}: workloads[{index}].properties", use.property_texts)
        _check_rounds(path, index, study, use)
    classes = {class_of(properties_of(study, use)) for use in study.workloads}
    for name in study.parameters.properties:
        check_property(f"{path}: parameters.properties", name, classes)
    check_numbers(f"{path}: parameters.properties", study.parameters.property_texts)
    _check_sizes(path, study)
    _check_clients(path, study)
    for key in ("baseline", "noise_floor"):
        if isinstance(store := getattr(study, key), str):
            check_known(f"{path}: {key}", "store", store, study.store_names)
    check_unique(
        *(path, "stores", [use.name for use in measured_uses(study)]),
        remedy=", or give one another name: {{store: {}, name: ...}}",
        added={use.name for use in measured_uses(study)[len(study.stores) :]},
        by="a control (noise_floor, client_ceiling, clients)",
    )
    check_unique(path, "workloads", study.workload_names)
    if MEAN in study.workload_names:
        raise KvstudyError(
            f"{path}: workloads: '{MEAN}' is the name of the mean of all workloads; "
            "give the workload's file another name"
        )
    study = _with_open_loop(path, _with_source(path, study, stores, workloads))
    for key, parts in (
        ("tables", [*study.tables, *study.open_loop_tables]),
        ("figures", [*study.figures, *study.open_loop_figures]),
    ):
        check_unique(
            *(path, key, [part.name for part in parts]),
            added=study.automatic_names[key],
            by=f"one of the {key} that the report has by itself",
        )
        for index, part in enumerate(getattr(study, key)):
            part.check(study, path, f"{key}[{index}]")
    for index, expected in enumerate(study.expected_failures):
        key = f"expected_failures[{index}].store"
        check_known(f"{path}: {key}", "store", expected.store, study.store_names)
    return study


def _with_source(path: Path, study: Study, stores: list[str], workloads: list[str]) -> Study:
    """The study with the tables that its claims.yaml, published.csv and quotes.yaml bring.

    ``stores`` and ``workloads`` are those of the project. KvstudyError for values of others.
    """
    values = beside(path, PUBLISHED)
    rows = check_names(values, study, stores, workloads) if values else []
    if study.source is None:
        return study
    kinds = ["scoreboard"] if beside(path, CLAIMS) else []
    kinds += ["audit"] if rows or beside(path, QUOTES) else []
    by_workload = ([row for row in rows if row["workload"] == use] for use in study.workload_names)
    kinds += ["audited"] if any(map(_can_be_checked, by_workload)) else []
    tables = [table for kind in kinds for table in TABLES[kind].automatic(study)]
    return study.model_copy(update={"tables": added(study.tables, tables)})


def _can_be_checked(rows: list[dict[str, str]]) -> bool:
    """Whether anything about the values of a workload follows from its other values."""
    metrics = {row["metric"] for row in rows if row["value"]}
    threads = {row["threads"] for row in rows} - {""}
    return bool({"throughput"} <= metrics and {"runtime", "latency_mean"} & metrics) or (
        "1" in threads and len(threads) > 1
    )


def _with_open_loop(path: Path, study: Study) -> Study:
    """The study with the workloads of its open loop named; KvstudyError for a wrong one."""
    if study.open_loop is None:
        return study
    if study.imported:
        raise KvstudyError(
            f"{path}: open_loop: the study's logs were imported, nothing is measured at rates; "
            "remove the key"
        )
    named = study.open_loop.workloads
    properties = {use.name: properties_of(study, use) for use in study.workloads}
    runs = [name for name in properties if not load_only(properties[name])]
    for index, name in enumerate(named):
        key = f"open_loop.workloads[{index}]"
        check_known(f"{path}: {key}", "workload", name, study.workload_names)
        if name not in runs:
            raise KvstudyError(
                f"{path}: {key}: '{name}' has a load phase only, which has no rate; leave it out"
            )
    check_unique(path, "open_loop.workloads", named)
    if not runs:
        raise KvstudyError(
            f"{path}: open_loop: no workload of the study has a run phase; remove the key"
        )
    for name in named or runs:
        if "target" in properties[name]:
            raise KvstudyError(
                f"{path}: open_loop: the property 'target' gives workload '{name}' a rate "
                "already, so no cell tells the store's maximum; remove one of the two"
            )
    chosen = study.open_loop.model_copy(update={"workloads": named or runs})
    return study.model_copy(update={"open_loop": chosen})


def _check_sizes(path: Path, study: Study) -> None:
    """What is shown must be measured."""
    measured = [combinations_of(study, use) for use in study.workloads]
    for index, use in enumerate(study.workloads):
        one = shown_combination(study, use)
        if one not in measured[index]:
            key = f"workloads[{index}].shown" if use.shown else "parameters.shown"
            raise KvstudyError(
                f"{path}: {key}: no cell of workload '{use.name}' has {one.records} records, "
                f"{one.operations} operations and {one.threads} threads; name sizes of its lists"
            )
    for name, value in study.parameters.shown:
        if value not in (None, *(getattr(one, name) for sizes in measured for one in sizes)):
            raise KvstudyError(
                f"{path}: parameters.shown.{name}: no cell has {value} {name}; "
                "name one of the values of a list"
            )


def _check_clients(path: Path, study: Study) -> None:
    """Several clients must be able to share each workload."""
    clients = study.parameters.several
    if clients in (None, AUTO):
        return
    for index, use in enumerate(study.workloads):
        if not divisible(properties_of(study, use), bool(use.seconds or study.parameters.seconds)):
            raise KvstudyError(
                f"{path}: workloads[{index}]: '{use.name}' inserts records and asks for them, or "
                f"inserts for a time: {clients} clients would not know each other's keys; leave it "
                "out, or parameters.clients"
            )
        fewest = min(one.threads for one in combinations_of(study, use))
        if fewest < clients:
            raise KvstudyError(
                f"{path}: parameters.clients: {clients} clients cannot share the {fewest} "
                f"thread{'s' if fewest > 1 else ''} of workload '{use.name}'; give fewer clients, "
                "or more threads"
            )


def _check_rounds(path: Path, index: int, study: Study, use: WorkloadUse) -> None:
    """KvstudyError for a workload with rounds that the study's parameters do not fit."""
    properties = properties_of(study, use)
    if class_of(properties) != ROUNDS:
        return
    if study.open_loop is not None:
        raise KvstudyError(
            f"{path}: open_loop: workload '{use.name}' has rounds, which have no rate; "
            "remove the key"
        )
    if use.seconds or study.parameters.seconds:
        raise KvstudyError(
            f"{path}: workloads[{index}]: '{use.name}' has rounds, which end by their counts; "
            "remove seconds"
        )
    combinations = combinations_of(study, use)
    for problem in rounds_problems(properties, [sizes.threads for sizes in combinations]):
        raise KvstudyError(f"{path}: workloads[{index}]: '{use.name}': {problem}")
    for sizes in combinations:
        executed = rounds_of(properties).executed(sizes.records, sizes.operations)
        if executed > MOST:
            raise KvstudyError(
                f"{path}: workloads[{index}]: '{use.name}' with {sizes.records} records: its "
                f"rounds have {executed} operations, and YCSB counts to {MOST}; give less"
            )


def project_stores() -> list[str]:
    """The names of the stores that the project has."""
    return sorted(path.parent.name for path in STORES.glob("*/store.yaml"))


def project_studies() -> list[str]:
    """The names of the studies that the project has."""
    return sorted(path.parent.name for path in STUDIES.glob("*/study.yaml"))


def known_stores(study: Study) -> list[str]:
    """Those of the study first: they are what is meant by a name that is mistyped."""
    return list(dict.fromkeys([*study.store_names, *project_stores()]))


def study_path(name: str) -> Path:
    """The file of the study called ``name``; KvstudyError when there is none."""
    check_known("config/config.yaml: study", "study", name, project_studies())
    return STUDIES / name / "study.yaml"
