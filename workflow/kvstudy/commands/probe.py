from pathlib import Path

import click

from kvstudy.commands.options import completed, measuring, study_to_measure
from kvstudy.errors import KvstudyError


@click.command("probe")
@click.argument("store")
@measuring
def command(store: str, study: Path, scale: float, **setting) -> None:
    """Find out what one operation makes the server of STORE do.

    Starts a fresh server on loopback and runs a few thousand operations of each
    kind, also on keys that are not there. What the server counted, and how
    large its records were before and after, goes to results/RUN/probes/STORE/
    with YCSB's logs; logs of a failed probe go to results/RUN/failed/probes/.
    The report makes a table of it.
    """
    from kvstudy.measure.cell import probe_store
    from kvstudy.measure.controller import stop_on_signals
    from kvstudy.measure.setting import Setting
    from kvstudy.stores.definition import stores_to_measure
    from kvstudy.study.cells import plan, run_name
    from kvstudy.study.naming import did_you_mean
    from kvstudy.study.probe import planned

    stop_on_signals()
    loaded = study_to_measure(study)
    if store not in loaded.store_names:
        hint = did_you_mean(store, loaded.store_names)
        raise KvstudyError(f"{study}: stores: the study has no store '{store}'{hint}")
    found = stores_to_measure(loaded, study)[store]
    cells = frozenset(cell.path for cell in plan(loaded, scale))
    setting = completed(setting, found.folder.name)
    request = Setting(run=run_name(loaded.name, scale), store=found, planned=cells, **setting)
    print(probe_store(request, planned(loaded)[store]))
