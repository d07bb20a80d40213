"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import gzip
import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kvstudy.documents.report.document import (
    TEMPLATES,
    Front,
    convert_numbered,
    read_document,
    reading,
)
from kvstudy.language.current import _, current, ngettext, using
from kvstudy.language.reasons import sentence
from kvstudy.render import templates
from kvstudy.render.page import inline, scripts, styles
from kvstudy.study.run_names import Paths
from kvstudy.whole_file import put

# A figure with more rows has them in its CSV only: they were a quarter of a page's bytes.
MOST_ROWS = 200
# A chart with more marks stays a drawing: they are too close for a pointer, and slow.
MOST_MARKS = 5000
# Before the first element, what says who made the file, and the font, which all text has.
HEADER = re.compile(
    r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->|font-family: 'DejaVu Sans'[^;]*; ", re.S
)
# What Matplotlib names or turns without need, once names that are used are marked.
IDLE = re.compile(r' id="[^"]*"| transform="rotate\(-0 [^"]*"')
# Not of transforms, which may make letters from numbers in the thousands.
GEOMETRY = re.compile(r' (?:d|points|x|y)="[^"]*"')
# As Matplotlib draws a circle; the patterns of bars have hundreds.
CIRCLE = re.compile(r"M (\S+ \S+)\s+(?:C [^A-Zz]*){3}C [^A-Zz]*?(\S+ \S+)\s+(?:C [^A-Zz]*){4}z")
LONG = re.compile(r"-?\d+\.\d{2,}")
PATH = re.compile(r' d="([^"]*)"')
COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
TAG = re.compile(r"<[^>]*>")
GROUP = re.compile(r"</?g(?: [^>]*[^/])?>")


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
        "none": _("In the report's order"),
        "hidden": _("Filtered view. Hidden: {names}. The text still covers everything."),
        "filtered_mark": _("filtered"),
        "show_all": _("Show all"),
        "all_shown": _("All stores and workloads are shown"),
        "static": _("Static drawing"),
        "interactive": _("Interactive chart"),
        "values": _("Values"),
        "values_from": _("With all digits: {file}."),
        "choices": [_("Relative to"), _("Metric")],
        "chosen": _("{metric} of the stores relative to {store}."),
        "values_many": _("All {rows} rows: {file}."),
        "proof": _("Where this number comes from"),
        "close": _("Close"),
        "run": _("Run"),
        "value": _("Value"),
        "log_line": _("Line of the log"),
        "command": _("Command"),
        "not_counted": _("does not count"),
        "no_lines": _("in the files of {folder}"),
        "kinds": {
            "geometric": _("Geometric mean of the runs"),
            "mean": _("Arithmetic mean of the runs"),
            "min": _("Smallest of the runs"),
            "max": _("Largest of the runs"),
            "sd": _("Standard deviation of the runs"),
            "run": _("One of these runs"),
        },
    }


def as_data(path: Path) -> str:
    """The SVG file as a data address for an attribute in double quotes.

    Coordinates keep one decimal of a point, and names that nothing refers to are left out.
    KvstudyError when the file cannot be read.
    """
    with reading(path, "a drawing", "draw"):
        drawing = path.read_text(encoding="utf-8")
    drawing = GEOMETRY.sub(_shorter, HEADER.sub("", drawing))
    used = set(re.findall(r"#([\w-]+)", drawing))
    drawing = IDLE.sub(lambda name: name[0] if name[0][5:-1] in used else "", drawing)
    drawing = re.sub(r">\s+<", "><", drawing.strip())
    drawing = _without_idle_groups(drawing)
    drawing = drawing.replace("<svg", '<svg font-family="DejaVu Sans,Verdana,sans-serif"', 1)
    drawing = TAG.sub(_quoted, drawing)
    return "data:image/svg+xml," + quote(drawing, safe=" !$()*+,-./:;=?@_|~<>'")


