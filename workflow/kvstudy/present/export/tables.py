"""The report's LaTeX tables, ready for \\input in a document of anyone."""

from __future__ import annotations

import re

from kvstudy.present.typeset.latex import escape

# Which package brings what a table uses.
PACKAGES = {
    "booktabs": r"\\(?:toprule|midrule|cmidrule|addlinespace)",
    "array": r"[@!{}lrc]>\{|\\arraybackslash",
    "longtable": r"\\begin\{longtable\}",
    "graphicx": r"\\(?:rotatebox|resizebox|includegraphics)",
    "xcolor": r"\\(?:text)?color\b",
    "textcomp": r"\\text(?:mu|minus|times|pm|textdagger|asciitilde)\b",
    "multirow": r"\\multirow",
    "siunitx": r"\\(?:num|SI|qty|sisetup)\b|\{S\[",
}
# The report's text width, which the tables are made for.
WIDTH = "16cm"
# Babel gives these a meaning in some languages: with Czech, \cmidrule{2-3} would be an error.
PLAIN = "".join(rf"\catcode`\{letter}=12" for letter in "-=:'" + '"') + r"\relax"
# Tables over several pages cannot be scaled, since TeX must be able to break them.
LONG = r"\begin{longtable}"
# Lines of a table that fit on a page of most documents.
ROWS = 45
HEAD = r"\providecommand{\tablehead}[1]{#1}%"


def ready_for_input(text: str, name: str, caption: str) -> str:
    """The table ``text`` with a comment on what it needs, scaled to the line if that is possible.

    ``caption`` is that of the report, as plain text.
    """
    if LONG not in text and text.count("\\\\") > ROWS:
        text = _long(text, name, caption)
    if LONG in text:
        text = f"\\begingroup{PLAIN}%\n{text.strip()}\n\\endgroup\n"
    else:
        text = (
            f"\\begingroup{PLAIN}%\n"
            f"\\noindent\\resizebox{{\\linewidth}}{{!}}{{\\begin{{minipage}}{{{WIDTH}}}%\n"
            f"{text.strip()}%\n\\end{{minipage}}}}%\n\\endgroup\n"
        )
    needs = [package for package, pattern in PACKAGES.items() if re.search(pattern, text)]
    return "\n".join(
        [
            f"% Needs: \\usepackage{{{', '.join(needs)}}}",
            *(f"% Caption of the report: {line}" for line in [" ".join(caption.split())] if line),
            *_how(text, name),
            text,
        ]
    )


def _long(text: str, name: str, caption: str) -> str:
    """As a table that goes on over pages below its head, with its caption and label."""
    text = text.replace(HEAD, r"\def\tablehead#1{#1\endfirsthead #1\endhead}%")
    text = re.sub(r"\\begin\{tabular(?:\}|\*\}\{\\linewidth\})", lambda _: LONG, text)
    text = re.sub(r"\\end\{tabular\*?\}", lambda _: r"\end{longtable}", text)
    above = rf"\caption{{{escape(caption)}}}\label{{table:{name}}}\\" + "\n"
    return (
        text.replace(r"\tablehead{", above + r"\tablehead{", 1)
        .replace(r"\begin{minipage}{\linewidth}", r"\begingroup")
        .replace(r"\end{minipage}", r"\endgroup")
    )


def _how(text: str, name: str) -> list[str]:
    if LONG in text:
        return [
            rf"% It runs over pages and has its caption and label: \input{{tables/{name}}} alone.",
            f"% Made for lines of {WIDTH}.",
        ]
    return [
        rf"% Use: \begin{{table}}\caption{{...}}\centering \input{{tables/{name}}}\end{{table}}",
        f"% Made for lines of {WIDTH}; it scales itself to yours.",
    ]
