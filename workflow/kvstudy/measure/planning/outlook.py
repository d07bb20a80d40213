"""What is there of a study, what is still to be measured, and what cannot be here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvstudy.language.reasons import sentence
from kvstudy.stores import providers
from kvstudy.stores.definition import Store
from kvstudy.study.cells import Cell, left_out, plan, run_name
from kvstudy.study.config import Config
from kvstudy.study.model import Study
from kvstudy.study.raw import is_gap, is_measured

# Raw logs of the calibration cells, which all studies share.
CALIBRATION = Path("results/calibration/raw")


@dataclass(frozen=True)
class Outlook:
    """The cells of a run. ``wanted`` are those that it is to have, in their order.

    ``done`` are there, ``gaps`` of them with a reason in place of logs. ``missing`` says
    why a store cannot be measured here; cells of it that are there count all the same, others are
    ``absent``.
    """

    run: str
    provider: str
    cells: list[Cell]
    wanted: list[Cell]
    done: frozenset[Cell]
    gaps: frozenset[Cell]
    missing: dict[str, str]
    absent: frozenset[Cell]

    @property
    def left(self) -> list[Cell]:
        return [cell for cell in self.wanted if cell not in self.done]


def look(study: Study, stores: dict[str, Store], config: Config, scale: float) -> Outlook:
    """The outlook of the run of ``study`` with this configuration, as Snakemake sees it."""
    run = run_name(study.name, scale)
    cells = plan(study, scale)
    provider = providers.resolve(config.provider, Path("results") / run / "raw")
    missing = {}
    for name, store in stores.items():
        address = config.external.servers.get(store.folder.name, "")
        if reason := providers.missing(store, provider, address):
            missing[name] = sentence(reason)
    done = {cell for cell in cells if is_measured(run, cell)}
    absent = {cell for cell in cells if cell.store in missing and cell not in done}
    controls = left_out(study, cells, done, absent)
    return Outlook(
        run=run,
        provider=provider,
        cells=cells,
        wanted=[cell for cell in cells if cell not in absent and cell not in controls],
        done=frozenset(done),
        gaps=frozenset(cell for cell in done if is_gap(run, cell)),
        missing=missing,
        absent=frozenset(absent - controls),
    )


def earlier_runs(study: str, run: str) -> list[Path]:
    """Raw logs of the study's runs: ``run`` itself, then the others, the largest scale first."""
    prefix = f"{study}-scale"
    others: list[tuple[float, Path]] = []
    for path in Path("results").glob(f"{study}*/raw"):
        name = path.parent.name
        if name == run:
            continue
        try:
            scale = 1.0 if name == study else float(name.removeprefix(prefix))
        except ValueError:
            # Another study, or a part of a run.
            continue
        others.append((scale, path))
    return [Path("results") / run / "raw", *(path for _, path in sorted(others, reverse=True))]
