"""One measured cell, read from its raw logs: what counts, or why it cannot be read."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from kvstudy.analyse.tidy.files import CELL, OF_CELLS
from kvstudy.analyse.tidy.histograms import histogram_row
from kvstudy.analyse.tidy.outcomes import good, invalid, lost, missed, outcomes
from kvstudy.analyse.tidy.resources import (
    Samples,
    client_start,
    cpu_shares,
    gc_pauses,
    resources,
    usage,
)
from kvstudy.errors import DataError, InputError, KvstudyError
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.check import check_histogram, check_raw, read_rounds
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.latencies import count_latencies
from kvstudy.logs.ycsb.log import YcsbLog, parse
from kvstudy.logs.ycsb.status import (
    SILENT_SECONDS,
    StatusLines,
    longest_stall,
    operations_per_second,
    operations_so_far,
    read_status,
    silence,
)
from kvstudy.logs.ycsb.together import ClientLog, Together, together
from kvstudy.study.cells import Cell, Target
from kvstudy.study.consistency import client_cores, differences
from kvstudy.study.metrics import metric_of
from kvstudy.study.model import Study
from kvstudy.study.parts import AUTO
from kvstudy.study.raw import changed_parameters, check_sums, kept_latencies, one_line, renewal
from kvstudy.study.workload import ROUNDS_FILE

MANIFEST = "manifest.json"
# Before the name of an operation: its latencies from the time that a target rate asked for.
INTENDED = "intended "
# A longer time without a good operation is reported.
STALL_SECONDS = 5
# In s: YCSB's run time, by the time of day, is shorter than what we saw of its client, by a clock
# that nobody sets and that does not count the time of a suspended machine.
CLOCK_SECONDS = 1
# In ms: clients that begin further apart did not do the same work together.
MOST_SKEW = 500


@dataclass(frozen=True)
class CellTables:
    """A measured cell: its manifest and its rows of each table."""

    manifest: dict
    rows: dict[str, list[dict]]

    def lines(self) -> dict[str, str]:
        """The lines of each table by its name."""
        return {table.name: table.lines(self.rows.get(table.name, ())) for table in OF_CELLS}


class Unreadable(DataError):
    """The files of one measurement are not whole; those of others may be. On one line."""


@contextlib.contextmanager
def reading(folder: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong is Unreadable, and names files of ``folder`` by their name only.

    ``what`` is the file, or files, to name if the error does not.
    """
    try:
        yield
    except (MemoryError, ImportError):
        # The environment is at fault: once it was made again meanwhile, and sound cells counted as
        # failed ones.
        raise
    except Exception as error:  # Damaged files can be anything.
        known = isinstance(error, KvstudyError)
        problem = str(error) if known else f"{what}: cannot be read ({error!r})"
        raise Unreadable(one_line(problem.replace(f"{folder}/", ""))) from error


def read_cell(study: Study, cell: Cell, raw: Path) -> CellTables:
    """The cell whose files are in ``raw``.

    Unreadable where its files are not whole, or not those that were measured. KvstudyError
    for a cell of other parameters than the study has now, or of another origin.
    """
    with reading(raw, MANIFEST):
        check_sums(raw)
        manifest = json.loads((raw / MANIFEST).read_text(encoding="utf-8"))
        if cell.clients == AUTO:
            cell = cell.with_clients(manifest["cell"]["clients"])
        changes = changed_parameters(study, manifest["cell"], cell)
    if changes:
        raise InputError(
            f"{raw}: measured with other parameters than the study has now: {changes}. Put the "
            f"study or workload file back, or {renewal(raw)}"
        )
    _check_origin(study, manifest, raw)
    with reading(raw, "its files"):
        # What is compared between cells, and known of open-loop cells, must exist.
        differences({cell.path: manifest})
        if cell.load is not None:
            Target.model_validate(manifest["target"])
        return tables_of(study, cell, raw, manifest)


def _check_origin(study: Study, manifest: dict, raw: Path) -> None:
    """Raise KvstudyError for an imported cell in a study that measures, and the other way round.

    Both in one mean would compare machines, and the report would say wrong things of one.
    """
    if ("imported" in manifest) == bool(study.imported):
        return
    was, says, remedy = "imported", "has no key imported", "Set imported: true"
    if study.imported:
        was, says, remedy = "measured here", "says imported", "Remove that key"
    raise InputError(
        f"{raw}: was {was}, but config/studies/{study.name}/study.yaml {says}; imported and "
        f"measured cells are not mixed. {remedy}, or move the run's results away"
    )


def interval_of(manifest: dict, cell: Cell, phase: str) -> str:
    """The property measurement.interval of ``phase``; those that others measured have their own."""
    interval = manifest["phases"].get(phase, {}).get("interval")
    return interval or dict(cell.properties).get("measurement.interval", "op")


