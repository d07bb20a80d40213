"""JSON schemas and tables of keys, both made from the models that validate the files."""

from __future__ import annotations

import json

from pydantic import BaseModel

from kvstudy.stores.definition import StoreFile
from kvstudy.study.config import Config
from kvstudy.study.model import Study

MODELS: dict[str, type[BaseModel]] = {"config": Config, "study": Study, "store": StoreFile}

HEADER = """\
# Configuration

This page is written by `kvstudy schema` from the models that check the files.

- `config/config.yaml` says which study is measured and how.
  `snakemake --config key=value` overrides a key.
- `config/studies/<study>/study.yaml` is a study: stores, workloads, sizes,
  tables and figures. `published.csv` beside it holds the values that its source
  published (columns study, table, store, workload, operation, metric, unit,
  value); leave it out when there are none.
- `envs/stores/<store>/store.yaml` is a store: how its server is started and how
  YCSB reaches it.
- `workloads/<name>` is a YCSB property file. `operationcount=0` makes a workload
  that has a load phase only.

An editor that knows YAML schemas checks the files while you type; the schemas
are in `workflow/schemas/`.
"""


def files() -> dict[str, str]:
    """Path and text of each generated file."""
    made = {
        f"workflow/schemas/{name}.schema.json": json.dumps(model.model_json_schema(), indent=2)
        + "\n"
        for name, model in MODELS.items()
    }
    titles = {"config": "config.yaml", "study": "study.yaml", "store": "store.yaml"}
    sections = [f"\n## {titles[name]}\n\n{_table(model)}" for name, model in MODELS.items()]
    made["config/README.md"] = HEADER + "".join(sections)
    return made


def _table(model: type[BaseModel]) -> str:
    lines = ["| key | value | meaning |", "|---|---|---|"]
    schema = model.model_json_schema()
    lines += _rows(schema, schema.get("$defs", {}), "")
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
            rows += _rows(nested, definitions, f"{key}{part}")
    return rows


def _parts(field: dict, definitions: dict) -> list[tuple[str, dict]]:
    """The models inside a field, with what stands between its key and theirs."""
    if field.get("type") == "array":
        return [("[]" + part, nested) for part, nested in _parts(field["items"], definitions)]
    choices = [field, *field.get("anyOf", []), *field.get("oneOf", [])]
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
        return " or ".join(dict.fromkeys(kinds))
    if field.get("type") == "array":
        return f"list of {_kind(field['items'], definitions)}"
    return {"object": "keys", "string": "text", "boolean": "true or false"}.get(
        field.get("type", "object"), field.get("type", "keys")
    )
