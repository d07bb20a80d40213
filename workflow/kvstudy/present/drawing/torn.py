"""Which bars of an axis are torn, decided from the data alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

# How far a torn bar must stand above the highest one that stays, and above the
# typical one that stays. Below that an axis from zero still shows them all.
ABOVE_HIGHEST = 2.0
ABOVE_MEDIAN = 3.0


def torn(
    values: Sequence[float | None],
    tops: Sequence[float] | None = None,
    groups: Sequence[str] | None = None,
) -> list[bool]:
    """Tell for each bar of one axis whether it is torn.

    The rule: sort the bars by height and cut the row in two, the torn ones
    above and the others below, such that

    - every torn bar is at least twice as high as everything that stays,
    - and at least three times as high as the median of the bars that stay,
    - and at most half of the bars are torn, and two or more stay,
    - and no group of several bars is torn as a whole: torn bars are equally
      high, so nothing could be compared in it.

    Where several cuts are possible, the lowest one holds, so that the bars that
    stay are as readable as they can be. Where none is, no bar is torn.

    ``None`` is a place without a bar. Bars without height are left out of the
    comparison. ``tops`` are the upper ends of the whiskers: what stays must
    show its whisker too; default: ``values``. ``groups`` names the group of each
    bar; default: one group.
    """
    tops = values if tops is None else tops
    groups = [""] * len(values) if groups is None else groups
    bars = sorted(
        (value, max(value, top or 0), place)
        for place, (value, top) in enumerate(zip(values, tops, strict=True))
        if value is not None and value > 0
    )
    result = [False] * len(values)
    for cut in range(max(2, (len(bars) + 1) // 2), len(bars)):
        stay, above = bars[:cut], bars[cut:]
        highest = max(top for _, top, _ in stay)
        typical = median(value for value, _, _ in stay)
        lowest_torn = above[0][0]
        keep = {groups[place] for _, _, place in stay}
        lost = Counter(groups[place] for _, _, place in above if groups[place] not in keep)
        if (
            lowest_torn >= ABOVE_HIGHEST * highest
            and lowest_torn >= ABOVE_MEDIAN * typical
            and max(lost.values(), default=0) < 2
        ):
            for _, _, place in above:
                result[place] = True
            break
    return result