def key_of(cell: Cell) -> dict:
    return {name: getattr(cell, name) for name in CELL}


def tables_of(study: Study, cell: Cell, raw: Path, manifest: dict) -> CellTables:
    """Parse the raw logs of the cell. DataError for a broken one."""
    files = _Files(cell, raw, manifest)
    phase = cell.measured_phase
    # Of a cell that others measured, the load can be missing.
    logs = {
        name: files.log(name, name)
        for name in cell.phases
        if name in manifest["phases"] and not (cell.clients and name == phase)
    }
    values: dict[str, float | None] = {}
    reasons = []
    if study.parameters.clients == AUTO:
        values["clients"] = cell.clients or 1
    if cell.clients:
        all_clients = files.together(phase)
        logs[phase], counts = all_clients.log, all_clients.counts
        for metric in ("skew", "shared_time", "throughput_sum"):
            values[metric] = getattr(all_clients, metric)
        if all_clients.skew > MOST_SKEW:
            words = {"skew": f"{all_clients.skew:.0f}", "allowed": MOST_SKEW}
            reasons.append(reason("clients-apart", **words))
    else:
        counts = files.counts(phase, logs[phase])
    log = logs[phase]
    samples = {name: Samples(raw, name) for name in logs}
    values |= cpu_shares(samples[phase], phase, manifest)
    misses = missed(manifest, phase, log)
    # That of several clients over the time of their throughput, not to the end of the last one.
    seconds = log.attempted / log.throughput if cell.clients else log.runtime / 1000
    values |= {"goodput": good(log, misses) / seconds, "missed": misses}
    reasons += [*invalid(study, cell, log, misses), *lost(cell, manifest, log)]
    states = [files.status(share.label) for share in cell.shares(phase)]
    pause = standstill(states, samples[phase], log, manifest["phases"][phase])
    if pause:
        reasons.append(reason("stood-still", seconds=f"{pause:.0f}"))
    server = manifest["server"]
    row = {
        "status": "measured",
        "reason": "",
        "invalid": several(reasons),
        "provider": server["provider"],
        "client": manifest["client"]["kind"],
        "server_version": server["version"],
        "started": manifest["started"],
        "wall_seconds": manifest["seconds"]["total"],
        "position": manifest["position"],
        "node": manifest.get("node", ""),
    }
    started = client_start(raw, phase, manifest["phases"][phase].get("started"))
    rows = {
        "cells": [row],
        "outcomes": outcomes(manifest, phase, log),
        "resources": [{"phase": phase} | row for row in resources(samples[phase], started)],
    }
    if cell.rounds:
        rows["rounds"] = rounds(raw, cell, log).to_dict("records")
    if None not in states:
        if cell.clients:
            per_second = all_clients.per_second
        else:
            per_second = operations_per_second(states[0], f"{raw}: {phase}")
        rows["series"] = [
            {"phase": phase, "second": second, "throughput": rate}
            for second, rate in enumerate(per_second, start=1)
            if not math.isnan(rate)
        ]
        # Of several clients, one that stops leaves the others the server.
        stall = max(map(longest_stall, states))
        # Between two rounds, the table is emptied.
        if stall > STALL_SECONDS and not cell.rounds and not pause:
            values["stalled"] = stall
    of_phases = [
        (name, *of_operation)
        for name, of in logs.items()
        for of_operation in files.values(name, of, samples[name])
    ]
    rows["measurements"] = [
        {"phase": name, "operation": operation, "metric": metric, "value": float(value)}
        | {"unit": metric_of(metric).unit}
        for name, operation, of in (*of_phases, (phase, "overall", values))
        for metric, value in of.items()
        if value is not None
    ]
    rows["histograms"] = [
        histogram_row(phase, operation, of_operation) for operation, of_operation in counts.items()
    ]
    key = key_of(cell)
    of_tables = {name: [key | row for row in of_table] for name, of_table in rows.items()}
    return CellTables(manifest, of_tables)


def standstill(
    states: Sequence[StatusLines | None], samples: Samples, log: YcsbLog, watched: dict
) -> float:
    """For how long (s) the clients stood still in a phase, as on a suspended machine; 0 if not.

    That a client is silent says it of logs that others made. Of those that were ``watched`` here it
    may also be that nothing could be written for a while: there our samples, or the clocks, must
    agree.
    """
    longest = max((silence(state) for state in states if state), default=0.0)
    absence, seconds = samples.absence(), watched["seconds"]
    slept = seconds is not None and log.runtime / 1000 > seconds + CLOCK_SECONDS
    return longest if absence is None or absence > SILENT_SECONDS or slept else 0.0


