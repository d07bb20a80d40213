"""``kvstudy schema``: pages and schemas made from models and store files, so they stay true."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pydantic import BaseModel

from kvstudy.analyse.claims.file import Claims
from kvstudy.stores.definition import Store, StoreFile, load_store
from kvstudy.study.config import Config
from kvstudy.study.load import STORES
from kvstudy.study.model import Study
from kvstudy.study.properties import StoreProperties
from kvstudy.study.quotes import Quotes

MODELS: dict[str, type[BaseModel]] = {
    "config": Config,
    "study": Study,
    "claims": Claims,
    "quotes": Quotes,
    "store": StoreFile,
    "properties": StoreProperties,
}

HEADER = """\
# Configuration

This page is written by `kvstudy schema` from the models that check the files.

- `config/config.yaml` says which study is measured and how.
  `snakemake --config key=value` overrides a key.
- `config/studies/<study>/study.yaml` is a study: stores, workloads, sizes,
  tables and figures. `published.csv` beside it holds the values that its source
  published (columns study, table, store, workload, operation, metric, unit,
  value, and if need be records, operations, threads, and printed: the value as the source
  has it, where that is no number or has other digits); leave it out when there are none.
  A line that names an unknown store or is no number is refused. `claims.yaml` beside it
  holds what its source says it found, `quotes.yaml` the numbers in the source's text, for
  the audit of the source; both may be left out.
- `envs/stores/<store>/store.yaml` is a store: how its server is started and how
  YCSB reaches it. `properties.yaml` beside it says what the store is, with
  sources; only a study with a table of kind `properties` needs it.
- `workloads/<name>` is a YCSB property file. `operationcount=0` makes a workload
  that has a load phase only.

An editor that knows YAML schemas checks the files while you type; the schemas
are in `workflow/schemas/`.
"""

STORES_HEADER = """\
# The stores, and why the comparison is fair

This page is written by `kvstudy schema` from `envs/stores/*/store.yaml`.

- Every server runs as it is shipped. Only address, port and data folder are set,
  and what a store lists below as *not as shipped*, each with its reason. The
  report lists the same.
- Every cell gets a fresh server without data, on 127.0.0.1. Client and server
  share the machine, for all stores alike. With Docker the container shares the
  host's network: a published port would measure Docker's proxy.
- Every store is driven by the same YCSB client with as many connections as client
  threads. A binding does what YCSB's own binding does, so one YCSB operation is
  not the same work on each store; the last rows of each table say what it is.
"""


@click.command("schema")
def command() -> None:
    """Write workflow/schemas/*.json, config/README.md and docs/stores.md.

    They are made from the models that check the files and from the store files;
    a test fails when they are not up to date.
    """
    for name, text in files().items():
        Path(name).write_text(text, encoding="utf-8")
        print(name)


def files() -> dict[str, str]:
    """Path and text of each generated file."""
    made = {
        f"workflow/schemas/{name}.schema.json": json.dumps(model.model_json_schema(), indent=2)
        + "\n"
        for name, model in MODELS.items()
    }
    sections = [f"\n## {name}.yaml\n\n{_table(model)}" for name, model in MODELS.items()]
    made["config/README.md"] = HEADER + "".join(sections)
    stores = [load_store(path.parent) for path in sorted(STORES.glob("*/store.yaml"))]
    made["docs/stores.md"] = STORES_HEADER + "".join(_store_section(store) for store in stores)
    return made


def _store_section(store: Store) -> str:
    rows = []
    if store.ycsb is None:
        rows.append(("YCSB binding", "none yet: the store cannot be measured"))
    else:
        rows.append(("YCSB binding", f"`{store.ycsb.db}`"))
    if store.native:
        rows.append(("native", f"`{' '.join(store.native.command)}`"))
    if store.docker:
        rows.append(("docker", f"`{store.docker.image}` `{' '.join(store.docker.command)}`"))
    rows += [
        (f"not as shipped: {deviation.setting}", deviation.reason) for deviation in store.deviations
    ]
    for name, option in store.options.items():
        choices = [
            f"`{value}`{' (the default)' if value == option.default else ''}: {choice.title}"
            for value, choice in option.choices.items()
        ]
        rows.append((f"option `{name}`", f"{option.description} {'; '.join(choices)}."))
    rows += store.operations.items()
    rows += [
        (f"{operation}, {name} {value}", text)
        for name, option in store.options.items()
        for value, choice in option.choices.items()
        for operation, text in choice.operations.items()
    ]
    rows += [(operation, "not supported") for operation in store.unsupported]
    lines = "".join(f"| {name} | {' '.join(text.split())} |\n" for name, text in rows)
    return f"\n## {store.title}\n\n| | |\n|---|---|\n{lines}"


def _table(model: type[BaseModel]) -> str:
    lines = ["| key | value | meaning |", "|---|---|---|"]
    schema = model.model_json_schema()
    # The kinds of tables and figures share some keys.
    lines += dict.fromkeys(_rows(schema, schema.get("$defs", {}), ""))
    return "\n".join(lines) + "\n"


def _rows(schema: dict, definitions: dict, prefix: str) -> list[str]:
    rows = []
    for name, field in schema.get("properties", {}).items():
        key = f"{prefix}{name}"
        meaning = field.get("description", "")
        if "default" in field and field["default"] not in ("", [], {}, None):
            default = json.dumps(field["default"])
            meaning += f" Default: `{default}`."
        rows.append(f"| `{key}` | {_kind(field, definitions)} | {meaning.strip()} |")
        for part, nested in _parts(field, definitions):
            # A computation of computations is told once.
            if nested is not schema:
                rows += _rows(nested, definitions, f"{key}{part}")
    return rows


def _parts(field: dict, definitions: dict) -> list[tuple[str, dict]]:
    """The models inside a field, with what stands between its key and theirs."""
    if field.get("type") == "array":
        return [("[]" + part, nested) for part, nested in _parts(field["items"], definitions)]
    choices = [field, *field.get("anyOf", []), *field.get("oneOf", [])]
    # Optional, of several kinds.
    choices += [each for choice in field.get("anyOf", []) for each in choice.get("oneOf", [])]
    names = [choice["$ref"].rsplit("/", 1)[1] for choice in choices if "$ref" in choice]
    return [(".", definitions[name]) for name in names]


def _kind(field: dict, definitions: dict) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    choices = field.get("anyOf") or field.get("oneOf")
    if choices:
        kinds = [_kind(choice, definitions) for choice in choices if choice.get("type") != "null"]
        return " or ".join(dict.fromkeys(" or ".join(kinds).split(" or ")))
    if field.get("type") == "array":
        return f"list of {_kind(field['items'], definitions)}"
    return {"object": "keys", "string": "text", "boolean": "true or false"}.get(
        field.get("type", "object"), field.get("type", "keys")
    )
