"""The style of charts on light and dark pages, and the scripts that a page needs.

Specifications name styles instead of colours, except for the stores' own colours. So one
specification serves both themes, and a page chooses by the configuration.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from kvstudy.language.locale import decimal_mark, percent_sign
from kvstudy.whole_file import put

HERE = Path(__file__).parent
FONT = "system-ui, 'DejaVu Sans', sans-serif"
# Of each theme: text, lighter text, lines that hardly matter, the grid, what is behind values.
COLORS = {
    "light": ("#262626", "#595959", "#999999", "#e2e2e2", "#e6e6e6"),
    "dark": ("#ededed", "#b5b5b5", "#7b838c", "#3a3f45", "#40464d"),
}


def themes() -> dict[str, dict]:
    """Vega-Lite configurations by the name of the theme: light, dark; numbers by language."""
    return {name: _config(*colors) for name, colors in COLORS.items()}


def scripts() -> str:
    """JavaScript of Vega, Vega-Lite and Vega-Embed, and ``kvCharts`` (see ``mount.js``).

    It needs no network. It may be once in a ``<script>`` element: no ``</script`` is in it.
    """
    colors = f"window.kvThemes = {json.dumps(themes(), sort_keys=True)};"
    mount = (HERE / "mount.js").read_text(encoding="utf-8")
    return "\n".join([_vega(), colors, mount]).replace("</script", "<\\/script")


def styles() -> str:
    """The style sheet of the charts; colours of text are the page's."""
    return (HERE / "charts.css").read_text(encoding="utf-8")


def inline(spec: str) -> str:
    """A specification's text as it may be in a ``<script>`` element of JSON."""
    return spec.replace("<", "\\u003c")


@cache
def _vega() -> str:
    import vl_convert

    # Making it takes longer than the rest of a page.
    bundle = Path(f".snakemake/vega-{vl_convert.__version__}.js")
    if not bundle.is_file():
        put(vl_convert.javascript_bundle().encode(), bundle)
    return bundle.read_text(encoding="utf-8")


def _numbers() -> dict:
    """Digits in groups of three, as in tables; see ``layout.numbers.grouped``."""
    groups = {"thousands": "\N{NARROW NO-BREAK SPACE}", "grouping": [3], "currency": ["", ""]}
    percent = {} if percent_sign() == "%" else {"percent": percent_sign()}
    return {"decimal": decimal_mark()} | groups | percent


def _config(ink: str, muted: str, line: str, grid: str, band: str) -> dict:
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "domainColor": muted,
            "tickColor": muted,
            "gridColor": grid,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
        },
        "title": {"color": ink, "fontSize": 12, "fontWeight": "normal", "anchor": "start"},
        "legend": {"labelColor": ink, "titleColor": ink, "labelLimit": 300},
        "text": {"color": ink, "fontSize": 11},
        "rule": {"color": ink},
        "style": {
            "kv-ink": {"color": ink},
            "kv-text": {"color": ink},
            "kv-note": {"color": muted},
            "kv-line": {"color": line},
            "kv-band": {"color": band},
        },
        "locale": {"number": _numbers()},
    }
