"""The notebook for a user's own questions on a run."""

from __future__ import annotations

import json
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.whole_file import put

RUN_LINE = 'run = ""'


def write_questions(run: Run, template: Path) -> Path:
    """Write the notebook for the run unless it is there; returns its path."""
    path = run.folder / template.name
    if not path.exists():
        book = json.loads(template.read_text(encoding="utf-8"))
        for cell in book["cells"]:
            cell["source"] = [
                line.replace(RUN_LINE, f"run = {json.dumps(run.name)}") for line in cell["source"]
            ]
        put((json.dumps(book, ensure_ascii=False, indent=1) + "\n").encode(), path)
    return path
