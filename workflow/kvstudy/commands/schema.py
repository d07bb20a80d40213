import json
from pathlib import Path

import click
from pydantic import BaseModel

from kvstudy.analyse.claims.file import Claims
from kvstudy.render import templates
from kvstudy.stores.definition import StoreFile, load_store
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


@click.command("schema")
def schema() -> None:
    """Regenerate the JSON schemas, config/README.md and docs/stores.md.

    The files are generated from the validation models and from the store files; a test
    fails if they are out of date.
    """
    for name, text in files().items():
        Path(name).write_text(text, encoding="utf-8")
        print(name)


def files() -> dict[str, str]:
    """Path and text of each generated file."""
    schemas = {name: model.model_json_schema() for name, model in MODELS.items()}
    outputs = {
        f"workflow/schemas/{name}.schema.json": json.dumps(schema, indent=2) + "\n"
        for name, schema in schemas.items()
    }
    pages, filters = (
        Path(__file__).with_name("pages"),
        {"line": lambda text: " ".join(text.split())},
    )
    # The kinds of tables and figures share some keys.
    rows = {
        name: dict.fromkeys(_rows(schema, schema.get("$defs", {}), ""))
        for name, schema in schemas.items()
    }
    stores = [load_store(path.parent) for path in sorted(STORES.glob("*/store.yaml"))]
    outputs["config/README.md"] = templates.fill(pages / "config.md.j2", {"models": rows}, filters)
    outputs["docs/stores.md"] = templates.fill(pages / "stores.md.j2", {"stores": stores}, filters)
    return outputs


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
    """The models inside a field, with what is between its key and theirs."""
    if field.get("type") == "array":
        return [("[]" + part, nested) for part, nested in _parts(field["items"], definitions)]
    if "$ref" in field.get("additionalProperties", ()):
        return [
            (".<name>" + part, of)
            for part, of in _parts(field["additionalProperties"], definitions)
        ]
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
