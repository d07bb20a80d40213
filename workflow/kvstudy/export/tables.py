"""The report's LaTeX tables, ready for \\input in a document of anyone."""

from __future__ import annotations

import re

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
FLOAT = r"\\begin\{table\}(?:\[[^]]*\])?"


def ready_for_input(text: str, name: str, caption: str) -> str:
    """The table ``text`` with a comment on what it needs, scaled to the line if that is possible.

    ``caption`` is that of the report, as plain text.
    """
    floats = re.search(FLOAT, text)
    if floats:
        text = PLAIN + "%\n" + re.sub(FLOAT, lambda begin: begin[0] + PLAIN, text)
    elif LONG in text:
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
            *_how(text, name, bool(floats)),
            text,
        ]
    )


def _how(text: str, name: str, floats: bool) -> list[str]:
    if LONG in text:
        return [
            rf"% It runs over pages and has its caption and label: \input{{tables/{name}}} alone.",
            f"% Made for lines of {WIDTH}.",
        ]
    lines = [
        rf"% Use: \begin{{table}}\caption{{...}}\centering \input{{tables/{name}}}\end{{table}}"
    ]
    if floats:
        lines.append(f"% It runs over several pages, for lines of {WIDTH}: it ends the float and")
        lines.append("% begins the next one by itself.")
    else:
        lines.append(f"% Made for lines of {WIDTH}; it scales itself to yours.")
    return lines
