"""The content of ``config/config.yaml``: study, scale, servers."""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from kvstudy.errors import InputError
from kvstudy.language.current import check_language
from kvstudy.study.naming import problems
from kvstudy.study.reading import read_yaml

PATH = Path("config/config.yaml")
# What is in the names of files, and in commands of shells.
HOST = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
CORES = r"^\d+(-\d+)?(,\d+(-\d+)?)*$"


class _Section(BaseModel):
    """Not strict: `snakemake --config` hands in texts."""

    model_config = ConfigDict(extra="forbid")


class Ycsb(_Section):
    """The YCSB client."""

    home: str = Field(
        default="", description="Folder of an unpacked YCSB 0.17.0, whose bindings are then used."
    )


class External(_Section):
    """Servers that already run somewhere (provider external)."""

    servers: dict[str, str] = Field(default={}, description="Store and host:port of its server.")
    delete_all_data: bool = Field(
        default=False, description="Consent to delete ALL data of these servers before each cell."
    )


class Hosts(_Section):
    """Hosts of their own for the server and the clients; without ``server``, all is here."""

    launcher: str = Field(
        default="ssh {host}",
        description="Command that starts another one on {host}, for example ssh {host}.",
    )
    server: str = Field(default="", pattern=rf"{HOST}|^$", description="The server's host.")
    address: str = Field(
        default="",
        description="The server's address on the hosts' network; empty: that of its name.",
    )
    clients: list[Annotated[str, Field(pattern=HOST)]] = Field(
        default=[], description="Hosts of the clients, which are distributed over them in turn."
    )
    data: str = Field(
        default="/var/tmp",
        pattern="^/",
        description="Folder for the server's data, on a disk of its host.",
    )

    @field_validator("launcher")
    @classmethod
    def _names_the_host(cls, launcher: str) -> str:
        try:
            words = [word.format(host="host") for word in shlex.split(launcher)]
        except (ValueError, KeyError, IndexError):
            words = []
        if not words or "{host}" not in launcher:
            raise ValueError("must be a command with {host} in it, for example ssh {host}")
        return launcher

    @model_validator(mode="after")
    def _both_or_none(self) -> "Hosts":
        if bool(self.server) != bool(self.clients):
            raise ValueError("needs both server and clients: a host, and a list of hosts")
        if len(set(self.clients)) < len(self.clients):
            raise ValueError("clients: each host once; parameters.clients is how many clients run")
        return self

    @property
    def names(self) -> list[str]:
        """Each host once, the server's first."""
        return list(dict.fromkeys([self.server, *self.clients]))


class PinCpus(_Section):
    """Cores of their own for server and client."""

    server: str = Field(pattern=CORES, description="Its hardware threads, for example 0-1.")
    client: str = Field(pattern=CORES, description="Its hardware threads, for example 2,3.")

    @field_validator("server", "client", mode="before")
    @classmethod
    def _text(cls, value: object) -> object:
        """A single number needs no quotes in YAML."""
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _pins(value: object) -> object:
    # `snakemake --config pin_cpus=true` hands in a text.
    if isinstance(value, bool | dict | PinCpus) or value in ("true", "false"):
        return value
    raise ValueError("must be true, false, or keys server and client with their cores")


class Config(_Section):
    """The keys of config/config.yaml; `snakemake --config key=value` overrides each."""

    study: str = Field(description="A folder under config/studies/.")
    scale: float = Field(
        default=1.0,
        gt=0,
        allow_inf_nan=False,
        description="Factor on record and operation counts (or on time).",
    )
    source: Literal["measured", "published"] = Field(
        default="measured",
        description="published: draw the source's own values, without any server.",
    )
    measure: bool = Field(
        default=True, description="false: nothing is measured; missing cells stay gaps."
    )
    language: str = Field(
        default="en", description="Language of tables, figures and report; measured data has none."
    )
    provider: Literal["auto", "native", "docker", "external"] = Field(
        default="auto", description="How the servers run; auto: Docker if its daemon answers."
    )
    port: int = Field(default=0, ge=0, le=65535, description="Port of the servers; 0: any free.")
    external: External = External()
    hosts: Hosts = Hosts()
    ycsb: Ycsb = Ycsb()
    pin_cpus: Annotated[bool | PinCpus, BeforeValidator(_pins)] = Field(
        default=False,
        description="Pin server and client to separate cores; true: half of the usable cores each.",
    )

    @field_validator("scale", "port", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: object) -> object:
        if isinstance(value, bool):
            raise ValueError("must be a number")
        return value

    notebook_appendix: bool = Field(
        default=False, description="End the PDF with the analysis notebook, step by step."
    )
    mixed: bool = Field(
        default=False,
        description="Allow cells of several machines, versions, clients, providers in one run.",
    )

    @model_validator(mode="after")
    def _hosts_have_programs(self) -> "Config":
        if self.hosts.server and self.provider in ("docker", "external"):
            raise ValueError(
                f"hosts: the server is started there as a program, and provider is {self.provider};"
                " set provider: native, or leave hosts out"
            )
        if self.hosts.server and self.pin_cpus:
            raise ValueError(
                "hosts: server and clients share no cores there; set pin_cpus: false, or leave "
                "hosts out"
            )
        return self

    def setting_of(self, folder: str) -> dict[str, Any]:
        """Return the context of the store in that folder under envs/stores/."""
        address = self.external.servers.get(folder, "") if self.provider == "external" else ""
        pins = self.pin_cpus
        pinned = str(pins).lower() if isinstance(pins, bool) else f"{pins.server}/{pins.client}"
        return {
            "provider": self.provider,
            "port": self.port,
            "address": address,
            "delete_all_data": bool(address) and self.external.delete_all_data,
            "ycsb_home": self.ycsb.home,
            # As the commands that measure take it.
            "pin_cpus": pinned,
            "mixed": self.mixed,
            "hosts": self.hosts if self.hosts.server else None,
        }


def configured() -> Config:
    """Return the configuration; InputError names file, key and line of an error."""
    if not PATH.exists():
        raise InputError(f"{PATH}: no such file; run the command in a clone of kvstudy")
    return read_yaml(PATH, Config)


def check_config(data: dict) -> Config:
    """The configuration as Snakemake has merged it; InputError names the wrong key."""
    try:
        checked = Config.model_validate(data)
    except ValidationError as error:
        lines = [f"{PATH}: {text}" for text in problems(error, data, Config).values()]
        raise InputError("\n".join(lines)) from None
    check_language(checked.language, f"{PATH}: language")
    return checked
