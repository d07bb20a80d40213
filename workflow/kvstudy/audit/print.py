"""The audit on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from kvstudy.audit.check import Fits, Kind

WORDS = {
    Fits.YES: "fits",
    Fits.DIGIT: "last digit",
    Fits.NO: "DOES NOT FIT",
    Fits.NONE: "no verdict",
}


def as_text(checks: pd.DataFrame, everything: bool) -> Iterator[str]:
    """Counts by kind, then a line for each check that does not fit, or for all of them."""
    heads = "".join(f"{word.lower():>14}" for word in WORDS.values())
    yield f"{'kind':12}{'checks':>8}{heads}"
    for kind in Kind:
        fits = checks.loc[checks["kind"] == kind, "fits"]
        if len(fits):
            counts = "".join(f"{(fits == each).sum():>14}" for each in WORDS)
            yield f"{kind:12}{len(fits):>8}{counts}"
    for row in checks.itertuples():
        if everything or row.fits in (Fits.NO, Fits.DIGIT):
            where = " ".join(part for part in (row.place, row.store, row.workload) if part)
            yield (
                f"{WORDS[Fits(row.fits)]}: {where}: {row.what}: {row.given:.7g}, "
                f"expected {row.expected:.7g} ({row.low:.7g} to {row.high:.7g}) {row.unit}"
                + (f"; {row.note}" if row.note else "")
            )
