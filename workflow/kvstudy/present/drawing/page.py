"""How charts look on a light and on a dark page, and what a page needs to show them.

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
# Text, lines that hardly matter, what lies behind the values.
NAMES = ("ink", "muted", "line", "grid", "band")
LIGHT = dict(zip(NAMES, ("#262626", "#595959", "#999999", "#e2e2e2", "#e6e6e6"), strict=True))
DARK = dict(zip(NAMES, ("#ededed", "#b5b5b5", "#7b838c", "#3a3f45", "#40464d"), strict=True))


def themes() -> dict[str, dict]:
    """Vega-Lite configurations by the name of the theme: light, dark; numbers by language."""
    return {"light": _config(**LIGHT), "dark": _config(**DARK)}


def scripts() -> str:
    """JavaScript of Vega, Vega-Lite and Vega-Embed, and ``kvCharts`` (see ``mount.js``).

    It needs no network. It may stand once in a ``<script>`` element: no ``</script`` is in it.
    """
    parts = [
        _vega(),
        f"window.kvThemes = {json.dumps(themes(), sort_keys=True)};",
        (HERE / "mount.js").read_text(encoding="utf-8"),
    ]
    return "\n".join(parts).replace("</script", "<\\/script")


def styles() -> str:
    """The style sheet of the charts; colours of text are the page's."""
    return (HERE / "charts.css").read_text(encoding="utf-8")


def inline(spec: str) -> str:
    """A specification's text as it may stand in a ``<script>`` element of JSON."""
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
    """Digits in groups of three, as in tables; see ``tidy.numbers.grouped``."""
    found = {
        "decimal": decimal_mark(),
        "thousands": "\N{NARROW NO-BREAK SPACE}",
        "grouping": [3],
        "currency": ["", ""],
    }
    sign = percent_sign()
    return found if sign == "%" else found | {"percent": sign}


def _config(ink: str, muted: str, grid: str, band: str, line: str) -> dict:
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
