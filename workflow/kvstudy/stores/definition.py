"""The definition of a store, from its folder (``envs/stores/<store>/``)."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from kvstudy.errors import InputError
from kvstudy.language.locale import Text
from kvstudy.study.base import Operation, Strict
from kvstudy.study.controls import measured_uses
from kvstudy.study.load import STORES, STUDIES
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import Network, StoreUse
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import operations_of, properties_of
from kvstudy.study.ycsb_properties import property_problems

SERVERS = Path("servers")


def _check_properties(properties: dict[str, str]) -> dict[str, str]:
    for name, problem in property_problems(properties):
        raise ValueError(f"{name}: {problem}")
    return properties


# YCSB's, or any of the binding.
Properties = Annotated[dict[str, str], AfterValidator(_check_properties)]


class Official(Strict):
    """The store's binding in YCSB's own distribution."""

    binding: str = Field(description="Folder of the distribution, <binding>-binding.")
    db: str = Field(description="Class of YCSB's own binding.")


class Binding(Strict):
    """YCSB's access to the store."""

    db: str = Field(description="Class of kvstudy's binding.")
    official: Official | None = None
    properties: Properties = Field(
        default={},
        description="YCSB properties; {host} and {port} are filled in, {data} if it is embedded.",
    )


class Package(Strict):
    """A package of the server's makers, for machines of one kind."""

    version: str
    machine: str = Field(description="As `uname -m` calls it.")
    glibc: str = Field(description="The oldest version of the C library that it runs with.")
    url: str = Field(description="The vendor's address: a .deb file or a .tgz archive.")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    license: str = Field(description="SPDX identifier.")

    @property
    def file(self) -> str:
        return self.url.rpartition("/")[2]


class ProviderCommands(Strict):
    """The commands of a provider that run the server."""

    command: list[str] = Field(
        description="Of the program, or arguments of the image; {host}, {port}, {data} (the "
        "cell's folder for data, or the container's) and {ports[name]} are filled in, for a "
        "program also {program}, {servers} (servers/<store>) and {user}."
    )
    environment: dict[str, str] = Field(default={}, description="Variables, filled in likewise.")
    files: dict[str, str] = Field(
        default={},
        description="Files of the data folder, or of the container by their full path, made from "
        "files of the store's folder; $host, $port and so on are filled in.",
    )
    ports: list[str] = Field(default=[], description="Names of further ports of the server.")
    after_start: list[list[str]] = Field(
        default=[],
        description="Commands that a server needs next to it to get ready, in the container if it "
        "has one; filled in likewise. From when its port is open on, each runs again and again "
        "until it ends with status 0, then the next.",
    )


class Native(ProviderCommands):
    """The server as a program of this machine."""

    program: str = Field(
        description=(
            "The program, on the path or in servers/<store>/, where the store's install puts it."
        )
    )
    refuse: str | None = Field(
        default=None,
        description="A word in the output of <program> --version that identifies another product.",
    )
    prepare: list[list[str]] = Field(
        default=[], description="Commands that prepare the data folder; filled in likewise."
    )
    user: str | None = Field(
        default=None, description="The user to become when started by root, if it refuses root."
    )
    other_hosts: bool = Field(
        default=True,
        description="false: as configured, the server accepts only local clients.",
    )
    packages: list[Package] = Field(
        default=[],
        description="Packages that `kvstudy servers` accepts. The first one for the machine is "
        "downloaded.",
    )
    release: str = Field(
        default="", description="The folder of a package that becomes servers/<store>."
    )
    remedy: Text = Field(description="How to get the program.")


class Docker(ProviderCommands):
    """The server as a container; it shares the host's network and binds to loopback."""

    image: str = Field(description="Image with an exact version.")
    data: str = Field(default="", description="The container's folder that {data} stands for.")


class Deviation(Strict):
    """A setting that is not as shipped."""

    setting: Text
    reason: Text


Kind = Literal["memory", "disk", "embedded"]


class Choice(Strict):
    """One value of an option, and what differs with it."""

    title: Text = Field(description="Name in text, tables and figures.")
    kind: Kind | None = Field(default=None, description="Its kind of store, if it is another.")
    arguments: list[str] = Field(
        default=[],
        description="What is added to the server's command, of every provider that starts one; "
        "filled in as the command is. The report lists it, and what the server says of the "
        "settings that it names. After a change of it, the cells are measured again.",
    )
    properties: Properties = Field(
        default={}, description="YCSB properties, laid over those of ycsb.properties."
    )
    operations: dict[str, Text] = Field(
        default={}, description="What an operation does then, laid over operations."
    )


class Option(Strict):
    """Something about a store that a study chooses."""

    description: str = Field(description="The option, as a question to the user.")
    default: str = Field(description="The default choice.")
    choices: dict[str, Choice] = Field(description="Name of each choice and what it means.")

    @model_validator(mode="after")
    def _default_is_a_choice(self) -> Option:
        if self.default not in self.choices:
            raise ValueError(f"the default '{self.default}' is none of the choices")
        return self


