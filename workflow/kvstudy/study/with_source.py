"""Tables and figures that a report has by itself, because its study has a source."""

from __future__ import annotations

from pathlib import Path

from kvstudy.language.current import _
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import PUBLISHED, QUOTES, check_names
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable, Slopes


def with_source(path: Path, study: Study, stores: list[str], workloads: list[str]) -> Study:
    """The study in the file ``path`` with what its published.csv and quotes.yaml bring.

    What it names itself it does not get again. Without a source it stays as it is. ``stores``
    and ``workloads`` are those of the project. KvstudyError for values of others.
    """
    values = path.with_name(PUBLISHED)
    rows = check_names(values, study, stores, workloads) if values.is_file() else []
    if study.source is None:
        return study
    tables: list = []
    figures: list = []
    if rows or path.with_name(QUOTES).is_file():
        tables.append(AuditTable(name="audit", kind="audit", caption=_("Checks of the source")))
    for use in study.workloads:
        if _can_be_checked([row for row in rows if row["workload"] == use.name]):
            tables.append(
                AuditedTable(
                    name=f"audited-{use.name}",
                    kind="audited",
                    caption=_("Checks of the source's values, {}").format(use.title),
                    workload=use.name,
                )
            )
    if any(len(_stores(rows, name, study)) > 1 for name in [*study.workload_names, MEAN]):
        caption = _("Throughput by that of one store, published and here")
        tables.append(AgainstTable(name="against", kind="against", caption=caption))
        caption = _("Places of the stores by throughput, published and here")
        figures.append(Slopes(name="places", kind="slope", caption=caption))
    return study.model_copy(
        update={
            "tables": study.tables + [each for each in tables if _is_new(each, study.tables)],
            "figures": study.figures + [each for each in figures if _is_new(each, study.figures)],
        }
    )


def _is_new(part, own: list) -> bool:
    same = [each for each in own if type(each) is type(part)]
    if isinstance(part, AuditedTable):
        same = [each for each in same if each.workload == part.workload]
    return not same


def _can_be_checked(rows: list[dict[str, str]]) -> bool:
    """Whether anything about the values of a workload follows from its other values."""
    metrics = {row["metric"] for row in rows if row["value"]}
    threads = {row["threads"] for row in rows} - {""}
    return bool({"throughput"} <= metrics and {"runtime", "latency_mean"} & metrics) or (
        "1" in threads and len(threads) > 1
    )


def _stores(rows: list[dict[str, str]], workload: str, study: Study) -> set[str]:
    """The stores with a published throughput."""
    return {
        row["store"]
        for row in rows
        if (row["workload"], row["operation"], row["metric"]) == (workload, "overall", "throughput")
        and row["value"]
        and row["store"] in study.store_names
    }
