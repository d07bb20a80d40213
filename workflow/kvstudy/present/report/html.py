"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import csv
import html
import json
import math
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, current, ngettext, using
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.present import templates
from kvstudy.present.drawing.page import inline, scripts, styles
from kvstudy.present.report.document import (
    Front,
    Parts,
    citations,
    convert,
    filters,
    read_document,
    words_of,
)
from kvstudy.whole_file import put

# Of a figure with more rows the page has the first ones, and says so.
MOST_ROWS = 200
# Before the first element, and what says who made the file.
HEADER = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->", re.S)
# Not of transforms, which may make letters from numbers in the thousands.
GEOMETRY = re.compile(r' (?:d|points)="[^"]*"')
# As Matplotlib draws a circle; the patterns of bars have hundreds.
CIRCLE = re.compile(r"M (\S+ \S+)\s+(?:C [^A-Zz]*){3}C [^A-Zz]*?(\S+ \S+)\s+(?:C [^A-Zz]*){4}z")
LONG = re.compile(r"-?\d+\.\d{3,}")


def page_words() -> dict[str, str]:
    """Words by their keys; names in braces are put in where they are shown."""
    return {
        "lang": current(),
        "skip": _("Skip to the text"),
        "menu": _("Contents and filter"),
        "contents": _("Contents"),
        "filter": _("Show"),
        "stores": _("Stores"),
        "workloads": _("Workloads"),
        "top": _("Back to the top"),
        "link": _("Link to this place"),
        "dark": _("Dark"),
        "light": _("Light"),
        "sort": _("Sort by this column"),
        "ascending": _("Sorted by {column}, smallest first"),
        "descending": _("Sorted by {column}, largest first"),
        "none": _("In the order of the report"),
        "hidden": _("Filtered, not complete. Hidden: {names}. The text still speaks of all."),
        "filtered_mark": _("filtered"),
        "show_all": _("Show all"),
        "all_shown": _("All stores and workloads are shown"),
        "static": _("Static drawing"),
        "interactive": _("Interactive chart"),
        "values": _("Values"),
        "values_from": _("The file {file}."),
        "values_first": _("Here are the first {shown} of {rows} rows."),
    }


def as_data(path: Path) -> str:
    """The SVG file as a data address for an attribute in double quotes.

    Coordinates keep two decimals of a point: a third of the size. KvstudyError when the file
    cannot be read.
    """
    try:
        drawing = path.read_text(encoding="utf-8")
    except OSError as error:
        raise KvstudyError(f"{path}: {error.strerror}; write it with 'kvstudy draw'") from None
    drawing = GEOMETRY.sub(_shorter, HEADER.sub("", drawing))
    drawing = re.sub(r">\s+<", "><", drawing.strip())
    return "data:image/svg+xml," + quote(drawing, safe=" !$()*+,-./:;=?@_|~")


def _shorter(found: re.Match[str]) -> str:
    arcs = CIRCLE.sub(_arcs, found[0])
    numbers = LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), arcs)
    return re.sub(r"\s+", " ", numbers)


def _arcs(circle: re.Match[str]) -> str:
    """Two arcs, from a point to the one across and back."""
    here, across = circle.groups()
    diameter = math.dist([float(n) for n in here.split()], [float(n) for n in across.split()])
    radius = f"A {diameter / 2:.6f} {diameter / 2:.6f} 0 1 0"
    return f"M {here} {radius} {across} {radius} {here} z"


