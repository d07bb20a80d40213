"""``kvstudy schema``"""

from __future__ import annotations

import json
from pathlib import Path

import click


def schemas() -> dict[str, str]:
    """File name and text of each JSON schema, made from the models that validate the files."""
    from kvstudy.stores.definition import StoreFile
    from kvstudy.study.config import Config
    from kvstudy.study.model import Study

    models = {"study": Study, "store": StoreFile, "config": Config}
    return {
        f"{name}.schema.json": json.dumps(model.model_json_schema(), indent=2) + "\n"
        for name, model in models.items()
    }


@click.command("schema")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=Path("workflow/schemas"),
    show_default=True,
    help="Folder of the schemas.",
)
def command(output: Path) -> None:
    """Write the JSON schemas of study.yaml, store.yaml and config.yaml.

    Editors check the files against them while they are typed.
    """
    output.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (output / name).write_text(text, encoding="utf-8")
        print(output / name)
