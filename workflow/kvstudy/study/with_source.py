"""Tables and figures that a report has by itself, because its study has a source."""

from __future__ import annotations

from pathlib import Path

from kvstudy.study.kinds import FIGURES, TABLES
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import PUBLISHED, QUOTES, check_names


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
        tables += TABLES["audit"].automatic(study)
    tables += [
        table
        for table in TABLES["audited"].automatic(study)
        if _can_be_checked([row for row in rows if row["workload"] == table.workload])
    ]
    if any(len(_stores(rows, name, study)) > 1 for name in [*study.workload_names, MEAN]):
        tables += TABLES["against"].automatic(study)
        figures += FIGURES["slope"].automatic(study)
    return study.model_copy(
        update={"tables": _added(study.tables, tables), "figures": _added(study.figures, figures)}
    )


def _added(own: list, parts: list) -> list:
    """``own`` and those of ``parts`` that it does not have yet."""
    named = {part.subject for part in own}
    return own + [part for part in parts if part.subject not in named]


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