def _without_idle_groups(drawing: str) -> str:
    """Without groups that say nothing of what is in them: one for each mark, Matplotlib writes."""
    kept: list[bool] = []

    def shown(tag: re.Match[str]) -> str:
        if tag[0] == "</g>":
            return tag[0] if kept.pop() else ""
        kept.append(tag[0] != "<g>")
        return tag[0] if kept[-1] else ""

    return GROUP.sub(shown, drawing.replace("<g/>", ""))


def _quoted(tag: re.Match[str]) -> str:
    """The element with single quotes, which need no escape where it will stand."""
    text = tag[0].replace("'", "&apos;").replace('"', "'")
    if "style=" in text:
        text = re.sub(r"(?<=[:;]) ", "", text).replace("#ffffff", "#fff")
    return text


def _shorter(match: re.Match[str]) -> str:
    arcs = CIRCLE.sub(_arcs, match[0])
    numbers = LONG.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), arcs)
    return PATH.sub(_strokes, re.sub(r"\s+", " ", numbers))


def _strokes(path: re.Match[str]) -> str:
    """Lines along an axis have one number: curves of one value a second are all steps."""
    strokes, at = [], []
    for letter, numbers in COMMAND.findall(path[1]):
        to = numbers.split()
        if letter == "L" and to[0] == at[0]:
            strokes.append(f"V{to[1]}")
        elif letter == "L" and to[1] == at[1]:
            strokes.append(f"H{to[0]}")
        else:
            strokes.append(letter + " ".join(to))
        at = to[-2:] or at
    return f' d="{"".join(strokes)}"'


def _arcs(circle: re.Match[str]) -> str:
    """Two arcs, from a point to the one across and back."""
    here, across = circle.groups()
    diameter = math.dist([float(n) for n in here.split()], [float(n) for n in across.split()])
    radius = f"A {diameter / 2:.6f} {diameter / 2:.6f} 0 1 0"
    return f"M {here} {radius} {across} {radius} {here} z"


