"""The JSON of memtier_benchmark (--json-out-file)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kvstudy.errors import DataError
from kvstudy.logs.others.result_file import (
    OPERATIONS_PER_SECOND,
    ResultFile,
    Run,
    parse_json,
    positive_number,
)

NAME = "memtier_benchmark"
_SECTION = re.compile(r'"(?:ALL STATS|(?:BEST|WORST) RUN RESULTS|RUN #\d+ RESULTS)"\s*:')
_RUN = re.compile(r"RUN #(\d+) RESULTS")
TEST = "all operations"
# Of its configuration: what decides how fast a system can be.
_CONDITIONS = (
    *("protocol", "threads", "clients", "requests", "test_time", "ratio", "pipeline"),
    *("data_size", "data_size_range", "key_minimum", "key_maximum", "key_pattern", "rate_limit"),
)
ONE_CALL = (
    "Runs of one call of memtier_benchmark follow each other on the same server: their spread does "
    "not show how much a restarted server differs."
)


def recognises(text: str) -> bool:
    return text.lstrip()[:1] == "{" and _SECTION.search(text) is not None


def read(text: str) -> ResultFile:
    """Return the operations per second of all operations together, for each run.

    DataError: no JSON, an interrupted benchmark, or one that kept only its best and worst run.
    """
    content = parse_json(text)
    completion = content.get("benchmark_completion", {})
    status = str(content.get("run information", {}).get("Benchmark completion status", ""))
    if completion.get("full_run") is False or status.startswith("INTERRUPTED"):
        raise DataError("the benchmark was interrupted; run it again to its end")
    configuration = content.get("configuration", {})
    conditions = {name: str(configuration[name]) for name in _CONDITIONS if name in configuration}
    runs = _runs(content)
    return ResultFile(
        OPERATIONS_PER_SECOND,
        runs,
        conditions={TEST: conditions},
        notes=(ONE_CALL,) if len(runs) > 1 else (),
    )


def _runs(content: Mapping[str, Any]) -> list[Run]:
    numbered = {int(match[1]): name for name in content if (match := _RUN.fullmatch(name))}
    if numbered:
        return [_run(content, name) for _number, name in sorted(numbered.items())]
    if "ALL STATS" in content:
        return [_run(content, "ALL STATS")]
    count = content.get("configuration", {}).get("run_count")
    if count == 2:
        return [_run(content, f"{which} RUN RESULTS") for which in ("BEST", "WORST")]
    raise DataError(
        f"has the best, the worst and the mean of {count or 'several'} runs, but not each run; "
        "call memtier_benchmark with --print-all-runs"
    )


def _run(content: Mapping[str, Any], section: str) -> Run:
    totals = content.get(section, {}).get("Totals", {})
    if "Ops/sec" not in totals:
        raise DataError(f'"{section}": has no "Totals" with "Ops/sec"')
    return {TEST: positive_number(totals["Ops/sec"], f'"{section}", "Totals", "Ops/sec"')}
