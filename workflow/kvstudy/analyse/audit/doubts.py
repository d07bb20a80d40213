"""Which published values the audit rejects."""

from __future__ import annotations

from pathlib import Path

from kvstudy.analyse.audit.check import Fits, Kind
from kvstudy.analyse.audit.files import read_audit
from kvstudy.analyse.audit.values import which
from kvstudy.analyse.tidy.published import REJECTED, read_published
from kvstudy.libraries import pd
from kvstudy.study.parts import MEAN


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
