"""Libraries that take long to import, each imported when something of it is first used.

A study file names kinds of figures, whose modules draw too. So every command that reads a study
imports them, and most draw nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    import seaborn as sns
    from fontTools import subset
    from matplotlib import colors, lines, patches, ticker
    from pyarrow import csv as arrow_csv
    from scipy import optimize, special, stats
else:

    class _Library:
        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, attribute: str) -> object:
            value = getattr(importlib.import_module(self._name), attribute)
            # Found without this method from now on: drawing asks forty thousand times.
            setattr(self, attribute, value)
            return value

    jinja2, np, pd, sns = map(_Library, ("jinja2", "numpy", "pandas", "seaborn"))
    arrow_csv, pa, pq = map(_Library, ("pyarrow.csv", "pyarrow", "pyarrow.parquet"))
    subset = _Library("fontTools.subset")
    # The t distribution is in ``special`` too, which takes a tenth of the time of ``stats``.
    optimize, special, stats = map(_Library, ("scipy.optimize", "scipy.special", "scipy.stats"))
    plt, colors, lines, patches, ticker = (
        _Library(f"matplotlib.{name}")
        for name in ("pyplot", "colors", "lines", "patches", "ticker")
    )

__all__ = [
    *["arrow_csv", "colors", "jinja2", "lines", "np", "optimize", "pa", "patches", "pd"],
    *["plt", "pq", "sns", "special", "stats", "subset", "ticker"],
]