def values_table(file: Path, spec: Mapping[str, Any]) -> str:
    """Return the values of the chart ``spec`` as HTML, folded.

    ``file`` is the CSV that has more digits. Nothing for a chart without marks.
    """
    rows = [row for row in spec["data"]["values"] if "title" in row]
    # The paths of cells are in the CSV.
    labels = [pair for pair in spec["usermeta"]["kvstudy"]["labels"] if pair[0] != "cells"]
    heads = {name: label for name, label in labels if any(row.get(name) for row in rows)}
    if not heads:
        return ""
    words = page_words()
    place = f"<code>{escape(file.as_posix())}</code>"
    if len(rows) > MOST_ROWS:
        many = words["values_many"].format(rows=len(rows), file=place)
        return _details("values", words["values"], many)
    lines, panel = [], None
    for row in rows:
        title = spec["concat"][row["panel"]].get("title")
        if title and row["panel"] != panel:
            text = escape(" ".join(title))
            lines.append(f'<tr class="section"><th colspan="{len(heads) + 1}">{text}</th></tr>')
        panel = row["panel"]
        first = next(iter(heads))
        made_of = f' data-runs="{escape(row["made_of"])}"' if row.get("made_of") else ""
        cells = "".join(
            f"<td{made_of if name == first else ''}>{escape(row.get(name) or '')}</td>"
            for name in heads
        )
        of = "".join(f' data-{name}="{escape(row[name])}"' for name in FILTERED if row.get(name))
        lines.append(f'<tr{of}><th scope="row">{escape(row["title"])}</th>{cells}</tr>')
    columns = "".join(f'<th scope="col">{escape(label)}</th>' for label in heads.values())
    table = (
        f'<div class="scroll"><table><thead><tr><td></td>{columns}</tr></thead>\n'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
    return _details("values", words["values"], words["values_from"].format(file=place), table)


def _details(kind: str, summary: str, note: str, content: str = "") -> str:
    """HTML that is closed until it is asked for; ``note`` and ``content`` are HTML."""
    head = f'<details class="{kind}"><summary>{escape(summary)}</summary>'
    return "\n".join([head, f"<p>{note}</p>", content, "</details>"])


class Provenance:
    """The content of a run's ``provenance.json``. DataError if ``path`` is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with reading(path, "what tables and figures are made of", "provenance"):
            made_of = json.loads(path.read_text(encoding="utf-8"))
            self._parts = {"table": made_of["tables"], "figure": made_of["figures"]}
            self._cells = made_of["cells"]
            logged = sorted(path for path, cell in self._cells.items() if cell["sums"])
        self._places = {path: place for place, path in enumerate(logged)}

    def listed(self, kind: str, name: str) -> str:
        """Return the number of cells behind a ``table`` or ``figure`` as HTML; "" without logs.

        The places in ``cells`` of those that have logs are in ``data-cells``; ``cells.js`` lists
        them when they are asked for.
        """
        part = self._parts[kind].get(name, {})
        measured = [path for path in part.get("cells", []) if path in self._places]
        if not measured:
            return ""
        counted = sum(self._cells[path]["counts"] for path in measured)
        text = ngettext("From {} cell", "From {} cells", counted).format(counted)
        how = _(
            "Each with the SHA-256 checksum of its file SHA256SUMS, which lists the checksums "
            "of its raw logs."
        )
        how = f"{escape(how)} <code>{escape(self._path.as_posix())}</code>"
        places = " ".join(_ranges([self._places[path] for path in measured]))
        return _details("cells", text, how, f'<ul data-cells="{places}"></ul>')

    def cells(self) -> list[list[str]]:
        """Path, checksum and why it does not count of each cell with logs."""
        why = _("excluded: {}")
        return [
            [path, cell["sums"], "" if cell["counts"] else why.format(sentence(cell["why"]))]
            for path, cell in ((path, self._cells[path]) for path in self._places)
        ]


def _ranges(numbers: list[int]) -> Iterator[str]:
    """``3-7`` for numbers that follow each other, those of each range once."""
    for _difference, of in groupby(enumerate(sorted(numbers)), lambda both: both[1] - both[0]):
        first, *rest = (number for _place, number in of)
        yield f"{first}-{rest[-1]}" if rest else str(first)


class LogLines:
    """The runs and log lines behind numbers, of a run's ``log_lines.json``.

    DataError if ``path`` is none.
    """

    def __init__(self, path: Path) -> None:
        with reading(path, "the log lines behind numbers", "provenance"):
            content = json.loads(path.read_text(encoding="utf-8"))
            self._cells, self._values = content["cells"], content["values"]

    def of(self, body: str) -> dict[str, Any]:
        """Return what the numbers of ``body`` need: their values, and the cells of these.

        Cells are lists of path, folder, command, and why the cell does not count.
        """
        keys = {
            key
            for runs in re.findall(r'data-runs="([^"]*)"', body)
            for part in unescape(runs).split("|")[1:]
            for key in part.split(" ")
        }
        return {
            "cells": [
                [cell["path"], cell["folder"], cell["command"], sentence(cell["why"])]
                for cell in self._cells
            ],
            "values": {key: of for key, of in self._values.items() if key in keys},
        }


# Where html.lua leaves a place for a part.
PLACE = re.compile(
    r'<div class="(drawing|cells|values)" data-kind="(table|figure)" data-name="([^"]*)"'
    r'(?: data-caption="([^"]*)")?></div>'
)
# Of ``render.tables.as_comment``.
CHOICES = re.compile(r"<!--choices (.*?)-->")
PAGE_OPTIONS = ["--to=html5", "--section-divs", "--standalone", "--toc", "--toc-depth=3"]
BETWEEN = "<!-- contents above, text below -->"
# In the order in which they run; the first one's functions serve the others.
BEHAVIOUR = [
    *("page.js", "fold.js", "tables.js", "filter.js", "cells.js", "choices.js", "numbers.js"),
    "charts.js",
]
# What a reader's filter hides.
FILTERED = ("store", "workload")


def build_html(
    markdown: Path,
    parts: Paths,
    output: Path,
    provenance: Path | None = None,
    lines: Path | None = None,
) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) as a page to ``output``.

    A figure with a specification next to it (<name>.vl.json) is interactive where scripts run.
    With ``provenance`` and ``lines`` (of ``kvstudy provenance``), tables and figures name their
    cells, and numbers the runs and log lines that they are made of.
    KvstudyError when pandoc refuses the text or a part is missing; ``output`` is then left
    as it was.
    """
    text, front = read_document(markdown)
    folder = TEMPLATES / "html"
    options = [*PAGE_OPTIONS, f"--template={folder / 'body.template'}"]
    converted = convert_numbered(
        markdown, text, front, parts, options, "html.lua", pagetitle=front.run
    )
    contents, body = converted.split(BETWEEN)
    made_of = Provenance(provenance) if provenance else None
    specs: dict[str, Mapping[str, Any]] = {}

    def part(place: re.Match[str]) -> str:
        name = unescape(place[3])
        if place[1] == "cells":
            return made_of.listed(place[2], name) if made_of else ""
        if place[1] == "drawing":
            # The static figure, which needs no script.
            drawing = as_data(parts.figures / f"{name}.svg")
            image = f'<img src="{drawing}" alt="{place[4]}" loading="lazy">'
            return f'<div class="drawing" data-figure="{place[3]}">{image}</div>'
        chart = parts.figures / f"{name}.vl.json"
        if not chart.is_file():
            return ""
        with reading(chart, "a chart of this version", "draw"):
            specs[name] = json.loads(chart.read_text(encoding="utf-8"))
            return values_table(parts.figures / f"{name}.csv", specs[name])

    with using(front.language):
        body = PLACE.sub(part, body)
        with reading(parts.tables, "choices of tables", "tabulate"):
            choices = [json.loads(text[1]) for text in CHOICES.finditer(body)]
        packed = {
            "cells": made_of.cells() if made_of else [],
            "runs": LogLines(lines).of(body + _texts(choices)) if lines else None,
            "choices": choices,
            "specs": {
                name: spec
                for name, spec in specs.items()
                if len(spec["data"]["values"]) <= MOST_MARKS
            },
            "charts": scripts() if specs else "",
        }
        body = CHOICES.sub('<div class="choices" hidden></div>', body)
        page = _page(folder, front, contents, body, packed)
    put(page.encode(), output)


def _texts(choices: list[list[Any]]) -> str:
    """The HTML of all alternatives of all tables."""
    return "".join(text for of in choices for _names, text in of)


def pack(content: Mapping[str, Any]) -> str:
    """Return data for scripts as base64 of compressed JSON: a third of the size.

    The same content gives the same text.
    """
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _page(folder: Path, front: Front, contents: str, body: str, packed: Mapping[str, Any]) -> str:
    words = page_words()
    values = {
        "front": front,
        "words": words,
        "words_json": inline(json.dumps(words, ensure_ascii=False, sort_keys=True)),
        "stores": _used("store", front.stores, body),
        "workloads": _used("workload", front.workloads, body),
        "styles": (folder / "style.css").read_text(encoding="utf-8") + styles(),
        "early": (folder / "theme.js").read_text(encoding="utf-8"),
        "contents": contents,
        "body": body,
        "packed": pack(packed),
        "scripts": [(folder / name).read_text(encoding="utf-8") for name in BEHAVIOUR],
    }
    options = {"autoescape": True, "keep_trailing_newline": False}
    return templates.fill(folder / "page.html.j2", values, **options)


def _used(kind: str, titles: dict[str, str], body: str) -> dict[str, str]:
    """Return the names that several parts of the page have; a filter of others would be useless."""
    named = re.findall(rf'data-{kind}="([^"]*)"', body)
    present = {name for names in named for name in names.split()}
    used = {name: title for name, title in titles.items() if name in present}
    return used if len(used) > 1 else {}
