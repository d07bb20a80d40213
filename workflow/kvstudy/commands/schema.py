"""``kvstudy schema``"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema")
def command() -> None:
    """Write workflow/schemas/*.json, config/README.md and docs/stores.md.

    They are made from the models that check the files and from the store files;
    a test fails when they are not up to date.
    """
    from kvstudy.documentation import files

    for name, text in files().items():
        Path(name).write_text(text, encoding="utf-8")
        print(name)
