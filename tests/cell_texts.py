"""The texts of a table's cells, of LaTeX, HTML, DOCX and XLSX, without what belongs to one format.

For tests that ask whether formats show the same. Cells come by rows, from left to right;
headings and empty cells are left out, and so are drawings and spaces but single ones.
"""

from __future__ import annotations

import re
import subprocess
import zipfile
from decimal import ROUND_HALF_UP, Decimal
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from kvstudy.documents.workbook.grids import TOP
from kvstudy.documents.workbook.sheet import GREY, HEAD, sheet_names
from kvstudy.render.latex import SPECIAL, ZERO_WIDTH_SPACE
from openpyxl import load_workbook
from openpyxl.styles.colors import Color
from openpyxl.worksheet.worksheet import Worksheet

# Commands whose one argument is their text, and those that are shown as nothing.
SHOWN = {"textbf", "textit", "textsuperscript", "rlap", "smash"}
NOTHING = {
    *("itshape", "scriptsize", "footnotesize", "quad", "raggedright", "addlinespace"),
    *("toprule", "midrule", "bottomrule", "medskip", "strut"),
}
SIGNS = {text: sign for sign, text in SPECIAL.items() if text[0] in "\\$"}
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
OTHERS = {"-{}": "-", "{[}": "[", "{]}": "]", "~": " "}


def plain(text: str) -> str:
    """On one line; spaces of any kind are single and plain."""
    return " ".join(text.split())


def same_cells(tex: str, html: str, gaps: tuple[str, ...] = ()) -> list[str]:
    """The texts of the cells of both, which must be the same in the same order.

    ``gaps`` are what is once in a column without values, wherever a format puts it.
    """
    present, here = (
        [cell for cell in cells if cell not in gaps]
        for cells in (latex_cells(tex), html_cells(html))
    )
    assert here == present
    check_structure(html)
    return here


DRAWN = re.compile(r'<td class="drawn".*?</td>|\\setlength.*?\\end\{picture\}', re.S)
GAP = re.compile(r'<td class="gap"[^>]*>(.*?)</td>')
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def check_formats(folder: Path, workbook: Path) -> list[str]:
    """Every table in ``folder`` shows the same in LaTeX, HTML, DOCX and XLSX; returns the names.

    DOCX is made from the HTML, as in the report.
    """
    book, pages = load_workbook(workbook, data_only=True), []
    names = sorted(path.stem for path in folder.glob("*.tex"))
    for name in names:
        tex, html = ((folder / f"{name}.{form}").read_text("utf-8") for form in ("tex", "html"))
        gaps = set(map(unescape, GAP.findall(html)))
        # Columns that do not fit next to the others on paper repeat their labels there.
        kind = set if tex.count(r"\toprule") > html.count("<table") else list
        shown = html_cells(html)
        printed = [cell for cell in latex_cells(tex) if cell not in gaps]
        assert kind(printed) == kind(cell for cell in shown if cell not in gaps), name
        assert_same(xlsx_cells(book[sheet_names([name])[0]]), shown, name)
        pages.append(html)
    path = workbook.with_name("tables.docx")
    command = ["pandoc", "--from=html", "--to=docx", f"--output={path}"]
    text = DRAWN.sub("<td></td>", "".join(pages))
    subprocess.run(command, input=text, text=True, check=True, encoding="utf-8")
    assert docx_cells(path) == html_cells(text)
    path.unlink()
    return names


def assert_same(here: list[str], shown: list[str], name: str) -> None:
    """The same texts; of a number that ends in 5 a spreadsheet shows another digit."""
    assert len(here) == len(shown), (name, here, shown)
    for one, other in zip(here, shown, strict=True):
        one, other = (re.sub(r"(?<=\d) (?=\d{3})", "", text) for text in (one, other))
        assert NUMBER.split(one) == NUMBER.split(other), (name, one, other)
        for number, printed in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
            step = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent)
            assert abs(Decimal(number) - Decimal(printed)) <= step / 2, (name, one, other)


def xlsx_cells(sheet: Worksheet) -> list[str]:
    """Those of the lines of a table's sheet, as they are shown; notes below it are left out."""
    notes = {
        area.min_row
        for area in sheet.merged_cells.ranges
        if area.min_col == 1 and _color(sheet.cell(area.min_row, 1).font.color) == GREY
    }
    cells = [
        plain(displayed(cell.value, cell.number_format))
        for row in sheet[sheet.print_area.rpartition("!")[2]][TOP:]
        for cell in row
        if cell.value is not None
        and cell.row not in notes
        and _color(cell.fill.fgColor) != HEAD["bg_color"]
    ]
    return [cell for cell in cells if cell]


def _color(color: Color | None) -> str:
    return f"#{color.rgb[2:]}" if color and isinstance(color.rgb, str) else ""


def displayed(value: str | float, form: str) -> str:
    """``value`` as a spreadsheet shows it in the number format ``form``."""
    if isinstance(value, str):
        return value
    tokens = re.findall(r'"[^"]*"|;|%|[#0,.]+|General', form)
    below = tokens.index(";") if ";" in tokens else len(tokens)
    section = tokens[below + 1 :] if value < 0 and below < len(tokens) else tokens[:below]
    shown = []
    for token in section:
        if token[0] not in "#0":
            shown.append(token.strip('"'))
            continue
        digits = token.rstrip(",")
        scale = Decimal(100 if "%" in section else 1).scaleb(-3 * (len(token) - len(digits)))
        step = Decimal(1).scaleb(-len(digits.partition(".")[2]))
        number = abs(Decimal(f"{value:.15g}")) * scale
        shown.append(str(number.quantize(step, ROUND_HALF_UP)))
    return "-" * (value < 0 and below == len(tokens)) + "".join(shown)


