"""The table of operations: what one of them makes each server do, as the probes found it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.analyse.tidy.probes import OK, RARE
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table
from kvstudy.study.probe import SCANNED, STEPS
from kvstudy.study.workload import operations_of, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.probes import Probes
    from kvstudy.study.model import Study

LABELS = {
    "insert": N_("Insert"),
    "read": N_("Read"),
    "scan": N_("Scan of {} records"),
    "update-all": N_("Update, all fields"),
    "update": N_("Update, one field"),
}
# The steps on keys that are not there belong to the same operation on those that are.
MISSING = {"read": "read-missing", "update": "update-missing"}
PAPER = Paper(widths=(0.385, 0, 0.25), head=20)


class OperationsTable(Table):
    """What one operation makes each server do. A study that names none has it all the same."""

    cells = "none"
    probes = True
    own_caption = N_("What one operation means on each store")

    kind: Literal["operations"] = Field(
        description="What one operation makes each server do; every study has one, also unnamed."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """Everything that was found out, one step of one store a row, unrounded.

        ``meaning`` is what the store says of its operation.
        """
        probes, table = run.probes, []
        for store in run.study.store_names:
            for step in STEPS:
                before, after = probes.sizes(store, step.name) or (None, None)
                commands = probes.commands(store, step.name).items()
                table.append(
                    {
                        "store": store,
                        "step": step.name,
                        "operation": step.operation,
                        "operations": probes.operations(store, step.name),
                        "statuses": _shares(probes.statuses(store, step.name)),
                        "commands": ", ".join(f"{name} {count:.4f}" for name, count in commands),
                        "misses": probes.missed(store, step.name),
                        "bytes_before": before,
                        "bytes_after": after,
                        "meaning": run.stores[store].operations.get(step.operation, ""),
                        "note": probes.reason(store),
                    }
                )
        return pd.DataFrame(table)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per store, a line per operation that the study measures."""
        used = _used(run.study)
        steps = [step.name for step in STEPS if step.name in LABELS and step.operation in used]
        sections = []
        for store in run.study.store_names:
            reason, title = run.probes.reason(store), run.titles[store]
            lines = [] if reason else [_line(run.probes, store, step) for step in steps]
            if reason:
                title += ": " + _("not probed")
            sections.append(Section(title, lines, store=store, note=sentence(reason)))
        columns = [
            " ".join([_("Commands that the server"), _("counted, per operation")]),
            " ".join([_("Bytes per record,"), _("before \N{RIGHTWARDS ARROW} after")]),
            _("On a missing key"),
        ]
        note = _(
            "Commands have the server's own names; below {} an operation they are left out "
            "(connecting, asking for the counters). Bytes are each server's own count: "
            "they compare before and after, not between stores."
        ).format(decimal(f"{RARE:g}"))
        return [Grid(columns, sections, [note], corner=_("Operation"), paper=PAPER)]


def _used(study: Study) -> set[str]:
    """The operations of the study's workloads; all of them are loaded."""
    used = {"insert"}
    for use in study.workloads:
        used.update(operations_of(properties_of(study, use)))
    return used | {"read", "update"} if "read-modify-write" in used else used


def _line(probes: Probes, store: str, step: str) -> Line:
    label = _(LABELS[step]).format(SCANNED)
    if not probes.operations(store, step):
        return Line(label, [pgettext("operation", "not supported"), "", ""])
    statuses = probes.statuses(store, step)
    # Names may hold points, so only the numbers are turned into those of the language.
    commands = ", ".join(
        f"{name}\N{NO-BREAK SPACE}{decimal(f'{count:.2f}')}"
        for name, count in probes.commands(store, step).items()
    )
    if set(statuses) != {OK}:
        commands = f"{commands or DASH} ({_shown_shares(statuses)})"
    sizes = ""
    if step.startswith("update"):
        both = (grouped(f"{size:.0f}") for size in probes.sizes(store, step) or ())
        sizes = " \N{RIGHTWARDS ARROW} ".join(both) or DASH
    return Line(label, [commands or DASH, sizes, _missing(probes, store, step)])


def _missing(probes: Probes, store: str, step: str) -> str:
    """What the operation says of a key that is not there, and what comes of it."""
    if step not in MISSING:
        return ""
    text = _shown_shares(probes.statuses(store, MISSING[step]))
    if step == "update":
        return _("{}, creates it").format(text) if probes.creates(store) else text
    missed = probes.missed(store, MISSING[step])
    return text if missed is None else _("{}, {} misses").format(text, decimal(f"{missed:.2f}"))


def _shares(statuses: dict[str, float]) -> str:
    """``OK``, or ``OK 98 %, ERROR 2 %``."""
    if len(statuses) == 1:
        return next(iter(statuses))
    return ", ".join(f"{name} {share * 100:.3g} %" for name, share in statuses.items())


def _shown_shares(statuses: dict[str, float]) -> str:
    """A number and its sign stay on one line."""
    return decimal(_shares(statuses)).replace(" %", "\N{NO-BREAK SPACE}%")
