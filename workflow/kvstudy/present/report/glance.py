"""What the page that is read first says beside the facts of the run."""

from __future__ import annotations

from dataclasses import dataclass

from kvstudy.language.recorded import recorded_amounts
from kvstudy.stats.ratios import Verdict
from kvstudy.study.figure_kinds import DrawnFigure
from kvstudy.study.model import Study

# Components of a machine that tell a reader what kind of machine it is.
TOLD = ("CPU", "Memory", "OS")


@dataclass(frozen=True)
class Glance:
    """The machine in few words, the study's first figure, the verdicts that name their claims."""

    machine: list[str]
    figure: DrawnFigure | None
    told_verdicts: tuple[str, ...] = (
        Verdict.REPRODUCED.value,
        Verdict.DIRECTION_ONLY.value,
        Verdict.CONTRADICTED.value,
    )


def glance_facts(study: Study, environment: dict) -> Glance:
    """From the study and ``environment.json``, whose machines may be missing."""
    automatic = study.automatic_names["figures"]
    own = [figure for figure in study.drawn_figures if figure.name not in automatic]
    machines = environment.get("machines", [])
    found = {each["component"]: each for each in machines[0]} if len(machines) == 1 else {}
    texts = [_text(found[name]) for name in TOLD if name in found]
    return Glance(texts, own[0] if own else None)


def _text(component: dict) -> str:
    name, details = (recorded_amounts(component.get(part, "")) for part in ("name", "details"))
    return f"{name} ({details})" if details else name
