"""The number of clients that a store needs, from the trial cells of ``clients: auto``.

So many are enough that twice as many are surely less than 5 % faster: the 95 % interval of the
ratio of their throughputs is below 1.05.
"""

from __future__ import annotations

import json

from kvstudy.analyse.tidy.cell import MANIFEST
from kvstudy.analyse.tidy.collect import collect
from kvstudy.analyse.tidy.files import counting
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.stats.intervals import Interval, log_t_interval
from kvstudy.study.cells import TRIALS, Cell, NotNow
from kvstudy.study.controls import clients_of_trial, original
from kvstudy.study.model import Study
from kvstudy.study.parts import AUTO
from kvstudy.study.raw import is_gap, is_measured, raw_directory

ENOUGH = 1.05


def needed(rows: pd.DataFrame) -> tuple[int | None, Interval | None]:
    """Return the number of clients that suffice, and the ratio of twice as many to it.

    Of ``rows`` with store, repetition and value: throughputs of the trial cells of one store.
    Without the second, they are the most that were tried, and no number was found to be enough.
    None and None without any.
    """
    runs = {
        clients: of.set_index("repetition")["value"]
        for clients, of in rows.groupby(rows["store"].map(clients_of_trial))
    }
    for clients in sorted(runs):
        ratios = (runs[2 * clients] / runs[clients]).dropna() if 2 * clients in runs else ()
        more = log_t_interval(ratios) if len(ratios) else None
        if more and more.high is not None and more.high < ENOUGH:
            return clients, more
    return max(runs, default=None), None


def with_clients(study: Study, cells: list[Cell], cell: Cell, run: str) -> Cell | NotNow:
    """``cell`` with the clients that its store needs, or why it is not measured.

    A trial cell is not, once fewer clients were found to be enough. All repetitions have the
    number of the first one that was measured.
    """
    trial = clients_of_trial(cell.store)
    if trial is None and cell.clients != AUTO:
        return cell
    store = original(study, cell.store)
    of_store = [
        each
        for each in cells
        if each.workload == cell.workload and original(study, each.store) == store
    ]
    tried = [each for each in of_store if clients_of_trial(each.store)]
    if trial is None:
        for each in of_store:
            same = (each.clients, each.parameters) == (AUTO, cell.parameters)
            if same and is_measured(run, each) and not is_gap(run, each):
                manifest = raw_directory(run, each) / MANIFEST
                recorded = json.loads(manifest.read_text(encoding="utf-8"))
                return cell.with_clients(recorded["cell"]["clients"])
        if missing := [each.path for each in tried if not is_measured(run, each)]:
            words = {"n": len(missing), "first": missing[0]}
            return NotNow(reason("no-trials", **words), final=False)
    else:
        step = (cell.repetition - 1) // TRIALS
        tried = [each for each in tried if (each.repetition - 1) // TRIALS < step]
    collected = collect(study, tried, run, mixed=True).tables
    counted = counting(collected["cells"])[["store", "repetition"]]
    rows = throughputs(collected["measurements"])
    rows = rows[rows["phase"] == cell.measured_phase].merge(counted)
    clients, more = needed(rows)
    if trial is None:
        return cell.with_clients(clients and min(clients, cell.threads))
    if more:
        return NotNow(reason("enough-clients", n=clients), final=True)
    return cell