def values_table(figures: Path, name: str) -> str:
    """The figure's CSV as HTML, closed until it is asked for. KvstudyError when it is missing."""
    path = figures / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
    except OSError as error:
        raise KvstudyError(f"{path}: {error.strerror}; write it with 'kvstudy draw'") from None
    except (ValueError, csv.Error):
        raise KvstudyError(f"{path}: not a CSV file; write it again with 'kvstudy draw'") from None
    words = page_words()
    heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = [
        "".join(["<tr>", *(f"<td>{escape(_shown(cell))}</td>" for cell in row), "</tr>"])
        for row in rows[:MOST_ROWS]
    ]
    told = words["values_from"].format(file=f"<code>{escape(path.as_posix())}</code>")
    if len(rows) > MOST_ROWS:
        told += " " + words["values_first"].format(shown=MOST_ROWS, rows=len(rows))
    table = (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    return _details("values", words["values"], told, table)


def _details(kind: str, summary: str, note: str, content: str) -> str:
    """HTML that is closed until it is asked for; ``note`` and ``content`` are HTML."""
    head = f'<details class="{kind}"><summary>{escape(summary)}</summary>'
    return "\n".join([head, f"<p>{note}</p>", content, "</details>"])


def _shown(cell: str) -> str:
    """A number or a word of the CSV in the language of the page."""
    try:
        float(cell)
    except ValueError:
        return sentence(cell)
    return decimal(cell)


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
        return _details("cells", told, escape(how), f"<ul>{''.join(lines)}</ul>")


def _line(path: str, cell: dict[str, Any]) -> str:
    why = _("does not count: {}").format(sentence(cell["why"])) if not cell["counts"] else ""
    told = f" <span>{escape(why)}</span>" if why else ""
    return f"<li><code>{escape(path)}</code> <code>{escape(cell['sums'])}</code>{told}</li>"


DRAWING = re.compile(r'<div class="drawing" data-figure="([^"]*)" data-caption="([^"]*)"></div>')
CELLS = re.compile(r'<div class="cells" data-kind="(table|figure)" data-name="([^"]*)"></div>')
VALUES = re.compile(r'<div class="values" data-figure="([^"]*)"></div>')
BETWEEN = "<!-- contents above, text below -->"
# In the order in which they run; the first one's functions serve the others.
BEHAVIOUR = ["page.js", "tables.js", "filter.js", "charts.js"]


def build_html(markdown: Path, parts: Parts, output: Path, provenance: Path | None = None) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) as a page to ``output``.

    A figure with a specification beside it (<name>.vl.json) is interactive where scripts run.
    With ``provenance`` (of ``kvstudy provenance``), tables and figures name their cells.
    KvstudyError when pandoc refuses the text or a part is missing; ``output`` is then left
    as it was.
    """
    text, front = read_document(markdown)
    folder = parts.templates
    converted = convert(
        text,
        [
            *citations(folder, parts.references),
            *["--to=html5", "--section-divs", "--standalone", "--toc", "--toc-depth=3"],
            f"--template={folder / 'html' / 'body.template'}",
        ],
        markdown,
        filters(folder, front.language, "numbers.lua", "html.lua"),
        words_of(front.language) | {"tables": parts.tables.as_posix(), "pagetitle": front.run},
    )
    contents, body = converted.split(BETWEEN)
    made_of = MadeOf(provenance) if provenance else None
    specs = _specs(parts.figures, body)
    body = DRAWING.sub(lambda found: _drawing(parts.figures, *found.groups()), body)
    with using(front.language):
        body = CELLS.sub(lambda found: _cells(made_of, *found.groups()), body)
        body = VALUES.sub(lambda found: values_table(parts.figures, html.unescape(found[1])), body)
        page = _page(folder / "html", front, contents, body, specs)
    put(page.encode(), output)


def _page(folder: Path, front: Front, contents: str, body: str, specs: dict[str, str]) -> str:
    words = page_words()
    own = [(folder / name).read_text(encoding="utf-8") for name in BEHAVIOUR]
    # The last one shows the charts.
    charts = [scripts()] if specs else []
    values = {
        "front": front,
        "words": words,
        "words_json": inline(json.dumps(words, ensure_ascii=False, sort_keys=True)),
        "stores": _used("store", front.stores, body),
        "workloads": _used("workload", front.workloads, body),
        "styles": (folder / "style.css").read_text(encoding="utf-8") + (styles() if specs else ""),
        "early": (folder / "theme.js").read_text(encoding="utf-8"),
        "contents": contents,
        "body": body,
        "specs": specs,
        "scripts": [*own[:-1], *charts, own[-1]],
    }
    environment = templates.environment(folder, autoescape=True, keep_trailing_newline=False)
    return templates.fill(environment, "page.html.j2", values)


def _used(kind: str, titles: dict[str, str], body: str) -> dict[str, str]:
    """Those that some part of the page belongs to; a filter of one would leave nothing."""
    named = re.findall(rf'data-{kind}="([^"]*)"', body)
    there = {name for names in named for name in names.split()}
    found = {name: title for name, title in titles.items() if name in there}
    return found if len(found) > 1 else {}


def _specs(figures: Path, body: str) -> dict[str, str]:
    """The charts of the page by the names of their figures, each once."""
    names = dict.fromkeys(html.unescape(found[1]) for found in DRAWING.finditer(body))
    paths = {name: figures / f"{name}.vl.json" for name in names}
    return {
        name: inline(path.read_text(encoding="utf-8").strip())
        for name, path in paths.items()
        if path.is_file()
    }


def _cells(made_of: MadeOf | None, kind: str, name: str) -> str:
    """``name`` is HTML."""
    return made_of.listed(kind, html.unescape(name)) if made_of else ""


def _drawing(figures: Path, name: str, caption: str) -> str:
    """The static figure, which needs no script. ``name`` and ``caption`` are HTML."""
    source = as_data(figures / f"{html.unescape(name)}.svg")
    return (
        f'<div class="drawing" data-figure="{name}">'
        f'<img src="{source}" alt="{caption}" loading="lazy"></div>'
    )
