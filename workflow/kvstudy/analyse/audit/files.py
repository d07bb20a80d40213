"""The audit of a study's source: made from its files, written, and read again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from kvstudy.analyse.audit.check import COLUMNS, MISFITS, NUMBERS, Check, Fits, Kind
from kvstudy.analyse.audit.source import CELL, Cell, Source, read_values, which
from kvstudy.analyse.audit.tables import ACROSS_CELLS, OF_CELL
from kvstudy.analyse.audit.text import quotes
from kvstudy.analyse.tidy.files import read_csv
from kvstudy.analyse.tidy.results import REJECTED, read_published
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.quotes import Quotes, addresses, load_quotes
from kvstudy.study.workload import PROPORTIONS, load_only, properties_of

MADE_BY = "written by `kvstudy audit`"


def audit(study: Study, published: Path | None, quoted: Path | None) -> pd.DataFrame:
    """All checks of the source (see ``check.Check``), the tables' first.

    ``published`` are its tables, ``quoted`` what its text says; one of them may be missing.
    KvstudyError names file and key of a quote that the tables do not have.
    """
    said = load_quotes(quoted, study, published) if quoted else Quotes()
    if published is None:
        for index, quote in enumerate(said.quotes):
            for address in addresses(quote.expected):
                raise KvstudyError(
                    f"{quoted}: quotes[{index}].expected: '{address}' needs a published.csv, and "
                    "the study has none; leave `expected` out, or give numbers"
                )
        checks = quotes(said.quotes, pd.DataFrame(), quoted)
    else:
        values = read_values(published, said.setting.decimals)
        checks = consistency(values, Source(said.setting, said.failures, _shares(study)))
        checks += quotes(said.quotes, values, quoted)
    return pd.DataFrame([check.row() for check in checks], columns=COLUMNS)


def consistency(values: pd.DataFrame, source: Source) -> list[Check]:
    """The checks of the tables with the ``values`` (``values.read_values``)."""
    cells = [Cell.of(rows) for _, rows in values.groupby(CELL, sort=False, dropna=False)]
    checks = [row for cell in cells for check in OF_CELL for row in check(cell, source)]
    return checks + [row for check in ACROSS_CELLS for row in check(values, cells, source)]


def _shares(study: Study) -> dict[str, dict[str, float]]:
    """The shares of the operations (0 to 1) of each workload with a run phase."""
    found = {}
    for use in study.workloads:
        properties = properties_of(study, use)
        if load_only(properties):
            continue
        shares = {
            operation: float(properties.get(name, default))
            for name, (operation, default) in PROPORTIONS.items()
        }
        total = sum(shares.values()) or math.nan
        found[use.name] = {name: share / total for name, share in shares.items()}
    return found


def gravest_first(checks: pd.DataFrame) -> pd.DataFrame:
    """Those that do not fit: by what changes, and then by how far they are off."""
    wrong = checks[checks["fits"].isin(MISFITS)]
    order = [list(MISFITS).index(each) for each in wrong["fits"]]
    wrong = wrong.assign(order=order, size=-wrong["off"].abs())
    return wrong.sort_values(["order", "size"], kind="stable").drop(columns=["order", "size"])


def misfits(checks: pd.DataFrame) -> dict[str, dict[str, object]]:
    """The gravest check that does not fit of each statement of a claim, by its name (J4/1)."""
    wrong = gravest_first(checks[checks["claim"] != ""]).drop_duplicates("claim")
    return {row["claim"]: row for row in wrong.to_dict("records")}


def write_audit(checks: pd.DataFrame, path: Path) -> None:
    """Write ``audit.csv``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    checks.to_csv(path, index=False, lineterminator="\n")


def read_audit(path: Path) -> pd.DataFrame:
    """The checks in ``path``; KvstudyError when they are not there."""
    return read_csv(path, COLUMNS, NUMBERS, MADE_BY)


def as_text(checks: pd.DataFrame, everything: bool) -> Iterator[str]:
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


def read_judged(published: Path, audit: Path | None) -> pd.DataFrame:
    """The published values with what the file ``audit`` (audit.csv) says of them."""
    values = read_published(published)
    return judged_values(values, read_audit(audit)) if audit else values


def judged_values(values: pd.DataFrame, checks: pd.DataFrame) -> pd.DataFrame:
    """``values`` (``read_published``) with ``rejected``: a check of theirs changes a result.

    Of two values that cannot both be true both are rejected, since none says which is wrong,
    and so is a mean over the workloads with such a value in it.
    """
    rejected = pd.Series(False, index=values.index)
    wrong = checks[(checks["fits"] == Fits.RESULT) & (checks["kind"] != Kind.TEXT)]
    for doubts in wrong["doubts"]:
        for address in filter(None, doubts.split("; ")):
            rejected |= which(values, address)
    same = ["store", "operation", "metric"]
    parts = values.loc[rejected, same].drop_duplicates().assign(part=True)
    in_mean = values[same].merge(parts, on=same, how="left")["part"].notna().to_numpy()
    rejected |= (values["workload"] == MEAN) & in_mean
    return values.assign(**{REJECTED: rejected})
