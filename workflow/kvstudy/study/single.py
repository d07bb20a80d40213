"""One cell outside any study, for `kvstudy run`."""

from __future__ import annotations

from pathlib import Path

from kvstudy.study.cells import Cell, plan
from kvstudy.study.model import Study
from kvstudy.study.parts import Parameters, StoreUse, WorkloadUse
from kvstudy.study.raw import raw_directory

# Where the results of such cells lie, below results/.
RUN = "single-cells"


def single_study(
    store: str, options: dict[str, str], workload: str, records: int, operations: int, threads: int
) -> Study:
    """A study of this one cell."""
    # Each choice has results of its own.
    name = "-".join([store, *(value for _, value in sorted(options.items()))])
    return Study(
        name=RUN,
        title="Single cells",
        question="How fast is it?",
        stores=[StoreUse(store=store, name=name, options=options)],
        workloads=[WorkloadUse(name=workload)],
        parameters=Parameters(records=records, operations=operations, threads=threads),
        repetitions=1,
        noise_floor=False,
        client_ceiling=False,
    )


def next_cell(study: Study) -> Cell:
    """The cell as its next repetition: a run never replaces an earlier one."""
    repetition = 1
    while True:
        cell = plan(study.model_copy(update={"repetitions": repetition}))[-1]
        if not Path(raw_directory(RUN, cell)).exists():
            return cell
        repetition += 1