def check_structure(html: str) -> None:
    """Whole tables of rows as wide as their table, headings that say of what, nothing that acts."""
    acting = re.sub("<!--.*?-->", "", DRAWN.sub("", html), flags=re.S)
    assert not re.search(r"<script|<style|\s(?:style|id|on\w+)=", acting)
    parser = _Html()
    parser.feed(html)
    parser.close()
    assert not parser.open, f"not closed: {parser.open}"
    assert parser.tables
    for table in parser.tables:
        taken: dict[tuple[int, int], bool] = {}
        for row, cells in enumerate(table):
            column = 0
            for tag, attributes in cells:
                assert tag == "td" or attributes["scope"] in ("col", "colgroup", "row", "rowgroup")
                while (row, column) in taken:
                    column += 1
                for down in range(int(attributes.get("rowspan", 1))):
                    for right in range(int(attributes.get("colspan", 1))):
                        assert (row + down, column + right) not in taken
                        taken[row + down, column + right] = True
        rows = [[at for at in taken if at[0] == row] for row in range(len(table))]
        assert len({len(row) for row in rows}) == 1
        assert sum(map(len, rows)) == len(taken), "a cell reaches below its table"


def html_cells(text: str) -> list[str]:
    """Those of the bodies of all tables."""
    return [cell for row in html_rows(text) for cell in row if cell]


def html_rows(text: str) -> list[list[str]]:
    """The rows of the bodies of all tables, with empty cells; a cell over rows is in its first."""
    parser = _Html()
    parser.feed(DRAWN.sub("<td></td>", text))
    parser.close()
    assert not parser.open, f"not closed: {parser.open}"
    return [[plain(cell) for cell in row] for row in parser.rows]


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        # Rows of cells: the tag and its attributes.
        self.tables: list[list[list[tuple[str, dict]]]] = []

    def handle_starttag(self, tag: str, attrs) -> None:
        if tag == "br":
            self.handle_data(" ")
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append((tag, dict(attrs)))
        if "tbody" in self.open and tag == "tr":
            self.rows.append([])
        if "tbody" in self.open and tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "tbody" in self.open and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def latex_cells(text: str) -> list[str]:
    """Those of the bodies of all tables."""
    cells = []
    for body in re.findall(
        r"\\(?:midrule\n\}?|endfoot\n)(.*?)\\(?:bottomrule|end\{longtable)", text, re.S
    ):
        if r"\endfirsthead" not in body:
            cells += [plain(_text(cell)) for cell in _split(DRAWN.sub("", body))]
    return [cell for cell in cells if cell]


def docx_cells(path: Path) -> list[str]:
    """Those of the rows of all tables that are not again on each page."""
    with zipfile.ZipFile(path) as file:
        body = ElementTree.fromstring(file.read("word/document.xml"))
    cells = []
    for row in body.iter(f"{WORD}tr"):
        if row.find(f"{WORD}trPr/{WORD}tblHeader") is None:
            for cell in row.iter(f"{WORD}tc"):
                parts = [each for each in cell.iter() if each.tag in (f"{WORD}t", f"{WORD}br")]
                cells.append(plain("".join(part.text or " " for part in parts)))
    return [cell for cell in cells if cell]


def _split(body: str) -> list[str]:
    """At each & and \\\\ that is not within braces."""
    cells, depth = [""], 0
    for token in re.findall(r"\\\\\*?|\\[a-zA-Z]+|\\.|[^\\]", body, re.S):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0 and token in ("&", r"\\", r"\\*"):
            cells.append("")
        else:
            cells[-1] += token
    return cells


def _text(latex: str) -> str:
    """As it is printed. What is not known is left, so that a test sees it."""
    # Last of all what braces and backslashes stand for.
    signs = {text: sign for text, sign in (OTHERS | SIGNS).items() if sign not in "{}\\"}
    # The longest first: a half circle is made of two whole ones.
    pattern = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
    latex = re.sub(pattern, lambda match: signs[match[0]], latex)
    latex = re.sub(r"\\(?:newline|par)(?![a-zA-Z])|\\\\", " ", latex)
    # Where a line may break, nothing is shown.
    latex = latex.replace(ZERO_WIDTH_SPACE, "")
    latex = re.sub(r"\\parbox\[t\]\{(?:0\.33)?\\linewidth\}", "", latex)
    latex = re.sub(r"\\rotatebox\[[^]]*\]\{90\}|\\shortstack\[r\]|\\addlinespace\[\w+\]", "", latex)
    latex = re.sub(r"\\(?:hangindent|leftskip)=[\d.]+em", "", latex)
    latex = re.sub(rf"\\(?:{'|'.join(SHOWN | NOTHING)})(?![a-zA-Z])", "", latex)
    latex = re.sub(r"\\(?:cmidrule(?:\([lr]+\))?|phantom)\{[^{}]*\}", "", latex)
    latex = re.sub(r"\\multicolumn\{\d+\}\{(?:[^{}]|\{[^{}]*\})*\}", "", latex)
    latex = re.sub(r"\\(?:text)?color(?:\[\w+\])?\{[^{}]*\}", "", latex)
    latex = re.sub(r"(?<!\\)[{}]", "", latex)
    for sign in "{}":
        latex = latex.replace(SPECIAL[sign], sign)
    return latex.replace(r"\textbackslash", "\\")