class StoreFile(Strict):
    """The content of a store.yaml."""

    title: str = Field(description="Name in text, tables and figures.")
    homepage: str = Field(default="", description="Its web address, for the bibliography.")
    color: str = Field(pattern=r"^#[0-9a-f]{6}$", description="Its colour in every figure.")
    kind: Kind = Field(
        description="Where records are: in the server's memory alone, on its disk, or embedded: "
        "the binding is the store, in YCSB's own process. Embedded stores are compared with each "
        "other only."
    )
    ycsb: Binding | None = Field(
        default=None, description="Omit if kvstudy has no YCSB binding for the store."
    )
    native: Native | None = None
    docker: Docker | None = None
    side_ports: dict[str, int] = Field(
        default={},
        description="Further ports that are found from the server's port: name and distance. "
        "They are filled in as {ports[name]}.",
    )
    ready_seconds: float = Field(
        default=30, gt=0, description=("Time limit until the server is ready (s).")
    )
    stop_signal: Literal["TERM", "KILL"] = Field(
        default="TERM", description="How the server is stopped after the cell."
    )
    deviations: list[Deviation] = Field(
        default=[], description=("All deviations from the default settings.")
    )
    unsupported: list[Operation] = Field(
        default=[],
        description=("Operations that the store does not support; studies cannot use them."),
    )
    operations: dict[str, Text] = Field(
        default={}, description="What each operation does on this store, in one sentence."
    )
    misses: str | None = Field(
        default=None,
        description="Which of the server's counters (verbs.py: counters) counts reads of keys that "
        "are not there.",
    )
    counts_requests: bool = Field(
        default=True,
        description="Whether each command that the server counts (verbs.py: counters) is one "
        "request, whose response the client awaits: then they show the round trips of an "
        "operation. false: it counts rows, or one request several times.",
    )
    losses: list[str] = Field(
        default=[],
        description="Which of the server's counters count records that it dropped: of itself, or "
        "because somebody told it to. A cell in whose run one of them rose is invalid.",
    )
    options: dict[str, Option] = Field(
        default={},
        description="The options of the store, for stores[].options of a study.",
    )

    @property
    def embedded(self) -> bool:
        """Return whether there is no server."""
        return self.kind == "embedded"

    @property
    def inside(self) -> bool:
        """Return whether the records are inside the client."""
        return bool(self.ycsb) and any("{data}" in text for text in self.ycsb.properties.values())

    @model_validator(mode="after")
    def _can_be_filled_in(self) -> StoreFile:
        """Better here than when the server is to start."""
        if self.options and not self.ycsb:
            raise ValueError("options: are choices of a binding, and the key ycsb is missing")
        choices = [each for option in self.options.values() for each in option.choices.values()]
        known = {"data"} if self.embedded else {"host", "port"}
        for part in filter(None, (self.ycsb, *choices)):
            _check_filled(part.properties.values(), known)
        arguments = [choice.arguments for choice in choices]
        for way in filter(None, (self.native, self.docker)):
            lines = [way.command, *arguments, *way.after_start, way.environment.values()]
            known = {"host", "port", "data"}
            known |= {f"ports[{name}]" for name in (*way.ports, *self.side_ports)}
            if way is self.native:
                lines += way.prepare
                known |= {"program", "servers", "user"}
            _check_filled(itertools.chain(*lines), known)
        return self


def _check_filled(texts: Iterable[str], known: set[str]) -> None:
    """ValueError for a text that asks for something that is not ``known``."""
    for text in texts:
        try:
            parts = list(string.Formatter().parse(text))
        except ValueError as error:
            raise ValueError(f"'{text}': {error}; write a brace that stays twice") from None
        for _, name, form, conversion in parts:
            if name is not None and (name not in known or form or conversion):
                names = ", ".join(f"{{{each}}}" for each in sorted(known))
                raise ValueError(f"'{text}': {{{name}}} cannot be filled in; there are {names}")


class Store(StoreFile):
    """A system under test, as a study uses it.

    ``folder`` holds its store.yaml and verbs.py. ``name`` is what the study
    calls it; a study may have a folder's store under several names. ``product`` is the
    title that its store.yaml gives it, ``title`` that of the study. ``chosen`` are the study's
    choices of its options, ``network`` is that of ``StoreUse``.
    """

    folder: Path
    name: str
    product: str
    chosen: dict[str, str]
    network: Network | None = None

    @property
    def file(self) -> Path:
        return self.folder / "store.yaml"

    @property
    def choices(self) -> dict[str, Choice]:
        """The study's choice of each option, or the default."""
        return {
            name: option.choices[self.chosen.get(name, option.default)]
            for name, option in self.options.items()
        }

    @property
    def arguments(self) -> list[str]:
        """Return the arguments that the options add to the server's command."""
        return [each for choice in self.choices.values() for each in choice.arguments]

    @property
    def installed(self) -> Path:
        """Return the folder in which ``install`` puts a server that no distribution packages."""
        return SERVERS / self.folder.name

    @cached_property
    def verbs(self) -> ModuleType:
        """The store's verbs.py; all take host and port.

        ``version`` and ``records`` ask the server in its own protocol and raise OSError or
        ValueError while it does not answer. ``settings``, if there is one, are those that the
        server shows, by name. ``create``, if there is one, makes the empty table
        that YCSB needs, with a column for each of the fields that it takes too. ``empty`` deletes
        all data (external servers, with consent only). For the probe, if there are any:
        ``counters``, running totals under the server's own names, those that end in hits or misses
        count results, all others commands; ``record_bytes``, the mean of a stored record, or None.
        """
        path = self.folder / "verbs.py"
        if not path.is_file():
            raise InputError(f"{path}: no such file; it must define version() and records()")
        module = ModuleType(f"kvstudy_verbs_{self.name}")
        module.__file__ = str(path)
        try:
            # Not imported: Python's cache of it misses an edit of the same length and second, and
            # would be in the store's folder.
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
        except Exception as error:  # It is a program of somebody's.
            line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
            raise InputError(f"{path}: cannot be imported: {error!r}{line}; mend it") from None
        return module


