"""Tables of the setting: the machine, the stores, and their operations."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import ycsb_versions
from kvstudy.analyse.tidy.probes import OK, RARE
from kvstudy.exhibits.table import Table
from kvstudy.language.current import N_, _, ngettext, pgettext
from kvstudy.language.locale import decimal, list_of
from kvstudy.language.reasons import reason, sentence
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection, head_of
from kvstudy.layout.numbers import whole
from kvstudy.layout.rich_text import DASH, RichText, grey, rich
from kvstudy.libraries import pd
from kvstudy.study.probe import SCANNED, STEPS
from kvstudy.study.properties import (
    JUDGED,
    STATED,
    TITLES,
    published_properties,
    store_properties,
)
from kvstudy.study.workload import operations_of, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.probes import Probes
    from kvstudy.exhibits.printed import PublishedSource
    from kvstudy.study.model import Study

MACHINE = ["component", "name", "details", "source_name", "source_details"]


class MachineTable(Table):
    """The machine of the cells, next to the source's."""

    in_template = True
    cells = "all"
    controls = True

    kind: Literal["machine"] = Field(description="The machine of the cells.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per component; those of the source that were not looked for here come last.

        Stores follow as components with their version.
        """
        study, environment = run.study, run.environment
        table: dict[str, dict[str, str]] = {}

        def put(component: str, **values: str) -> None:
            # "Memory" and "memory" are one component, and so are they in the reader's language.
            row = table.setdefault(sentence(component).casefold(), dict.fromkeys(MACHINE, ""))
            row["component"] = row["component"] or component
            row.update(values)

        for component, part in _parts(environment):
            put(component, name=part["name"], details=part.get("details", ""))
        if study.imported:
            put(N_("Machine"), name=study.imported.machine or _("not recorded"))
        for part in study.source.machine if study.source else []:
            put(part.component, source_name=part.name, source_details=part.details)
        if version := ", ".join(ycsb_versions(environment)):
            put("YCSB", name=version)
        for store in study.store_names:
            if facts := environment["stores"].get(store):
                embedded = run.stores[store].kind == "embedded"
                provider = "" if embedded else facts.get("provider", "")
                arguments = shlex.join(facts.get("arguments", []))
                details = ", ".join(filter(None, (provider, arguments)))
                put(run.titles[store], name=facts["version"], details=details)
        return pd.DataFrame(table.values(), columns=MACHINE)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per component: here, and that of the source if it told any."""
        columns, widths = [_("This study")], (0.7,)
        source = run.study.source
        if (rows["source_name"] != "").any():
            columns, widths = [_("This study"), f"{source.author}, {source.year}"], (0.4, 0.4)
        lines = []
        for row in rows.itertuples():
            cells = [_joined(row.name, row.details), _joined(row.source_name, row.source_details)]
            lines.append(TableRow(sentence(row.component), cells[: len(columns)]))
        paper = Paper("small", "", widths=widths)
        return [Grid(columns, [TableSection("", lines)], corner=_("Component"), paper=paper)]

    def published_grid(self, source: PublishedSource) -> Grid | None:
        """The source's own machine table."""
        lines = [
            TableRow(sentence(part.component), [sentence(part.name), sentence(part.details)])
            for part in source.study.source.machine
        ]
        if not lines:
            return None
        heads = [_("Name"), _("Details")]
        return source.table(heads, [TableSection("", lines)], _("Component"), text=True)


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


PROPERTIES = ["property", "store", "version", "says", "references", "published"]
# Stores that fit side by side, and their share of the line.
MOST_STORES, WIDTH = 4, 0.8


class PropertiesTable(Table):
    """The properties of the study's stores, from their properties.yaml."""

    in_template = True
    cells = "none"

    kind: Literal["properties"] = Field(
        description="Properties of the stores (licence, indexes, replication, ...) with "
        "references, from `envs/stores/<store>/properties.yaml`."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per property and store; ``references`` are addresses with spaces between.

        ``says`` is "" for a property that is a judgement, which only the source has.
        """
        properties, published = store_properties(run.study), published_properties(run.study)
        statements = published.stores if published else {}
        names = [
            *STATED,
            *(name for name in JUDGED if any(name in of for of in statements.values())),
        ]
        rows = []
        for name, (store, of_store) in product(names, properties.items()):
            says, references = "", ""
            if name in STATED:
                statement = getattr(of_store, name)
                says = statement.says
                references = " ".join(of_store.references[one].url for one in statement.references)
            published_words = statements.get(store, {}).get(name, "")
            rows.append([name, store, of_store.version, says, references, published_words])
        return pd.DataFrame(rows, columns=PROPERTIES)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per property, a column per store."""
        versions = rows.drop_duplicates("store").set_index("store")["version"]
        columns = [
            head_of(f"{run.titles[store]} {version}", store=store)
            for store, version in versions.items()
        ]
        lines = [
            TableRow(_(TITLES[name]), [_statement(row) for row in of.itertuples()])
            for name, of in rows.groupby("property", sort=False)
        ]
        side_by_side = -(-len(columns) // -(-len(columns) // MOST_STORES))
        widths = (WIDTH / side_by_side,) * len(columns)
        paper = Paper("scriptsize", label=0.13, widths=widths, most=MOST_STORES)
        return [Grid(columns, [TableSection("", lines)], _notes(rows, run.study), paper=paper)]

    def published_grid(self, source: PublishedSource) -> Grid | None:
        """Return the source's statements on the stores, in our words: its own are not English."""
        published = published_properties(source.study)
        if published is None:
            return None
        stores = [name for name in source.study.store_names if name in published.stores]
        lines = [
            TableRow(
                _(title), [sentence(published.stores[store].get(name, DASH)) for store in stores]
            )
            for name, title in TITLES.items()
            if any(name in published.stores[store] for store in stores)
        ]
        missing = [source.title(name) for name in source.study.store_names if name not in stores]
        notes = [_("Translated.")]
        if missing:
            notes.append(_("The source's table has no {}.").format(_(" and no ").join(missing)))
        heads, sections = list(map(source.title, stores)), [TableSection("", lines)]
        return source.table(heads, sections, notes=notes, text=True, stores=stores)


def _statement(row) -> RichText:
    """Return the store's property, and in brackets the source's statement."""
    published = " " + grey(f"({sentence(row.published)})") if row.published else ""
    return rich(row.says) + published


def _notes(rows: pd.DataFrame, study: Study) -> list[str]:
    notes = []
    if (rows["published"] != "").any():
        source = study.source
        name = f"{source.author}, {source.year}" if source else _("the source")
        notes.append(_("In brackets, grey: the statement of {}.").format(name))
    if (rows["says"] == "").any():
        judged = [_(TITLES[name]) for name in JUDGED if name in set(rows["property"])]
        text = ngettext(
            "{} is a judgement of the source without a stated measure; nothing here is next to "
            "it. How fast the stores respond is what this report measures.",
            "{} are judgements of the source without a stated measure; nothing here is next to "
            "it. How fast the stores respond is what this report measures.",
            len(judged),
        )
        notes.append(text.format(list_of(judged)))
    return notes


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
    """The work per operation and store, in every report."""

    in_template = True
    cells = "none"
    probes = True
    own_caption = N_("Work per operation and store")

    kind: Literal["operations"] = Field(
        description="The work per operation and store; in every report."
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
        # All workloads are loaded.
        of_workloads = (operations_of(properties_of(run.study, use)) for use in run.study.workloads)
        used = {"insert"}.union(*of_workloads)
        used |= {"read", "update"} if "read-modify-write" in used else set()
        steps = [step.name for step in STEPS if step.name in LABELS and step.operation in used]
        sized = "update" in used
        sections = []
        for store in run.study.store_names:
            reason, title = run.probes.reason(store), run.titles[store]
            lines = [] if reason else [_line(run.probes, store, step, sized) for step in steps]
            if reason:
                title += ": " + _("not probed")
            sections.append(TableSection(title, lines, store=store, note=sentence(reason)))
        columns = [
            " ".join([_("Commands that the server"), _("counted, per operation")]),
            *([" ".join([_("Bytes per record,"), _("before \N{RIGHTWARDS ARROW} after")])] * sized),
            _("On a missing key"),
        ]
        notes = [
            _(
                "Commands have the server's own names; those below {} per operation "
                "(connecting, reading counters) are omitted."
            ).format(decimal(f"{RARE:g}"))
        ]
        if sized:
            notes.append(
                _(
                    "Bytes are counted by each server: comparable before and after, not between "
                    "stores."
                )
            )
        if "delete" in used:
            notes.append(_("Deletes were not probed."))
        paper = PAPER if sized else Paper(widths=(0.55, 0.25), head=20)
        return [Grid(columns, sections, [" ".join(notes)], corner=_("Operation"), paper=paper)]


def _line(probes: Probes, store: str, step: str, sized: bool) -> TableRow:
    """With its sizes where records change theirs (``sized``)."""
    label = _(LABELS[step]).format(SCANNED)
    if not probes.operations(store, step):
        return TableRow(label, [pgettext("operation", "not supported"), *[""] * sized, ""])
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
        both = (whole(size) for size in probes.sizes(store, step) or ())
        sizes = " \N{RIGHTWARDS ARROW} ".join(both) or DASH
    cells = [commands or DASH, *[sizes] * sized, _missing(probes, store, step)]
    return TableRow(label, cells)


def _missing(probes: Probes, store: str, step: str) -> str:
    """Return the response to a missing key, and its effect."""
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
