"""The table of the machine: what was measured on, beside the source's machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import ycsb_versions
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.present.typeset.source import Source

COLUMNS = ["component", "name", "details", "source_name", "source_details"]


class MachineTable(Table):
    """What the cells were measured on, beside the machine of the source."""

    cells = "all"
    controls = "all"

    kind: Literal["machine"] = Field(description="What the cells were measured on.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per component; those of the source that were not looked for here come last.

        Stores follow as components with their version.
        """
        study, environment = run.study, run.environment
        table: dict[str, dict[str, str]] = {}

        def put(component: str, **values: str) -> None:
            # "Memory" and "memory" are one component, and so are they in the reader's language.
            row = table.setdefault(sentence(component).casefold(), dict.fromkeys(COLUMNS, ""))
            row["component"] = row["component"] or component
            row.update(values)

        try:
            for component, part in _parts(environment):
                put(component, name=part["name"], details=part.get("details", ""))
            if study.imported:
                put(N_("Machine"), name=study.imported.machine or _("not recorded"))
            for part in study.source.machine if study.source else []:
                put(part.component, source_name=part.name, source_details=part.details)
            if version := ", ".join(ycsb_versions(environment)):
                put("YCSB", name=version)
            for store in study.store_names:
                if facts := environment.get("stores", {}).get(store):
                    embedded = run.stores[store].kind == "embedded"
                    provider = "" if embedded else facts.get("provider", "")
                    put(run.titles[store], name=facts["version"], details=provider)
        except (KeyError, TypeError) as error:
            raise KvstudyError(
                f"{run.folder / 'environment.json'}: {error} is missing; measure a cell again or "
                "take the file from a good run"
            ) from error
        return pd.DataFrame(table.values(), columns=COLUMNS)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per component: here, and that of the source if it told any."""
        columns, widths = [_("Here")], (0.7,)
        source = run.study.source
        if (rows["source_name"] != "").any():
            columns, widths = [_("Here"), f"{source.author}, {source.year}"], (0.4, 0.4)
        lines = []
        for row in rows.itertuples():
            cells = [_joined(row.name, row.details), _joined(row.source_name, row.source_details)]
            lines.append(Line(sentence(row.component), cells[: len(columns)]))
        paper = Paper("small", "", widths=widths)
        return [Grid(columns, [Section("", lines)], corner=_("Component"), paper=paper)]

    def published_grid(self, source: Source) -> Grid | None:
        """The source's own machine table."""
        lines = [
            Line(sentence(part.component), [sentence(part.name), sentence(part.details)])
            for part in source.study.source.machine
        ]
        if not lines:
            return None
        columns = [(_("Name"), ""), (_("Details"), "")]
        return source.table(columns, [Section("", lines)], _("Component"), text=True)


def _parts(environment: dict) -> Iterator[tuple[str, dict]]:
    """Each component with its title; of several hosts, with the host that has it."""
    hosts = environment.get("hosts", [])
    if len(hosts) != 1:
        yield from ((part["component"], part) for part in environment["components"])
        return
    (used,) = hosts
    for name, parts in used["environments"].items():
        for part in parts:
            # Java is the client's.
            if name in used["clients"] or not part["component"].startswith("Java"):
                yield reason("of-host", component=part["component"], host=name), part
    low, median, high = (f"{1e6 * seconds:.0f}" for seconds in used["round_trip"])
    yield (
        N_("Network"),
        {
            "name": reason("round-trip", median=median, low=low, high=high),
            "details": reason("hosts", server=used["server"], clients=", ".join(used["clients"])),
        },
    )


def _joined(name: str, details: str) -> str:
    parts = (sentence(part) for part in (name, details) if part)
    return ", ".join(parts) or DASH
