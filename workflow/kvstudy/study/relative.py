"""Tables and figures of workloads with rounds: one store by another's, and a cache's gain.

*Relative performance* is the time of the baseline by that of the store, for the same
operations: 1:30 says that the store does in one second what takes the baseline 30.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.errors import KvstudyError
from kvstudy.study import rounds
from kvstudy.study.base import Name, Strict

if TYPE_CHECKING:
    from kvstudy.study.model import Study

Part = Literal["insert", "read", "delete"]


class OfRounds(Strict):
    """Something of a workload with rounds."""

    def check(self, study: Study, path: Path, key: str) -> None:
        """KvstudyError for names that the study does not have, or a workload without rounds."""
        from kvstudy.study.workload import properties_of

        super().check(study, path, key)
        if rounds.rounds_of(properties_of(study, study.workload(self.workload))) is None:
            raise KvstudyError(
                f"{path}: {key}.workload: '{self.workload}' has no rounds, so a {self.kind} "
                f"{key.partition('s[')[0]} has no times; name a workload of {rounds.WORKLOAD}"
            )


class TwoStores(OfRounds):
    """Whose times are compared, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    baseline: Name = Field(description="The store that is the 1 of 1:x.")
    store: Name = Field(description="The store that is compared with it.")


class Caching(OfRounds):
    """A database and what could be a cache before it, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    database: Name = Field(description="The store that holds the records.")
    cache: Name = Field(description="The store that would be its cache.")
