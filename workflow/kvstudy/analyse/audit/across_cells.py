"""Whether the numbers of a source's runs can be true beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from kvstudy.analyse.audit.check import Check, Fits, Kind, judged, severity
from kvstudy.analyse.audit.source import Cell, Source
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd, stats
from kvstudy.stats.littles_law import IMPOSSIBLE_ABOVE
from kvstudy.study.base import SIZES
from kvstudy.study.parts import MEAN

# A chance of less than this is no chance.
LEAST_P = 0.001


def means(values: pd.DataFrame, cells: list[Cell], source: Source) -> Iterator[Check]:
    """A value of the mean of all workloads is that of the store's values."""
    for row in values[values["workload"] == MEAN].itertuples():
        same = (values["store"] == row.store) & (values["workload"] != MEAN)
        same &= (values["operation"] == row.operation) & (values["metric"] == row.metric)
        parts = list(values.loc[same, "number"])
        if not parts:
            continue
        mean = sum(parts[1:], parts[0]).times(1 / len(parts))
        yield Check(
            Kind.COMBINED,
            row.table,
            reason("mean-of-workloads", metric=row.metric, n=len(parts)),
            expected=mean.value,
            unit=row.unit,
            store=row.store,
            workload=MEAN,
            operation=row.operation,
            metric=row.metric,
            doubts=f"{row.store}/{MEAN}/{row.operation}/{row.metric}",
            **judged(row.number, mean.low, mean.high),
        )


def mixture(values: pd.DataFrame, cells: list[Cell], source: Source) -> Iterator[Check]:
    """Counts of operations that are drawn at random scatter by a known amount.

    The sum of z² over all runs is chi-squared, z = (count - N·p)/√(N·p·(1 - p)/runs), for one
    operation of each (the others are what is left).
    """
    squares, offs, places = [], [], {}
    whole = True
    for cell in cells:
        counts = cell.of_operations("operations")
        shares = source.shares.get(cell.keys["workload"], {})
        if len(counts) != 2 or not counts.keys() <= shares.keys():
            continue
        total = cell.executed.value
        name, number = next(iter(counts.items()))
        share = shares[name]
        if 0 < share < 1:
            squares.append((number.value - total * share) ** 2 / (total * share * (1 - share)))
            offs.append(number.value / (total * share) - 1)
            places[cell.place] = True
            whole &= all(each.value == round(each.value) for each in counts.values())
    runs = source.setting.runs
    if not squares or not runs:
        return
    degrees = len(squares)
    chi = sum(squares) * runs
    most = float(stats.chi2.ppf(1 - LEAST_P, degrees))
    note, off = "", max(offs, key=abs)
    if runs > 1:
        single = stats.chi2.sf(sum(squares), degrees)
        code = "p-value-whole" if whole else "p-value"
        note = reason(code, p=_p(stats.chi2.sf(chi, degrees)), single=_p(single))
    yield Check(
        Kind.MIXTURE,
        ", ".join(places),
        reason("scatter", counts=degrees, n=runs),
        expected=degrees,
        note=note,
        given=chi,
        low=0,
        high=most,
        # What changes is the counts; of these, the one that is farthest off.
        off=off if chi > most else 0.0,
        fits=severity(off) if chi > most else Fits.YES,
    )


def _p(value: float) -> str:
    return reason("below", bound=0.001) if value < 0.001 else f"{value:.2g}"


def by_threads(values: pd.DataFrame, cells: list[Cell], source: Source) -> Iterator[Check]:
    """N client threads do at most N times what one does, unless that one was disturbed."""
    speeds = values[(values["operation"] == "overall") & (values["metric"] == "throughput")]
    same = ["store", "workload", *(size for size in SIZES if size != "threads")]
    for key, rows in speeds.dropna(subset="threads").groupby(same, sort=False, dropna=False):
        by_threads = rows.set_index("threads")["number"]
        if 1 not in by_threads.index or len(by_threads) < 2:
            continue
        one = by_threads[1]
        gains = {n: (more / one).times(1 / n) for n, more in by_threads.items() if n != 1}
        most = max(gains, key=lambda n: gains[n].value)
        many = [n for n, gain in gains.items() if gain.value > IMPOSSIBLE_ABOVE]
        note = ""
        if many:
            above = f"{min(many):.0f}"
            if len(many) > 1:
                above = reason("range", first=above, last=f"{max(many):.0f}")
            note = reason("disturbed", worst=f"{most:.0f}", above=above)
        yield Check(
            Kind.THREADS,
            rows["table"].iloc[0],
            "by-threads",
            expected=1,
            threads=most,
            note=note,
            doubts=Cell.of(rows[rows["threads"] == 1]).address("overall", "throughput"),
            **judged(gains[most], 0, IMPOSSIBLE_ABOVE),
            **dict(zip(same, key, strict=True)),
        )


# In the order of audit.csv, after those of cells.
ACROSS_CELLS = (means, mixture, by_threads)
