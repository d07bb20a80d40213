"""The YCSB client: which jars it runs on and how a phase is called."""

import functools
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kvstudy.errors import InputError, RunError
from kvstudy.stores.ask import LIBRARY
from kvstudy.stores.definition import Store
from kvstudy.stores.process import pinning_prefix
from kvstudy.study.cells import Cell, Share
from kvstudy.study.parts import RAW_TYPE
from kvstudy.study.raw import SUMS, file_digest, raw_latencies, read_sums
from kvstudy.study.workload import ROUNDS_FILE, WORKLOADS, class_of, load_workload, operations_of
from kvstudy.study.ycsb_properties import CORE, TOGETHER


@dataclass(frozen=True)
class Client:
    """A class path and the name of the store's binding on it.

    ``kind`` is ``kvstudy`` (our bindings) or ``ycsb.home`` (the official
    distribution). ``cores`` are those that it may run on; empty for all.
    """

    kind: str
    classpath: str
    db: str
    jars: tuple[Path, ...]
    cores: str = ""

    def describe(self) -> dict:
        """Return the manifest's entries: the hash of each jar."""
        hashes = {jar.name: _digest(jar, jar.stat().st_mtime_ns) for jar in self.jars}
        return {"kind": self.kind, "db": self.db, "classpath": self.classpath, "jars": hashes}


@functools.cache
def _digest(jar: Path, _changed: int) -> str:
    """Each is asked for twice, and there are 50 MB of them."""
    return file_digest(jar)


def library_problem() -> str | None:
    """Return the problem of the bindings and their jars, with the remedy; None if there is none.

    The set-up leaves the list of what it has built; nobody else does.
    """
    if not any(LIBRARY.glob("*.jar")):
        return f"{LIBRARY}: the YCSB bindings are not built; run 'make setup'"
    sums = read_sums(LIBRARY) if (LIBRARY / SUMS).is_file() else {}
    for name, digest in sums.items():
        jar = LIBRARY / name
        if not jar.is_file():
            return f"{jar}: no such file; run 'make setup', which builds it"
        if _digest(jar, jar.stat().st_mtime_ns) != digest:
            return f"{jar}: not as it was built (cut off?); run 'make setup', which builds it again"
    return None


def find_client(store: Store, home: str = "", cores: str = "") -> Client:
    """The client for ``store``: of the YCSB distribution in ``home`` if given, else ours."""
    home = home or os.environ.get("YCSB_HOME", "")
    if problem := library_problem():
        raise RunError(problem)
    library_jars = sorted(LIBRARY.glob("*.jar"))
    if not home:
        return Client("kvstudy", f"{LIBRARY}/*", store.ycsb.db, tuple(library_jars), cores)
    if store.ycsb.official is None:
        raise InputError(
            f"ycsb.home: YCSB's distribution has no binding for {store.title}; leave out the "
            "store, or leave ycsb.home and the variable YCSB_HOME empty to use kvstudy's bindings"
        )
    folders = [Path(home) / "lib"]
    if not store.embedded:
        folders.append(Path(home) / f"{store.ycsb.official.binding}-binding" / "lib")
    # YCSB's own HdrHistogram 2.1.4 cannot write its files on JDK 11 and later.
    histogram = next(jar for jar in library_jars if jar.name.startswith("HdrHistogram"))
    jars = [histogram]
    for folder in folders:
        if not (of_folder := sorted(folder.glob("*.jar"))):
            raise InputError(
                f"ycsb.home: {folder} has no jars; name the folder of an unpacked YCSB 0.17.0 "
                "distribution, or leave ycsb.home empty to use kvstudy's bindings"
            )
        jars += of_folder
    for jar in jars:
        if not zipfile.is_zipfile(jar):
            raise InputError(f"ycsb.home: {jar} is no jar (cut off?); unpack YCSB again")
    classpath = ":".join([str(histogram), *(f"{folder}/*" for folder in folders)])
    return Client("ycsb.home", classpath, store.ycsb.official.db, tuple(jars), cores)


