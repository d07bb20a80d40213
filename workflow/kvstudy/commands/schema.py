"""``kvstudy schema``"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema")
def command() -> None:
    """Write workflow/schemas/*.json and config/README.md.

    Both are made from the models that check the files; a test fails when they
    are not up to date.
    """
    from kvstudy.documentation import files

    for name, text in files().items():
        Path(name).write_text(text, encoding="utf-8")
        print(name)