def load_store(folder: Path, use: StoreUse | None = None, where: str = "") -> Store:
    """The store in ``folder`` with the choices of ``use``, else with its defaults.

    InputError names file and key of what is wrong; ``where`` is the place of ``use``.
    """
    use = use or StoreUse(store=folder.name)
    store = read_yaml(folder / "store.yaml", StoreFile)
    for name in use.options:
        if name not in store.options:
            offered = f"it has: {', '.join(store.options)}" if store.options else "it has none"
            raise InputError(f"{where}options: {store.title} has no option '{name}'; {offered}")
    for key in ("delay", "network"):
        if store.embedded and getattr(use, key) is not None:
            raise InputError(
                f"{where}{key}: {store.title} runs in the client's process, and no request travels"
            )
    data = store.model_dump() | {"chosen": use.options, "network": use.network}
    for name, option in store.options.items():
        value = use.options.get(name, option.default)
        if value not in option.choices:
            hint = did_you_mean(value, list(option.choices))
            raise InputError(f"{where}options.{name}: unknown choice '{value}'{hint}")
        data["operations"] |= option.choices[value].operations
        data["ycsb"]["properties"] |= option.choices[value].properties
        data["kind"] = option.choices[value].kind or data["kind"]
        for way in filter(None, (data["native"], data["docker"])):
            way["command"] += option.choices[value].arguments
    chosen = [store.options[name].choices[value].title for name, value in use.options.items()]
    chosen += [] if use.network is None else [use.network]
    chosen += [] if use.delay is None else [f"+{use.delay} µs"]
    store_title = f"{store.title} ({', '.join(chosen)})" if chosen else store.title
    data["title"] = use.title or store_title
    return Store.model_validate(data | {"folder": folder, "name": use.name, "product": store.title})


def load_stores(study: Study, uses: list[StoreUse] | None = None) -> dict[str, Store]:
    """The stores of the study, or those of ``uses``, by their names and in their order.

    A store that is there again gets a lighter colour each time.
    """
    stores: dict[str, Store] = {}
    for index, use in enumerate(study.stores if uses is None else uses):
        where = f"{STUDIES / study.name / 'study.yaml'}: stores[{index}]."
        store = load_store(STORES / use.store, use, where)
        again = sum(other.folder == store.folder for other in stores.values())
        stores[use.name] = store.model_copy(update={"color": lighter(store.color, again)})
    return stores


def lighter(color: str, times: int) -> str:
    """``#rrggbb`` mixed half and half with white, ``times`` over."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(255 - (255 - part) / 2**times):02x}" for part in parts)


def stores_to_measure(study: Study, path: Path) -> dict[str, Store]:
    """The stores of the study in the file ``path``, in its order, and its controls.

    InputError when a workload asks a store for what it cannot do.
    """
    stores = load_stores(study, measured_uses(study))
    if study.imported:
        # What somebody measured is there, or is a gap.
        return stores
    if study.parameters.several:
        for name, store in stores.items():
            if store.inside:
                raise InputError(
                    f"{path}: parameters.clients: the records of '{name}' are inside one client, "
                    "and several clients would each have others; remove the key, or leave out the "
                    "store"
                )
    for index, use in enumerate(study.workloads):
        properties = properties_of(study, use)
        operations = operations_of(properties)
        for name, store in stores.items():
            if use.stores and name not in use.stores:
                continue
            for known in sorted(properties.keys() & (store.ycsb.properties if store.ycsb else {})):
                raise InputError(
                    f"{path}: workloads[{index}]: the property '{known}' of workload '{use.name}' "
                    f"is one that {store.file} sets; remove it, or make it an option there"
                )
            for operation in set(store.unsupported).intersection(operations):
                raise InputError(
                    f"{path}: workloads[{index}]: workload '{use.name}' has the operation "
                    f"{operation}, which {store.title} cannot do; leave out the workload or the "
                    f"store '{name}', or name those that can under the workload's key 'stores'"
                )
    return stores