def check_class(client: Client, name: str) -> None:
    """Raise InputError when no jar has the workload class; YCSB would end with exit status 0."""
    if name == CORE:
        return
    entry = f"{name.replace('.', '/')}.class"
    jars = filter(zipfile.is_zipfile, client.jars)
    if any(zipfile.Path(jar, entry).exists() for jar in jars):
        return
    remedy = "check its spelling, or put its jar there"
    if name.startswith("kvstudy."):
        remedy = "it is in kvstudy's bindings: run 'make setup', leave ycsb.home empty"
    raise InputError(
        f"workload={name}: no jar of the class path {client.classpath} has this class; {remedy}"
    )


def phase_command(
    client: Client,
    store: Store,
    cell: Cell,
    phase: str,
    host: str,
    port: int,
    directory: Path,
    rate: int | None = None,
    share: Share | None = None,
    start: str = "",
) -> list[str]:
    """The command of one phase; YCSB finds its jars through the variable CLASSPATH.

    Sizes are the same totals in both phases (YCSB derives the key range from recordcount). Files
    go to ``<directory>/<label>.<OPERATION>.hdr``, ``.gc.log`` and, if the cell keeps them,
    ``raw_latencies``; the label is that of the ``share``, which one of several clients has, else
    the phase. Clients meet at ``start`` (host:port), where that is given. ``rate`` is that of the
    run phase in ops/s over all threads; None: no limit.
    """
    (whole,) = replace(cell, clients=None).shares(phase)
    share = share or whole
    label = share.label
    file = WORKLOADS / cell.workload
    # A workload under another name than its file's has all of its properties by itself.
    options, in_file = [], {}
    if file.is_file():
        options, in_file = ["-P", str(file)], load_workload(file)
    properties = {
        **dict(set(cell.properties) - in_file.items()),
        **store_properties(store, host, port, directory),
        "recordcount": cell.records,
        # Loading needs it too: CoreWorkload's zipfian distribution reads it at start.
        "operationcount": cell.executed,
        "measurementtype": "hdrhistogram",
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": f"{directory}/{label}.",
    }
    if cell.clients and phase == cell.measured_phase:
        cell_properties = dict(cell.properties)
        properties |= {"workload": TOGETHER, "together.workload": class_of(cell_properties)}
        properties |= {"together.at": start} if start else {}
        if phase == "load":
            properties |= {"insertstart": share.first, "insertcount": share.count}
        else:
            properties["operationcount"] = share.count
            if "insert" in operations_of(cell_properties):
                # The first key that YCSB inserts in a run is the number of the records. With
                # another number its zipfian distribution asks for one key more than there are.
                properties["recordcount"] = cell.records + share.first
                properties["insertcount"] = cell.records
    if cell.seconds and phase == "run":
        # A timed cell ends by its time, never by its count.
        properties |= {"operationcount": 2**31 - 1, "maxexecutiontime": cell.seconds}
    if cell.rounds:
        properties |= {"rounds.reads": cell.operations, "rounds.file": f"{directory}/{ROUNDS_FILE}"}
    if cell.raw_latencies and phase == cell.measured_phase:
        properties |= {
            "measurementtype": RAW_TYPE,
            "measurement.raw.output_file": raw_latencies(directory, label),
            # The histogram has the same, and for this YCSB would sort all latencies.
            "measurement.raw.no_summary": "true",
        }
    jvm = [f"-Xlog:gc:file={directory}/{label}.gc.log"]
    if rate is not None and phase == "run":
        options += ["-target", str(max(1, round(rate * share.count / whole.count)))]
    return ycsb_command(client, phase == "load", share.threads, properties, options, jvm)


def store_properties(store: Store, host: str, port: int, directory: Path) -> dict[str, str]:
    """Return YCSB's properties of the store's address, or of an embedded one's ``directory``."""
    values = {"host": host, "port": port, "data": directory / "data"}
    return {name: value.format(**values) for name, value in store.ycsb.properties.items()}


def ycsb_command(
    client: Client,
    load: bool,
    threads: int,
    properties: dict,
    options: Sequence[str] = (),
    jvm: Sequence[str] = (),
) -> list[str]:
    """The command of a YCSB client that says on standard error each second how far it is."""
    command = [*pinning_prefix(client.cores), "java", *jvm, "site.ycsb.Client"]
    command += ["-load" if load else "-t", "-s", "-db", client.db, "-threads", str(threads)]
    command += options
    for name, value in sorted((properties | {"status.interval": 1}).items()):
        command += ["-p", f"{name}={value}"]
    return command
