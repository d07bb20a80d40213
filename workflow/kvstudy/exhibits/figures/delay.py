"""Throughput over the delay of requests, and at which delay the order of two stores shows."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import by_pair, ratio_of
from kvstudy.analyse.findings.paths import measured_delay
from kvstudy.analyse.findings.separation import mean_round_trips, threads_of
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.table import throughput_of
from kvstudy.exhibits.texts import exact, exact_range, runs
from kvstudy.language.current import N_, _
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, DASHED, INK, Style, StyleSheet
from kvstudy.layout.numbers import between, significant
from kvstudy.libraries import np, pd
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.parts import StoreUse

NUMBERS = ["delay", "value", "low", "high", "n", "law"]
COLUMNS = ["workload", "panel", "store", "one", "other", *NUMBERS, "made_of"]
SPEED, RATIO = "throughput", "ratio"
TEXTS = {"value_text": N_("Value"), "range": N_("95 % interval"), "law_text": N_("By the law")}
TEXTS |= {"delay_text": N_("Median delay"), "runs": N_("Mean of")}


class DelayPlot(DrawnFigure):
    """Throughput over the delay, and the ratio of every two stores: two panels per workload."""

    compares = probes = True
    texts = TEXTS

    kind: Literal["delay"] = Field(
        description="Throughput of the stores with a delay over that delay, with what a closed "
        "loop lets expect, and the ratio of every two stores."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload, and store or pair of stores with a ``delay`` (median, us).

        ``value`` is the geometric mean of throughput (ops/s), or the ratio of those of ``one`` and
        the ``other``, which have the same nominal delay. ``law`` is the throughput of N threads
        whose operations take as much longer than those at the shortest delay as their requests
        wait longer: 1/X = 1/X0 + w (d - d0)/N, with w round trips per operation. NaN where w is
        not known of all operations. ``made_of`` is ``Statistic.text``.
        """
        uses = [use for use in run.study.stores if use.delay is not None]
        threads, trips, rows = threads_of(run), mean_round_trips(run), []
        # Round trips per operation, shared among the threads that wait at the same time.
        waits = {setting: trips[setting] / threads[setting] for setting in trips}
        for workload in self.workloads or run.study.workload_names:
            rows += self._speeds(run, workload, uses, waits)
            rows += self._ratios(run, workload, uses)
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))

    def _speeds(
        self, run: Run, workload: str, uses: list[StoreUse], waits: dict[tuple, float]
    ) -> list[dict]:
        """The rows of the stores, those of a product from the shortest delay on."""
        speeds = run.headline_analysis.intervals.query(
            "workload == @workload and operation == 'overall' and metric == 'throughput'"
        ).set_index("store")
        rows: list[dict] = []
        for use in sorted(uses, key=lambda use: use.delay):
            if use.name in speeds.index:
                of = speeds.loc[use.name]
                key = {"workload": workload, "panel": SPEED, "store": use.name, "one": use.store}
                numbers = {"value": of["value"], "low": of["low"], "high": of["high"], "n": of["n"]}
                rows.append(key | numbers | {"delay": measured_delay(run, use.name)})
                first = next(row for row in rows if row["one"] == use.store)
                setting = (use.name, workload, run.headline[workload])
                wait = (rows[-1]["delay"] - first["delay"]) / 1e6
                rows[-1]["made_of"] = throughput_of(use.name, [setting[1:]]).text
                rows[-1]["law"] = 1 / (1 / first["value"] + waits[setting] * wait)
        return rows

    def _ratios(self, run: Run, workload: str, uses: list[StoreUse]) -> list[dict]:
        """The rows of every two stores with one nominal delay."""
        pairs = by_pair(run.headline_analysis.pairs.query("workload == @workload"))
        rows = []
        for one, other in combinations(uses, 2):
            row = pairs.get(frozenset((one.name, other.name)))
            if row is not None and one.delay == other.delay:
                value, low, high = ratio_of(row, one.name)
                delays = [measured_delay(run, use.name) for use in (one, other)]
                key = {"workload": workload, "panel": RATIO, "store": one.name}
                key |= {"one": one.store, "other": other.store, "delay": float(np.mean(delays))}
                key["made_of"] = throughput_of(
                    one.name, [(workload, run.headline[workload])], other.name
                ).text
                rows.append(key | {"value": value, "low": low, "high": high, "n": row.n})
        return rows

    def nothing(self, table: pd.DataFrame) -> str:
        return _("nothing was measured") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Throughput on a logarithmic scale with dashed lines of the law; ratios with their 1."""
        looks = _looks(table, styles)
        names = {store: look.title for store, look in looks.items()}
        table = table.assign(name=table["one"].map(names))
        x = plot.axis("delay", _("Median delay of a request (µs)"), *_ends(table["delay"]))
        legend = list(looks.values())
        panels = []
        for workload, rows in table.groupby("workload", sort=False):
            use = styles.study.workload(workload)
            speeds, ratios = (rows[rows["panel"] == panel] for panel in (SPEED, RATIO))
            low = speeds[["value", "low", "law"]].min(axis=None) / 1.3
            high = speeds[["value", "high", "law"]].max(axis=None) * 1.3
            y = plot.axis("value", _("Throughput (ops/s)"), low, high, log=True)
            law = [
                plot.Line(rows=_curve(of), look=Style("", looks[one].color, line=DASHED))
                for one, of in speeds.dropna(subset="law").groupby("one")
            ]
            marks = [plot.Whisker("low", "high"), plot.Points(hover=True)]
            words = _("Throughput of {} in ops/s over the delay of requests in µs.")
            said = words.format(use.title)
            panels.append(plot.Panel(use.title, speeds, x, y, [*law, *marks], legend, said))
            if len(ratios):
                y = plot.axis("value", _("Throughput ratio"), *_around_one(ratios), log=True)
                point = plot.Points(look=INK, marker="o", hover=True)
                marks = [plot.Whisker("low", "high", look=INK), point]
                words = _("Throughput ratios of {} over the delay of requests in µs.")
                shown = (ratios, x, y, [plot.Rule(1), *marks], [], words.format(use.title))
                panels.append(plot.Panel(_pairs(ratios, names), *shown))
        dashed = Style(_("expected of a closed loop"), DARK, line=DASHED)
        note = _(
            "Dashed: throughput at the shortest delay, each operation longer by what its requests "
            "wait. Where the interval of a ratio contains 1, these runs do not show which store is "
            "faster."
        )
        keys = [dashed] if table["law"].notna().any() else []
        return plot.Plot(panels, legend, note, keys, each=2.2)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        shown = {"title": row["name"], "runs": runs(row["n"])}
        shown["delay_text"] = exact("latency_mean", row["delay"], "us")
        if row["panel"] == SPEED:
            shown["value_text"] = exact("throughput", row["value"], "ops/s")
            shown["range"] = exact_range("throughput", row["low"], row["high"], "ops/s")
            return shown | {"law_text": exact("throughput", row["law"], "ops/s")}
        single = pd.isna(row["low"])
        ends = "" if single else between(significant(row["low"]), significant(row["high"]))
        return shown | {"value_text": significant(row["value"]), "range": ends, "law_text": ""}


def _looks(table: pd.DataFrame, styles: StyleSheet) -> dict[str, Style]:
    """The look of each product by its folder: that of its first store, with the product's name."""
    firsts = table.drop_duplicates("one")
    looks = {}
    for row in firsts.itertuples():
        use = next(use for use in styles.study.stores if use.store == row.one)
        look = styles.stores[use.name]
        looks[row.one] = replace(look, hatch=None, line=None, store=row.store)
    return looks


def _curve(rows: pd.DataFrame) -> pd.DataFrame:
    """Points of the law between the first and the last of ``rows``: 1/X is linear in the delay."""
    delays = np.linspace(rows["delay"].iloc[0], rows["delay"].iloc[-1], 60)
    inverse = np.interp(delays, rows["delay"], 1 / rows["law"])
    return pd.DataFrame({"delay": delays, "value": 1 / inverse})


def _ends(delays: pd.Series) -> tuple[float, float]:
    room = 0.05 * delays.max()
    return -room, delays.max() + room


def _around_one(ratios: pd.DataFrame) -> tuple[float, float]:
    """The ends of an axis with 1 in it."""
    values = ratios[["value", "low", "high"]].stack()
    return min(values.min(), 0.95) / 1.05, max(values.max(), 1.05) * 1.05


def _pairs(ratios: pd.DataFrame, names: dict[str, str]) -> str:
    pairs = ratios[["one", "other"]].drop_duplicates().itertuples(index=False)
    return ", ".join(" / ".join(names.get(each, each) for each in pair) for pair in pairs)
