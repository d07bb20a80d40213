"""The analysis of a run, and the files it is kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

from kvstudy.analyse.findings import TABLES, order
from kvstudy.analyse.tidy.results import only
from kvstudy.errors import KvstudyError

MODULES = {name: import_module(f"kvstudy.analyse.findings.{name}") for name in TABLES}
# In these, what is shown is not of the headline sizes alone.
OF_ALL_SIZES = ("order", "open_rates", "open_percentiles", "rounds")


class Analysis(SimpleNamespace):
    """The tables of a run's analysis by their names, and ``drift`` (``order.drift_of``).

    The modules of the tables say what their columns are.
    """


def analyse(run) -> Analysis:
    """Everything that is worked out of the tidy tables of ``run``.

    Control cells are in ``order`` only; ``floor`` and ``bottleneck`` are made from them.
    """
    made = {}
    for name, module in MODULES.items():
        made[name] = module.make(run, made)
    return Analysis(**made, drift=order.drift_of(made["order"]))


def shown_of(analysis: Analysis, shown: Mapping[str, str]) -> Analysis:
    """The analysis with the shown parameters of each workload only; run order and rounds: all."""
    frames = {
        name: only(vars(analysis)[name], shown) for name in TABLES if name not in OF_ALL_SIZES
    }
    return Analysis(**vars(analysis) | frames)


def write_analysis(analysis: Analysis, folder: Path) -> None:
    """Write one CSV file per table, and drift.json, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in MODULES.items():
        frame = vars(analysis)[name]
        frame.to_csv(module.TABLE.path(folder), index=False, lineterminator="\n")
    text = json.dumps(analysis.drift, indent=1)
    (folder / "drift.json").write_text(text + "\n", encoding="utf-8")


def read_analysis(folder: Path) -> Analysis:
    """The analysis in ``folder``; KvstudyError for a file that is missing or of another kind."""
    path = folder / "drift.json"
    try:
        drift = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvstudyError(
            f"{path}: cannot be read ({error}); it is {order.TABLE.made_by}"
        ) from None
    tables = {name: module.TABLE.read(folder) for name, module in MODULES.items()}
    return Analysis(**tables, drift=drift)
