"""From logs and their rows to the raw cells of a run, in the layout of measured ones.

A cell's manifest says what is known and no more: machine, server version, order and
all times that no log shows are null. Original files are next to the decoded copies
that are made where the original is not plain text or holds several runs.
"""

import json
import shutil
from collections import defaultdict
from pathlib import Path

from kvstudy import __version__
from kvstudy.errors import DataError, InputError, KvstudyError
from kvstudy.logs.imports.mapping import NAME, Row, is_measured, run_of
from kvstudy.logs.imports.sources import LogBundle, LogPart
from kvstudy.logs.ycsb.check import check_histogram, check_load, check_run
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.log import LogSection
from kvstudy.logs.ycsb.status import check_interval, operations_per_second, read_status, run_start
from kvstudy.study.cells import Cell, plan
from kvstudy.study.model import Study
from kvstudy.study.raw import IMPORTS, PROVIDER_IMPORTED, SUMS, file_digest, write_sums

ATTEMPT = "imported"
# What no log of a phase has.
UNKNOWN = ("started", "seconds", "client_cpu_seconds", "monitor_cpu_seconds")


def import_cells(
    study: Study, sources: list[LogBundle], ignored: dict[str, str], folder: Path
) -> tuple[list[Cell], dict[str, str]]:
    """Put the cells of ``sources`` into the run's results, in place of those imported before.

    ``ignored`` are the other files of ``folder``. Returns the good cells, and the path of each
    failed one with its reason. KvstudyError when the run has measured cells, or a row is no
    cell of the study.
    """
    results = Path("results") / study.name
    _refuse_measured(results)
    planned: dict[tuple, list[Cell]] = defaultdict(list)
    for cell in plan(study):
        planned[cell.store, cell.workload, cell.repetition].append(cell)
    rows = [source.row for source in sources]
    cells: dict[Cell, dict[str, LogBundle]] = defaultdict(dict)
    for source in sources:
        row = source.row if is_measured(source.row) else run_of(source.row, rows)
        cells[_planned(study, planned, row)][source.row.phase] = source
    work = results / "importing"
    shutil.rmtree(work, ignore_errors=True)
    good, failed = [], {}
    for cell, phases in cells.items():
        try:
            _check(cell, phases, folder)
        except KvstudyError as error:
            failed[cell.path] = str(error)
            target = work / "failed" / cell.path / ATTEMPT
            _write(target, study, cell, phases, folder)
            _write_json(target / "failure.json", {"reason": str(error)})
        else:
            good.append(cell)
            _write(work / "raw" / cell.path, study, cell, phases, folder)
            write_sums(work / "raw" / cell.path)
    for part in ("raw", "failed"):
        new, old = work / part, results / part
        # The same that is there stays as it is.
        if _sums(new) != _sums(old):
            shutil.rmtree(old, ignore_errors=True)
            if new.exists():
                new.rename(old)
    shutil.rmtree(work)
    # The report is made again when it changes.
    logs = [source.name for source in sources]
    _write_json(results / IMPORTS, {"logs": logs, "ignored": ignored})
    return good, failed


def _write_json(path: Path, data: dict[str, object]) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _refuse_measured(results: Path) -> None:
    for path in sorted((results / "raw").glob("*/*/*/rep*/manifest.json")):
        try:
            imported = "imported" in json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise DataError(
                f"{path}: cannot be read ({error}), so nothing shows whether its cell was measured "
                f"here or imported; move {path.parent} away"
            ) from None
        if not imported:
            raise InputError(
                f"{path.parent}: was measured here; imported and measured cells are not mixed in "
                "one run. Import under another study name"
            )


def _planned(study: Study, planned: dict[tuple, list[Cell]], row: Row) -> Cell:
    """Return the study's cell of the row; KvstudyError when the study file has none."""
    study_file = f"config/studies/{study.name}/study.yaml"
    remedy = "Mend either, or remove study.yaml to have it written again from import.csv"
    cells = planned.get((row.store, row.workload, row.repetition))
    if not cells:
        raise InputError(
            f"{study_file}: has no cell store {row.store}, workload {row.workload}, repetition "
            f"{row.repetition}, which import.csv gives to {row.file}. {remedy}"
        )
    sizes = {"records": row.records, "threads": row.threads}
    if row.phase == "run":
        sizes |= {"operations": row.operations, "seconds": row.seconds}
    unlike = [
        {name: getattr(cell, name) for name, value in sizes.items() if getattr(cell, name) != value}
        for cell in cells
    ]
    nearest = min(unlike, key=len)
    for name, value in nearest.items():
        raise InputError(
            f"{study_file}: workload {row.workload}: {name} is {value}, but import.csv has "
            f"{sizes[name]} for {row.file}. {remedy}"
        )
    return cells[unlike.index(nearest)]


