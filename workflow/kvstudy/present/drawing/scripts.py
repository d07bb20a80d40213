"""What a page needs to show charts: scripts and styles, to stand in it as they are."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import vl_convert

from kvstudy.present.drawing.theme import themes

HERE = Path(__file__).parent


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


@cache
def _vega() -> str:
    return vl_convert.javascript_bundle()


def styles() -> str:
    """The style sheet of the charts; colours of text are the page's."""
    return (HERE / "charts.css").read_text(encoding="utf-8")


def inline(spec: str) -> str:
    """A specification's text as it may stand in a ``<script>`` element of JSON."""
    return spec.replace("<", "\\u003c")
