"""The first sheet: what the workbook is of, where and when it was measured, how to cite it."""

from __future__ import annotations

import re

from xlsxwriter import Workbook

from kvstudy import __version__
from kvstudy.language.reasons import sentence
from kvstudy.present.workbook.content import Content, as_utc, moment
from kvstudy.present.workbook.sheet import Formats, print_set_up, quoted
from kvstudy.study.controls import is_control

HOW = [
    "A run is one measurement on a fresh, empty server. Means are plain means over the runs; a "
    "percentile is averaged like any other value, and that mean is no percentile of all "
    "operations.",
    "Formulas refer to the sheets of single runs. A run that failed or was not measured is empty, "
    "with its reason. A void run (more failed operations than the study expects) keeps its values "
    "in grey; no formula counts it.",
    "“read+update” and the like: the plain mean of the operations' values, not weighted by how "
    "many there were; their counts are summed.",
    "Standard deviations are those of a sample (n - 1); the coefficient of variation is the "
    "standard deviation by the mean.",
    "Latencies are service times in microseconds, as YCSB records them.",
]


def about(
    content: Content, book: Workbook, formats: Formats, name: str, sheets: list[tuple[str, str]]
) -> None:
    """Fill the sheet ``name``; ``sheets`` are the others with what they hold."""
    sheet = book.get_worksheet_by_name(name)
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 110)
    print_set_up(sheet, f"{content.study.title}, {content.run}")
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, content.study.title, formats.get(bold=True, font_size=16))
    wrapped, bold = formats.get(text_wrap=True), formats.get(bold=True)
    row = 1
    for label, text in _facts(content):
        row += 1
        sheet.write_string(row, 0, label, bold)
        sheet.write_string(row, 1, text, wrapped)
        _height(sheet, row, text)
    row += 2
    sheet.write_string(row, 0, "Sheets", formats.get(bold=True, font_size=12))
    link = formats.get(font_color="#0563C1", underline=1)
    for other, holds in sheets:
        row += 1
        sheet.write_url(row, 0, f"internal:{quoted(other)}!A1", link, other)
        sheet.write_string(row, 1, holds, wrapped)
    row += 2
    sheet.write_string(row, 0, "How to read it", formats.get(bold=True, font_size=12))
    for text in HOW:
        row += 1
        sheet.write_string(row, 1, text, wrapped)
        _height(sheet, row, text)


def _height(sheet, row: int, text: str) -> None:
    """Viewers do not all fit the height of a row to text that wraps."""
    lines = -(-len(text) // 112)
    if lines > 1:
        sheet.set_row(row, 15 * lines)


def _facts(content: Content) -> list[tuple[str, str]]:
    study, environment = content.study, content.environment
    facts = [("Question", " ".join(study.question.split())), ("Run", content.run)]
    if content.scale != 1:
        facts.append(
            (
                "Careful",
                f"Measured with {content.scale:g} times the records and operations of the study: "
                "a trial of the pipeline, no measurement of the stores.",
            )
        )
    rows = [row for of in content.outcomes.values() for row in of]
    for name, controls in (("Cells", False), ("Control cells", True)):
        states = [content.status(row)[0] for row in rows if is_control(row.store) == controls]
        counts = {state: states.count(state) for state in dict.fromkeys(["measured", *states])}
        words = ", ".join(f"{count} {state}" for state, count in counts.items())
        if states:
            facts.append((name, f"{len(states)} planned: {words}"))
    started = sorted(filter(None, content.cells["started"]), key=moment)
    when = f"{as_utc(started[0])} to {as_utc(started[-1])}" if started else "not recorded"
    facts.append(("When", when))
    where = [
        "; ".join(_component(part) for part in machine)
        for machine in environment.get("machines", [])
    ]
    facts += [("Where", text) for text in where] or [("Where", "not recorded")]
    for store, known in environment["stores"].items():
        # YCSB without a store has no server that a provider could start.
        provider = known["provider"].replace("none", "")
        told = [known["version"] or "version not recorded", provider, *known["images"]]
        facts.append((content.title(store), ", ".join(filter(None, told))))
    cores = {jar for known in environment["stores"].values() for jar in known["jars"]}
    versions = sorted({m[1] for jar in cores if (m := re.fullmatch(r"core-(\d.*)\.jar", jar))})
    versions += environment.get("imported", {}).get("ycsb", [])
    facts.append(("YCSB", ", ".join(dict.fromkeys(versions)) or "not recorded"))
    if study.source:
        of = study.source
        facts.append(("Source", f"{of.author}: {of.title}. {of.published_as}, {of.year}."))
    cite = f"Made with kvstudy {__version__} (Apache-2.0). Name the run, {content.run}"
    cite += ", and cite the source above." if study.source else "."
    facts.append(("How to cite", cite))
    facts.append(
        (
            "Raw logs",
            "The last sheet has a checksum for each cell: the SHA-256 of the file SHA256SUMS, "
            "which has those of the cell's logs.",
        )
    )
    return facts


def _component(part: dict[str, str]) -> str:
    name, details = sentence(part["name"]), sentence(part["details"])
    return f"{part['component']}: {name}" + (f" ({details})" if details else "")
