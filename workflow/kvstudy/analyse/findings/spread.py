"""The ratios of a run's cells, by the spread of each that all of its cells show.

``stats.variances`` is the model; here its cells have names.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, log

from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import LEVEL, positive
from kvstudy.stats.ratios import MARGIN, Ratio, ratio_of
from kvstudy.stats.stopping import level_of_look
from kvstudy.stats.variances import Variances, fit
from kvstudy.study.controls import AGAIN
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

# A workload and its parameters.
Setting = tuple[str, Hashable]
# A store's values by repetition.
Runs = Mapping[str, float]


@dataclass(frozen=True)
class Spread:
    """The runs of one metric: of each setting its stores, of each store its values above 0.

    They are ``paired`` if the stores of a repetition were measured side by side. Where a setting is
    the mean over workloads (``MEAN``), ``averaged`` are the settings that it is of; it is ``plain``
    or geometric. Intervals have the ``level``, and stores are equal within the ``margin``.
    """

    runs: Mapping[Setting, Mapping[str, Runs]]
    paired: bool = True
    averaged: tuple[Setting, ...] = ()
    plain: bool = True
    level: float = LEVEL
    margin: float = MARGIN

    @cached_property
    def settings(self) -> list[Setting]:
        """Return the measured settings, without means over workloads."""
        return [setting for setting in self.runs if setting[0] != MEAN]

    def first(self, repetitions: int) -> Spread:
        """Return the spread of the first repetitions alone."""
        runs = {
            setting: {
                store: {name: value for name, value in of.items() if int(name) <= repetitions}
                for store, of in stores.items()
            }
            for setting, stores in self.runs.items()
        }
        return replace(self, runs=runs)

    def knows(self, setting: Setting) -> bool:
        """Return whether the setting was measured, or is a mean of measured ones."""
        of = self.averaged if setting[0] == MEAN else (setting,)
        return setting in self.runs and bool(of) and all(each in self.settings for each in of)

    @cached_property
    def stores(self) -> list[str]:
        return [*dict.fromkeys(store for setting in self.settings for store in self.runs[setting])]

    @cached_property
    def variances(self) -> Variances:
        """Return the variances of all measured cells; see ``stats.variances.fit``."""
        names = dict.fromkeys(
            name for setting in self.settings for of in self.runs[setting].values() for name in of
        )
        logs = np.full((len(self.settings), len(self.stores), len(names)), np.nan)
        columns = {name: column for column, name in enumerate(names)}
        for place, setting in enumerate(self.settings):
            for store, runs in self.runs[setting].items():
                for name, value in runs.items():
                    if value > 0:
                        logs[place, self.stores.index(store), columns[name]] = log(value)
        originals = [store.removesuffix(AGAIN) for store in self.stores]
        return fit(logs, [originals.index(name) for name in originals], self.paired)

    def ratio(self, setting: Setting, a: str, b: str, floor: float = 1.0) -> Ratio | None:
        """A by B; None where they have no repetition in common.

        Of the geometric means over the repetitions that both have, or over all where they are not
        paired. ``floor``: see ``stats.ratios.ratio_of``.
        """
        return self.product({(setting, a): 1.0, (setting, b): -1.0}, floor)

    def mean_ratio(
        self, settings: list[Setting], a: str, b: str, floor: float = 1.0
    ) -> Ratio | None:
        """The geometric mean over ``settings`` of A by B; None where one of them lacks a store."""
        signs = ((a, 1 / len(settings)), (b, -1 / len(settings)))
        powers = {(each, store): power for each in settings for store, power in signs}
        return self.product(powers, floor)

    def product(
        self, powers: Mapping[tuple[Setting, str], float], floor: float = 1.0
    ) -> Ratio | None:
        """The product of geometric means, each raised to its power.

        The powers of a setting add up to 0, so that what its runs share cancels out. None where a
        cell was not measured or those of a setting have no repetition in common. ValueError: a
        value that is not a number above 0.
        """
        mean, fewest, weights = 0.0, None, np.zeros((len(self.settings), len(self.stores)))
        for setting in dict.fromkeys(setting for setting, _ in powers):
            cells = {store: power for (of, store), power in powers.items() if of == setting}
            runs = {store: self.runs.get(setting, {}).get(store, {}) for store in cells}
            if self.paired:
                one = next(iter(runs.values()))
                common = [name for name in one if all(name in of for of in runs.values())]
                runs = {store: {name: of[name] for name in common} for store, of in runs.items()}
            if not all(len(of) for of in runs.values()):
                return None
            for store, power in cells.items():
                values = positive(runs[store].values(), f"values of {store}")
                mean += power * float(np.log(values).mean())
                fewest = min(fewest or values.size, values.size)
                for place, share in self._parts(setting, store):
                    weights[place, self.stores.index(store)] += (share * power) ** 2 / values.size
        if fewest == 1:
            return Ratio(exp(mean), 1)
        error, freedom = self.variances.error(weights)
        return ratio_of(mean, float(error), float(freedom), fewest, floor, self.level, self.margin)

    def _parts(self, setting: Setting, store: str) -> list[tuple[int, float]]:
        """The measured settings that the logarithm of a value depends on, and how much on each.

        A geometric mean follows each workload alike, a plain one by the workload's share in it. The
        shares of two stores differ, so what the runs of a repetition share does not quite cancel
        out of the ratio of their plain means; that is small next to the rest.
        """
        if setting[0] != MEAN:
            return [(self.settings.index(setting), 1.0)]
        means = dict.fromkeys(self.averaged, 1.0)
        if self.plain:
            means = {each: float(np.mean([*self.runs[each][store].values()])) for each in means}
        total = sum(means.values())
        return [(self.settings.index(each), value / total) for each, value in means.items()]


def level_of(study: Study) -> float:
    """The level of the intervals of a run, of which 95 % hold whenever it stops."""
    return level_of_look(study.until.first, study.until.last) if study.until else LEVEL


def margin_of(study: Study) -> float:
    """The equivalence margin: by what share two stores may differ that are called equal."""
    return (study.until and study.until.margin) or MARGIN


def spread_of(
    values: pd.DataFrame,
    paired: bool,
    shown: Mapping[str, str] | None = None,
    plain: bool = True,
    level: float = LEVEL,
    margin: float = MARGIN,
) -> Spread:
    """Return the spread of a metric's ``values``, a row per repetition; ``shown``: see ``summary``.

    ``plain``: see ``Spread``.
    """
    runs = {
        key: {
            store: of.set_index("repetition")["value"].to_dict()
            for store, of in group.groupby("store", sort=False)
        }
        for key, group in values.groupby(["workload", "parameters"], sort=False)
    }
    return Spread(runs, paired, tuple((shown or {}).items()), plain, level, margin)
