"""Libraries that take long to import, each imported when something of it is first used.

A study file names kinds of figures, whose modules draw too. So every command that reads a study
imports them, and most draw nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd
    import seaborn as sns
    from matplotlib import colors, lines, patches, ticker, transforms
else:

    class _Library:
        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, attribute: str) -> object:
            return getattr(importlib.import_module(self._name), attribute)

    alt, np, pd, sns = map(_Library, ("altair", "numpy", "pandas", "seaborn"))
    plt, colors, lines, patches, ticker, transforms = (
        _Library(f"matplotlib.{name}")
        for name in ("pyplot", "colors", "lines", "patches", "ticker", "transforms")
    )

__all__ = [
    *["alt", "colors", "lines", "np", "patches", "pd", "plt", "sns", "ticker", "transforms"],
]