def planned_without_logs(study: Study, rows: list[Row]) -> str:
    """Return a note on cells of the study file that ``rows`` would not make; "" without.

    A store, size or repetition that some log has may be a gap of another.
    """
    stores = {row.store for row in rows}
    sizes = {
        (row.workload, row.records, row.threads, row.operations if row.phase == "run" else 0)
        for row in rows
        if is_measured(row)
    }
    most = max(row.repetition for row in rows)
    count, parts = 0, {}
    for cell in plan(study):
        size = cell.workload, cell.records, cell.threads, cell.operations
        of_cell = [f"store {cell.store}"] if cell.store not in stores else []
        of_cell += [f"workload {cell.workload} ({cell.parameters})"] if size not in sizes else []
        of_cell += [f"repetition {cell.repetition}"] if cell.repetition > most else []
        count += bool(of_cell)
        parts |= dict.fromkeys(of_cell)
    if not count:
        return ""
    return (
        f"config/studies/{study.name}/study.yaml plans {count} cells that no log is of "
        f"({', '.join(parts)}); remove it to have it written again from {NAME}, or its parts by "
        "hand if you have edited it"
    )


def _check(cell: Cell, phases: dict[str, LogBundle], folder: Path) -> None:
    """Raise KvstudyError when the cell is none that counts, as for a measured one."""
    for phase, source in phases.items():
        log = source.read(_interval(cell, source))
        if phase == "run":
            # Other runs of the workload came to the limit, this one was done before.
            limit = None if log.attempted == cell.operations else cell.seconds
            check_run(log, cell.operations, limit, source.name)
        else:
            try:
                check_load(log, cell.records, source.name)
            except KvstudyError as error:
                if len(phases) == 1:
                    raise
                remedy = "if the records were there all the same, take the load's row out of"
                raise DataError(f"{error}; {remedy} {NAME}") from None
        for operation, path in source.histograms.items():
            section = log.sections.get(operation.removeprefix("Intended-"), LogSection())
            check_histogram(read_histogram(folder / path), section.operations, path.name)


def _interval(cell: Cell, source: LogBundle) -> str:
    """The phase's own measurement.interval; that of the study where no command shows it."""
    given = dict(cell.properties) if source.given is None else source.given
    return given.get("measurement.interval", "op")


def _write(
    target: Path, study: Study, cell: Cell, phases: dict[str, LogBundle], folder: Path
) -> None:
    """The files of the cell, its manifest last."""
    target.mkdir(parents=True)
    origins: list[dict[str, str]] = []
    for phase, source in phases.items():
        for part, ending in ((source.results, "out"), (source.errors, "err")):
            if part:
                origins.append(_put(target, f"{phase}.{ending}", part, folder))
        for operation, path in source.histograms.items():
            origins.append(_copy(path, target / f"{phase}.{operation}.hdr", folder))
    measured = phases.get(cell.measured_phase)
    started = run_start(measured.talk) if measured else None
    manifest = {
        "kvstudy": __version__,
        "protocol": None,
        "run": study.name,
        "cell": cell.as_json(),
        "position": None,
        "started": started.isoformat(timespec="seconds") if started else None,
        "imported": {"from": origins, "no_status_lines": _no_series(measured)},
        "server": {"provider": PROVIDER_IMPORTED, "version": None, "records": {}},
        "client": {
            "kind": PROVIDER_IMPORTED,
            "db": next((s.command.db for s in phases.values() if s.command), None),
            "ycsb": next((s.version for s in phases.values() if s.version), None),
            "jars": {},
        },
        "phases": {
            phase: {
                "command": source.arguments,
                "interval": _interval(cell, source),
                **dict.fromkeys(UNKNOWN),
            }
            for phase, source in phases.items()
        },
        "load_average_before": None,
        "environment": None,
        "seconds": {"ready": None, "stop": None, "total": None},
    }
    _write_json(target / "manifest.json", manifest)


def _put(target: Path, name: str, part: LogPart, folder: Path) -> dict[str, str]:
    """Write a log: its own bytes if these can be read as they are, else a copy next to them."""
    if part.is_file:
        return _copy(part.path, target / name, folder)
    (target / name).write_text(part.text, encoding="utf-8")
    origin = _copy(part.path, target / f"{name}.original", folder) | {"read_as": name}
    origin |= {"changes": "; ".join(part.changes)} if part.changes else {}
    return origin | ({"number": str(part.number)} if part.number else {})


def _copy(path: Path, kept: Path, folder: Path) -> dict[str, str]:
    shutil.copyfile(folder / path, kept)
    return {"file": path.as_posix(), "sha256": file_digest(kept), "kept_as": kept.name}


def _no_series(source: LogBundle | None) -> str:
    """Return why there is no throughput over time; empty if there is."""
    if source is None or " operations; " not in source.talk:
        return "YCSB was run without -s"
    try:
        status = read_status(source.talk, source.name)
        check_interval(status, source.name)
        operations_per_second(status, source.name)
        return ""
    except KvstudyError as error:
        return str(error)


def _sums(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != SUMS]
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
