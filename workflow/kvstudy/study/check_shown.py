"""Whether a study has what its tables and figures show."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study import rounds
from kvstudy.study.combinations import lines
from kvstudy.study.curves import Curves, SweepTable
from kvstudy.study.figure_kinds import Bars, Transcript, WorkloadFigure
from kvstudy.study.grids import Averages, Box, Heatmap
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN
from kvstudy.study.ranking import RankingTable
from kvstudy.study.relative import ROUNDS_FIGURES, ROUNDS_TABLES
from kvstudy.study.source_parts import AgainstTable, AuditedTable
from kvstudy.study.table_kinds import ComparisonTable, ResultsTable, StoreTable
from kvstudy.study.workload import properties_of


def check_shown(path: Path, study: Study) -> None:
    """KvstudyError for a table or figure of what the study in the file ``path`` has not."""
    used = study.workload_names
    for index, table in enumerate(study.tables):
        key = f"tables[{index}]"
        if isinstance(table, ResultsTable | AuditedTable):
            check_known(path, f"{key}.workload", "workload", table.workload, used)
        if isinstance(table, StoreTable):
            check_known(path, f"{key}.store", "store", table.store, study.store_names)
        if isinstance(table, RankingTable):
            for place, line in enumerate(table.lines):
                if line.workload != MEAN or len(used) < 2:
                    check_known(
                        path, f"{key}.lines[{place}].workload", "workload", line.workload, used
                    )
        if isinstance(table, AgainstTable) and table.base:
            check_known(path, f"{key}.base", "store", table.base, study.store_names)
        if isinstance(table, ComparisonTable):
            for role, name in (("baseline", table.baseline), ("store", table.store)):
                check_known(path, f"{key}.{role}", "store", name, study.store_names)
    for index, figure in enumerate(study.figures):
        key = f"figures[{index}]"
        names = figure.workloads if isinstance(figure, Bars | Averages) else []
        if isinstance(figure, Transcript | WorkloadFigure | Heatmap | Box):
            names = [figure.workload]
        for name in names:
            if name != MEAN or figure.kind != "bars" or figure.metrics != ["throughput"]:
                check_known(path, f"{key}.workload", "workload", name, used)
        if isinstance(figure, Transcript):
            check_known(path, f"{key}.store", "store", figure.store, study.store_names)
    for key, each in _over_sizes(study):
        _check_lines(path, key, each, study)
    _check_rounds_shown(path, study)


def _over_sizes(study: Study) -> list[tuple[str, SweepTable | Curves]]:
    """What has lines over a size, with its key in the file."""
    both = [("tables", study.tables), ("figures", study.figures)]
    return [
        (f"{key}[{index}]", each)
        for key, items in both
        for index, each in enumerate(items)
        if isinstance(each, SweepTable | Curves)
    ]


def _check_lines(path: Path, key: str, of: SweepTable | Curves, study: Study) -> None:
    """Each line has cells on it."""
    workloads = of.workloads if isinstance(of, Curves) else [of.workload]
    stores = of.stores if isinstance(of, Curves) else []
    for name in workloads:
        check_known(path, f"{key}.workload", "workload", name, study.workload_names)
    for name in stores:
        check_known(path, f"{key}.stores", "store", name, study.store_names)
    if getattr(of.where, of.over) is not None:
        raise KvstudyError(
            f"{path}: {key}.where.{of.over}: is what the lines go over; remove the key"
        )
    for line in lines(study, of.over, of.where, workloads, study.store_names[:1]):
        if len(line.points) < 2:
            sizes = " and ".join(f"{number} {size}" for size, number in line.fixed)
            raise KvstudyError(
                f"{path}: {key}.where: workload '{line.workload}' has {len(line.points)} cells "
                f"over {of.over} with {sizes}; it takes two or more"
            )


def _check_rounds_shown(path: Path, study: Study) -> None:
    """KvstudyError for a table or figure of rounds that names what the study does not have."""
    shown = [(f"tables[{index}]", each) for index, each in enumerate(study.tables)]
    shown += [(f"figures[{index}]", each) for index, each in enumerate(study.figures)]
    for key, each in shown:
        if not isinstance(each, ROUNDS_TABLES + ROUNDS_FIGURES):
            continue
        for role in ("baseline", "store", "database", "cache"):
            if hasattr(each, role):
                name = getattr(each, role)
                check_known(path, f"{key}.{role}", "store", name, study.store_names)
        check_known(path, f"{key}.workload", "workload", each.workload, study.workload_names)
        if rounds.rounds_of(properties_of(study, study.workload(each.workload))) is None:
            raise KvstudyError(
                f"{path}: {key}.workload: '{each.workload}' has no rounds, so a {each.kind} "
                f"{key.partition('s[')[0]} has no times; name a workload of {rounds.WORKLOAD}"
            )
