"""The audit of a source as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from kvstudy.analyse.audit.check import Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd


def audit_lines(checks: pd.DataFrame, everything: bool) -> Iterator[str]:
    """Counts by kind, then a line for each check that does not fit, or for all of them."""
    words = {each: str(each) or "no verdict" for each in Fits}
    yield f"{'kind':10}{'checks':>7}" + "".join(f"{word:>17}" for word in words.values())
    for kind in Kind:
        fits = checks.loc[checks["kind"] == kind, "fits"]
        if len(fits):
            counts = "".join(f"{(fits == each).sum():>17}" for each in words)
            yield f"{kind:10}{len(fits):>7}{counts}"
    for row in (checks if everything else gravest_first(checks)).itertuples():
        where = " ".join(part for part in (row.place, row.store, row.workload) if part)
        yield (
            f"{words[Fits(row.fits)].upper()}: {where}: {sentence(row.what)}: {row.given:.7g}, "
            f"expected {row.expected:.7g} ({row.low:.7g} to {row.high:.7g}) {row.unit}"
            + (f"; {sentence(row.note)}" if row.note else "")
        )
