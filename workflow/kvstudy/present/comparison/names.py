"""What stores and workloads are called, and the stores' colours."""

from __future__ import annotations

import seaborn as sns

from kvstudy.errors import KvstudyError
from kvstudy.present.comparison.matching import Matching
from kvstudy.present.comparison.runs import Run
from kvstudy.present.comparison.words import sizes
from kvstudy.present.drawing.draw import Look, looks
from kvstudy.stores.definition import Store, lighter, load_store
from kvstudy.study.load import STORES
from kvstudy.study.parts import StoreUse


def store_looks(run: Run, stores: list[str]) -> dict[str, Look]:
    """Title, colour and hatch of ``stores``, as in the figures of the run's own report.

    A store that this installation has no folder of is called as in the study.
    """
    spare = iter(sns.color_palette("colorblind", len(stores)).as_hex())
    titles, colors, seen = {}, {}, []
    for name, record in run.stores.items():
        again = seen.count(record.folder)
        seen.append(record.folder)
        if name not in stores:
            continue
        known = _known(name, record)
        titles[name] = known.title if known else record.title or name
        colors[name] = lighter(known.color, again) if known else next(spare)
    return looks(titles, colors)


def _known(name: str, record) -> Store | None:
    use = StoreUse(store=record.folder, name=name, title=record.title, options=record.options)
    try:
        return load_store(STORES / record.folder, use)
    except KvstudyError:
        return None


def workload_labels(run: Run, matching: Matching) -> dict[tuple[str, str], str]:
    """The name of each match, with its parameters where a workload has several."""
    names = [match.workload for match in matching.matches]
    return {
        (match.workload, match.parameters): _titled(run, match.workload)
        + (f", {sizes(match.parameters)}" if names.count(match.workload) > 1 else "")
        for match in matching.matches
    }


def _titled(run: Run, workload: str) -> str:
    return run.workloads[workload].title or workload
