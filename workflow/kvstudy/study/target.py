"""The rate of an open-loop cell, and the closed-loop cells that it comes from."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Origin:
    """A closed-loop cell: its path, its throughput (ops/s), the digest of its SHA256SUMS."""

    cell: str
    throughput: float
    sums: str


@dataclass(frozen=True)
class Target:
    """``rate`` (ops/s over all threads) is ``load`` per cent of the mean of the origins."""

    rate: int
    load: int
    mean: float
    origins: tuple[Origin, ...]

    def as_json(self) -> dict:
        """As the manifest of the cell records it."""
        return asdict(self)

    @classmethod
    def from_json(cls, recorded: dict) -> Target:
        """The target that a manifest records; KeyError, TypeError or ValueError for another."""
        origins = tuple(Origin(**origin) for origin in recorded["origins"])
        return cls(**recorded | {"origins": origins, "mean": float(recorded["mean"])})
