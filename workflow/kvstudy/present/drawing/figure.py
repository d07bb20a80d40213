"""What a kind of drawn figure does, and what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudy.libraries import pd, plt
from kvstudy.study.kinds import AnyFigure

if TYPE_CHECKING:
    from kvstudy.analyse.findings.files import Analysis
    from kvstudy.analyse.tidy.results import Results
    from kvstudy.analyse.tidy.swept import Swept
    from kvstudy.present.drawing.chart import Chart
    from kvstudy.present.drawing.draw import Look
    from kvstudy.study.model import Study


@dataclass(frozen=True)
class Shown:
    """What figures are made of: a study, the tables of ``kvstudy parse`` and of the analysis.

    ``swept`` has all sizes, the others those that are shown.
    """

    study: Study
    results: Results
    series: pd.DataFrame
    resources: pd.DataFrame
    analysis: Analysis
    swept: Swept


@dataclass(frozen=True)
class Looks:
    """How figures name and colour what they show, the same in all figures of a study."""

    study: Study
    stores: dict[str, Look]

    @property
    def titles(self) -> dict[str, str]:
        """The stores as people read them, by their names."""
        return {name: look.title for name, look in self.stores.items()}

    @property
    def publisher(self) -> str:
        """Who published, in brackets; nothing for a study without a source."""
        source = self.study.source
        return f"({source.author}, {source.year})" if source else ""


class DrawnFigure(AnyFigure):
    """A figure: its rows, and a static and an interactive form of them.

    Both forms show the rows alone: the same values, names and order.
    """

    def rows(self, run: Shown) -> pd.DataFrame:
        """What the figure shows of a run: its CSV, and all that is drawn."""
        raise NotImplementedError

    def published_rows(self, study: Study, values: pd.DataFrame) -> pd.DataFrame | None:
        """What it shows of the published ``values`` alone; None where they have nothing of it."""
        return None

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """The static form; ``drawing.draw.use_style`` comes before it."""
        raise NotImplementedError

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """The interactive form; ``table`` as ``drawing.write.read_figure`` gives them."""
        raise NotImplementedError
