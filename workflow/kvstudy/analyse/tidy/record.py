"""What a run keeps of its study, so that its tables can be read without the study file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from kvstudy.study.cells import Cell, closed_loop
from kvstudy.study.model import Study


class Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class StoreRecord(Record):
    """A store of the study. ``folder`` is its name under envs/stores/."""

    name: str
    folder: str
    title: str
    options: dict[str, str]


class WorkloadRecord(Record):
    """A workload of the study, with all YCSB properties but the sizes."""

    name: str
    title: str
    properties: dict[str, str]


class StudyRecord(Record):
    """The key ``study`` of ``environment.json``.

    The repetitions of an ``imported`` run only share a number: they are not paired.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    imported: bool
    stores: list[StoreRecord]
    workloads: list[WorkloadRecord]


def study_record(study: Study, cells: list[Cell]) -> StudyRecord:
    """The record of ``study``; ``cells`` is its plan. A title that it does not give is "".

    A workload that no closed-loop cell has is left out, as in a part of a plan.
    """
    properties = {cell.workload: dict(cell.properties) for cell in closed_loop(cells)}
    return StudyRecord(
        name=study.name,
        title=study.title,
        seed=study.seed,
        repetitions=study.repetitions,
        imported=study.imported is not None,
        stores=[
            StoreRecord(name=use.name, folder=use.store, title=use.title, options=use.options)
            for use in study.stores
        ],
        workloads=[
            WorkloadRecord(name=use.name, title=use.title, properties=properties[use.name])
            for use in study.workloads
            if use.name in properties
        ],
    )
