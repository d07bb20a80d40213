"""What a store's folder (``envs/stores/<store>/``) says about it."""

from __future__ import annotations

import importlib.util
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from kvstudy.errors import KvstudyError
from kvstudy.study.load import STORES, WORKLOADS, read_yaml
from kvstudy.study.model import Operation, Study
from kvstudy.study.workload import load_workload, operations_of


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Official(Strict):
    """The store's binding in YCSB's own distribution."""

    binding: str = Field(description="Folder of the distribution, <binding>-binding.")
    db: str = Field(description="Class of YCSB's own binding.")


class Ycsb(Strict):
    """How YCSB reaches the store."""

    db: str = Field(description="Class of our binding.")
    official: Official | None = None
    properties: dict[str, str] = Field(
        default={}, description="YCSB properties; {host} and {port} are filled in."
    )


class Native(Strict):
    """The server as a program of this machine."""

    program: str = Field(
        description="On the path, or below servers/<store>/, where the store's install puts it."
    )
    refuse: str | None = Field(
        default=None,
        description="A word by which <program> --version tells that it is another product.",
    )
    command: list[str] = Field(
        description="{program}, {host}, {port}, {data} (the cell's folder for data), {servers} "
        "(servers/<store>) and {ports[name]} are filled in."
    )
    prepare: list[list[str]] = Field(
        default=[], description="Commands that make the data folder ready; filled in likewise."
    )
    environment: dict[str, str] = Field(default={}, description="Variables, filled in likewise.")
    files: dict[str, str] = Field(
        default={},
        description="Files of the data folder, made from files of the store's folder; "
        "$host, $port and so on are filled in.",
    )
    ports: list[str] = Field(default=[], description="Names of further ports that it needs.")
    user: str | None = Field(
        default=None, description="The user to become when started by root, if it refuses root."
    )
    remedy: str = Field(description="How to get the program.")


class Docker(Strict):
    """The server as a container; it shares the host's network and binds to loopback."""

    image: str = Field(description="Image with an exact version.")
    command: list[str] = Field(description="Arguments of the image; {host}, {port} are filled in.")
    environment: dict[str, str] = Field(default={}, description="Variables, filled in likewise.")


class Deviation(Strict):
    """A setting that is not as shipped."""

    setting: str
    reason: str


class StoreFile(Strict):
    """What may stand in a store.yaml."""

    title: str = Field(description="Name in text, tables and figures.")
    color: str = Field(pattern=r"^#[0-9a-f]{6}$", description="Its colour in every figure.")
    ycsb: Ycsb | None = Field(
        default=None, description="Left out while kvstudy has no YCSB binding for the store."
    )
    native: Native | None = None
    docker: Docker | None = None
    in_process: bool = Field(
        default=False, description="True for a binding that needs no server (YCSB's basic)."
    )
    ready_seconds: float = Field(default=30, gt=0, description="Limit for getting ready.")
    stop_signal: Literal["TERM", "KILL"] = Field(
        default="TERM", description="How the server is stopped after the cell."
    )
    deviations: list[Deviation] = Field(default=[], description="All that is not as shipped.")
    unsupported: list[Operation] = Field(
        default=[], description="Operations that the store cannot do; studies must not ask for it."
    )
    operations: dict[str, str] = Field(
        default={}, description="What each operation does on this store, in one sentence."
    )


class Store(StoreFile):
    """A system under test. ``folder`` holds its store.yaml and verbs.py."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def verbs(self) -> ModuleType:
        """The store's verbs.py.

        ``version(host, port)`` and ``records(host, port)`` ask the server in its own
        protocol and raise OSError or ValueError while it does not answer.
        ``create(host, port)``, if there is one, makes the empty table that YCSB needs.
        ``empty(host, port)`` deletes all data (external servers, with consent only).
        """
        path = self.folder / "verbs.py"
        if not path.is_file():
            raise KvstudyError(f"{path}: no such file; it must define version() and records()")
        spec = importlib.util.spec_from_file_location(f"kvstudy_verbs_{self.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def load_store(folder: Path) -> Store:
    """The store in ``folder``; KvstudyError names file and key of what is wrong."""
    data = read_yaml(folder / "store.yaml", StoreFile).model_dump()
    return Store.model_validate(data | {"folder": folder})


def load_stores(names: list[str]) -> dict[str, Store]:
    """The stores called ``names``, in that order."""
    return {name: load_store(STORES / name) for name in names}


def load_stores_of(study: Study, path: Path) -> dict[str, Store]:
    """The stores of the study in the file ``path``, in its order.

    KvstudyError when a workload asks a store for what it cannot do: better
    before the first cell than after hours.
    """
    stores = load_stores(study.stores)
    for index, use in enumerate(study.workloads):
        operations = operations_of(load_workload(WORKLOADS / use.name))
        for store in stores.values():
            for operation in set(store.unsupported).intersection(operations):
                raise KvstudyError(
                    f"{path}: workloads[{index}]: workload '{use.name}' has the operation "
                    f"{operation}, which {store.title} cannot do; leave out the workload, or the "
                    f"store '{store.name}'"
                )
    return stores
