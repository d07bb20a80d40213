"""Which cells a table or figure of the page is made of, with the checksums of their logs."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, ngettext
from kvstudy.language.recorded import recorded


class MadeOf:
    """What stands in a run's ``provenance.json``. KvstudyError when ``path`` is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._found = json.loads(path.read_text(encoding="utf-8"))
            self._parts = {"table": self._found["tables"], "figure": self._found["figures"]}
            self._cells = self._found["cells"]
        except OSError as error:
            raise KvstudyError(
                f"{path}: {error.strerror}; write it with 'kvstudy provenance'"
            ) from None
        except (ValueError, KeyError, TypeError):
            raise KvstudyError(
                f"{path}: not what tables and figures are made of;"
                " write it again with 'kvstudy provenance'"
            ) from None

    def listed(self, kind: str, name: str) -> str:
        """The cells of a ``table`` or ``figure`` as HTML, closed until they are asked for.

        Cells without logs are left out; "" when no cell is left.
        """
        part = self._parts[kind].get(name, {})
        measured = [path for path in part.get("cells", []) if self._cells[path]["sums"]]
        if not measured:
            return ""
        counted = sum(self._cells[path]["counts"] for path in measured)
        told = ngettext("From {} cell", "From {} cells", counted).format(counted)
        lines = [_line(path, self._cells[path]) for path in measured]
        how = _("Each with the sha256 of its file SHA256SUMS, which has those of all its raw logs.")
        return "\n".join(
            [
                f'<details class="cells"><summary>{escape(told)}</summary>',
                f"<p>{escape(how)}</p>",
                f"<ul>{''.join(lines)}</ul>",
                "</details>",
            ]
        )


def _line(path: str, cell: dict[str, Any]) -> str:
    why = _("does not count: {}").format(recorded(cell["why"])) if not cell["counts"] else ""
    told = f" <span>{escape(why)}</span>" if why else ""
    return f"<li><code>{escape(path)}</code> <code>{escape(cell['sums'])}</code>{told}</li>"