def rounds(raw: Path, cell: Cell, log: YcsbLog) -> pd.DataFrame:
    """The rows of one cell, without the cell. KvstudyError for a file that is broken."""
    rows = read_rounds(raw / ROUNDS_FILE, cell, log)
    counted = (rows["round"] > cell.rounds.warmup).map({True: "yes", False: "no"})
    return rows.assign(records=cell.records, counted=counted)


@dataclass(frozen=True)
class _Files:
    """The raw files of a cell, in ``raw``. Broken ones raise KvstudyError."""

    cell: Cell
    raw: Path
    manifest: dict

    def log(self, name: str, phase: str) -> YcsbLog:
        """The results of the client ``name``."""
        path = self.raw / f"{name}.out"
        return parse(_text(path), str(path), interval_of(self.manifest, self.cell, phase))

    def values(
        self, phase: str, log: YcsbLog, samples: Samples
    ) -> Iterator[tuple[str, dict[str, float | None]]]:
        """By operation, what the log of a phase says and what was watched meanwhile."""
        went, shares = self.manifest["phases"][phase], self.cell.shares(phase)
        server, _ = samples.server() or (None, None)
        # The client's is of the whole process, its start included: short runs have more.
        client, seconds = went["client_cpu_seconds"], went["seconds"]
        yield (
            "overall",
            {
                "runtime": log.runtime,
                "throughput": log.throughput,
                "operations": log.attempted,
                "failed": log.failed,
                "client_cpu": None if client is None else client * 1e6 / log.attempted,
                "server_cpu": None if server is None else server * 1e6 / log.attempted,
            },
        )
        for name, section in log.sections.items():
            counts = {"operations": section.operations, "failed": section.failed}
            intended = {f"intended_{metric}": time for metric, time in section.intended.items()}
            yield name.lower(), counts | section.latencies | intended
        bound = (self.manifest.get("pinning") or {}).get("client")
        cores = client_cores(self.manifest, len(shares))
        watched = usage(samples, log, self.cell.threads, (client, seconds), cores, bound)
        pauses = [gc_pauses(self.raw, share.label) for share in shares]
        if None not in pauses:
            watched["gc_count"], watched["gc_pause"] = map(sum, zip(*pauses, strict=True))
        # What our own watching took of a core.
        if went["monitor_cpu_seconds"] is not None and seconds:
            watched["monitor_cpu"] = 100 * went["monitor_cpu_seconds"] / seconds
        yield "overall", watched

    def status(self, label: str) -> StatusLines | None:
        """The status lines of a client (``read_status``); None where it printed none."""
        imported = self.manifest.get("imported", {})
        if imported.get("no_status_lines"):
            return None
        path = self.raw / f"{label}.err"
        if imported and not path.is_file():
            # With both outputs in one file.
            path = self.raw / f"{label}.out"
        text = _text(path)
        return read_status(text, str(path)) if " operations; " in text else None

    def counts(self, label: str, log: YcsbLog) -> dict[str, dict[int, int]]:
        """Counts of a client's successful operations by latency (us), for each operation.

        Exact ones where single latencies were kept, else of the histogram files, if there are
        any. Intended latencies are those of an operation ``intended read``. KvstudyError when a
        file's counts are not those of ``log``.
        """
        exact: dict[str, dict[int, int]] = {}
        if self.cell.raw_latencies:
            path = kept_latencies(self.raw, label)
            exact = count_latencies(path)
            check_raw({name: sum(of.values()) for name, of in exact.items()}, log, str(path))
        rows = {}
        for name, section in log.sections.items():
            operation = name.lower()
            # With measurement.interval=intended the plain files hold intended latencies.
            only = bool(section.intended) and not section.latencies
            plain = f"{INTENDED}{operation}" if only else operation
            for file, kind in ((name, plain), (f"Intended-{name}", f"{INTENDED}{operation}")):
                path = self.raw / f"{label}.{file}.hdr"
                if file in exact:
                    rows[kind] = exact[file]
                if exact or not section.operations or not path.is_file():
                    continue
                rows[kind] = read_histogram(path)
                check_histogram(rows[kind], section.operations, str(path))
        return rows

    def together(self, phase: str) -> Together:
        """All clients of ``phase`` as one."""
        clients = []
        hosts = self.manifest.get("hosts") or {"clients": [""], "clocks": {"": {"offset": 0.0}}}
        for share, host in zip(self.cell.shares(phase), cycle(hosts["clients"])):
            log = self.log(share.label, phase)
            path = self.raw / f"{share.label}.err"
            so_far = operations_so_far(_text(path), log.attempted, str(path))
            # By the clock of the server's host.
            so_far.index += hosts["clocks"][host]["offset"]
            clients.append(ClientLog(log, self.counts(share.label, log), so_far))
        return together(clients, str(self.raw))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
