"""Folders of YCSB logs as other people's tools and habits leave them, each with its truth.

``folder(seed)`` has one to four traits: a design (sweeps, clients at once), a version of YCSB,
where its outputs go, what is before each line, encodings, names, damage, other files beside. A
trait is plain where the logs still hold every value: a folder of plain traits can be read without
a question.

Not made are folders that nothing tells apart: clients of one run without clocks, or two systems,
whose names count like repetitions.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from math import isqrt

from tests.ycsb_logs import CLASSES, START
from tests.ycsb_logs import MIXES as OF_YCSB

OTHER_CLASSES = {
    "couchbase": "site.ycsb.db.couchbase2.Couchbase2Client",
    "hbase": "site.ycsb.db.hbase2.HBaseClient2",
}
MIXES = OF_YCSB | {
    "80/20": {"READ": 0.8, "UPDATE": 0.2},
    "with scans": {"READ": 0.5, "SCAN": 0.5},
}
Before = str | Callable[[int], str]


def clock(i: int) -> str:
    return f"09:{i // 60:02d}:{i % 60:02d}"


# What stands before each line; ``i`` counts the lines.
PREFIXES: dict[str, Before] = {
    "docker compose": "ycsb-1  | ",
    "a version in the name": "ycsb-redis-6.2-1  | ",
    "kubectl --prefix": "[pod/ycsb-7x9kq/ycsb] ",
    "kubectl --timestamps": lambda i: f"2026-03-02T{clock(i)}.{i * 7919 % 10**9:09d}Z ",
    "both": lambda i: f"[pod/ycsb-7x9kq/ycsb] 2026-03-02T{clock(i)}.{i:09d}Z ",
    "GitHub Actions": lambda i: f"2026-03-02T{clock(i)}.1234567Z ",
    "gh run view": lambda i: f"bench (8)\tRun YCSB\t2026-03-02T{clock(i)}.1234567Z ",
    "journalctl": lambda i: f"Mar {2 + i // 20:2d} {clock(i)} kv-3 ycsb[4711]: ",
    "journalctl in Czech": lambda i: f"bře 02 {clock(i)} kv-3 ycsb[4711]: ",
    "journalctl -o short-iso": lambda i: f"2026-03-02T{clock(i)}+0100 kv3 bash[12]: ",
    "a container's runtime": lambda i: (
        f"2026-03-02T{clock(i)}.123456789Z std{'err' if i < 6 else 'out'} F "
    ),
    "ts": lambda i: f"Mar  2 {clock(i)} ",
    "ts -s": lambda i: f"{clock(i)} ",
    "ts %.s": lambda i: f"{1772442420 + i // 9}.{i * 7919 % 10**6:06d} ",
    "dmesg": lambda i: f"[{i:5d}.{i * 7919 % 10**6:06d}] ",
    "BuildKit": lambda i: f"#12 {i // 10}.{i:03d} ",
    "pssh": "kv-client-1: ",
    "cat -n": lambda i: f"{i + 1:6d}\t",
    "grep -n": lambda i: f"{i + 1}:",
    "grep -H": "redis-1.txt:",
    "grep -Hn": lambda i: f"logs/redis-1.txt:{i + 1}:",
    "a quotation": "> ",
    "diff": "+",
    "four blanks": "    ",
    "a tab": "\t",
    "a logger": lambda i: (
        f"2026-03-02 {clock(i)},{i % 1000:03d} [main] {'ERROR' if i < 6 else 'INFO'} Client - "
    ),
}


def prefixed(before: Before, text: str) -> str:
    lines = enumerate(text.splitlines(keepends=True))
    return "".join((before if isinstance(before, str) else before(i)) + line for i, line in lines)


def interleaved(texts: list[str], chance: random.Random) -> str:
    """Return the lines of several programs as they come."""
    left = [text.splitlines(keepends=True) for text in texts]
    lines = []
    while any(left):
        lines.append(chance.choice([of for of in left if of]).pop(0))
    return "".join(lines)


# --- the truth


@dataclass(frozen=True)
class Run:
    """One call of YCSB. ``load`` is the number of the load whose records a run works on.

    ``system`` is its name where several have the same binding. ``client`` counts from 1 those that
    ran at the same time, 0 for one alone. ``first`` is the first record of a part. ``mix`` is what
    somebody wrote into the workload's file.
    """

    number: int
    start: datetime
    store: str = "redis"
    system: str = ""
    workload: str = "a"
    phase: str = "run"
    threads: int = 8
    records: int = 20000
    operations: int = 40000
    repetition: int = 1
    target: int = 0
    properties: tuple[str, ...] = ()
    version: str = "0.17.0"
    client: int = 0
    first: int | None = None
    load: int = -1
    mix: str = ""
    has_died: bool = False
    seed: int = 0

    @property
    def cell(self) -> tuple:
        """What repetitions have in common."""
        common = (self.store, self.system, self.phase, self.threads, self.records, self.target)
        shape = self.properties, self.first
        return common + (
            shape if self.phase == "load" else (*shape, self.workload, self.operations)
        )

    @property
    def total(self) -> int:
        return self.records if self.phase == "load" else self.operations

    @property
    def runtime(self) -> int:
        """Milliseconds, of each run of a folder another."""
        chance = random.Random(f"{self.seed} {self.number}")
        least = self.total * 1000 // self.target if self.target else chance.randrange(3900, 4400)
        return least + 2 * self.number + 1

    @property
    def throughput(self) -> float:
        return self.total / self.runtime * 1000

    @property
    def sections(self) -> dict[str, tuple[int, float]]:
        """The number of operations and their mean latency (us), by operation."""
        chance = random.Random(f"{self.seed} {self.number} sections")
        mix = {"INSERT": 1.0} if self.phase == "load" else MIXES[self.mix or self.workload]
        share = chance.uniform(0.1, 0.5) if self.target else chance.uniform(0.55, 0.93)
        mean = 1000 * share * self.threads * self.runtime / self.total
        counts = {name: int(self.total * part) for name, part in mix.items()}
        if "UPDATE" in counts and self.total > 1 and "READ-MODIFY-WRITE" not in counts:
            off = chance.randrange(isqrt(self.total))
            counts = {"READ": counts["READ"] - off, "UPDATE": counts["UPDATE"] + off}
        if "READ-MODIFY-WRITE" in counts:
            # Its reads and updates are among those of their own sections.
            counts["READ"] = self.total
        else:
            counts[next(iter(counts))] += self.total - sum(counts.values())
        if "READ-MODIFY-WRITE" in counts:
            mean /= 1.5
        of_each = {name: mean * chance.uniform(0.97, 1.03) for name in counts}
        if "READ-MODIFY-WRITE" in counts:
            of_each["READ-MODIFY-WRITE"] = of_each["READ"] + of_each["UPDATE"]
        return {name: (count, of_each[name]) for name, count in counts.items() if count}


@dataclass
class Folder:
    """Files by name, the runs in them, and how it was made.

    ``places`` are the files of each run, by its number.
    """

    seed: int
    traits: list[str]
    is_plain: bool
    runs: list[Run]
    files: dict[str, bytes]
    places: dict[int, set[str]]


# --- what one call prints


def is_old(version: str) -> bool:
    return version in ("0.1.4", "0.2.0", "0.4.0")


def results(run: Run, plan: Plan) -> list[tuple[str, str, str]]:
    """Return section, label and value of each line of results, in the form of its version."""
    number = int(run.version.split(".")[1])
    has_return_0 = run.version == "0.1.4"

    def count(value: int) -> str:
        return f"{value}.0" if 2 <= number < 13 else f"{value}"

    time = f"{run.runtime}.0" if number < 13 else f"{run.runtime}"
    rows = [("OVERALL", "RunTime(ms)", time)]
    rows.append(("OVERALL", "Throughput(ops/sec)", repr(run.throughput)))
    if number >= 5:
        rows += [
            ("TOTAL_GCS_G1_Young_Generation", "Count", count(4)),
            ("TOTAL_GC_TIME_%", "Time(%)", "0.61"),
        ]
    closed = run.threads * (2 if plan.has_own_cleanup else 1)
    sections = list(run.sections.items())
    if number >= 2:
        sections.insert(1, ("CLEANUP", (closed, 300.25)))
    for name, (operations, mean) in sections:
        low, p95, p99, high = int(mean / 5), int(mean) + 300, int(mean) + 700, int(mean) + 900
        rows += [(name, "Operations", count(operations) if number >= 2 else f"{operations}")]
        rows += [(name, "AverageLatency(us)", repr(mean)), (name, "MinLatency(us)", count(low))]
        rows += [(name, "MaxLatency(us)", count(high))]
        unit, by = ("ms", 1000) if has_return_0 else ("us", 1)
        rows += [(name, f"95thPercentileLatency({unit})", count(p95 // by))]
        rows += [(name, f"99thPercentileLatency({unit})", count(p99 // by))]
        if name not in ("CLEANUP", "READ-MODIFY-WRITE"):
            rows += [(name, "Return=0" if has_return_0 else "Return=OK", f"{operations}")]
        if has_return_0:
            rows += [(name, f"{i}", f"{operations if i == 0 else 0}") for i in range(3)]
            rows += [(name, ">1000", "0")]
    return rows


def as_lines(rows: list[tuple[str, str, str]]) -> str:
    return "".join(f"[{section}], {label}, {value}\n" for section, label, value in rows)


def as_json(rows: list[tuple[str, str, str]], form: str) -> str:
    keys = ["metric", "measurement", "value"]
    objects = [
        dict(zip(keys, (section, label, json.loads(value)), strict=True))
        for section, label, value in rows
    ]
    if "sorted" in form:
        objects = [dict(sorted(one.items())) for one in objects]
    if form.startswith("array"):
        return f"{json.dumps(objects, indent=2)}\n"
    return " ".join(json.dumps(one, indent=2) for one in objects) + "\n"


def arguments(run: Run, plan: Plan, export: str) -> str:
    """Return what YCSB was called with."""
    db = (CLASSES | OTHER_CLASSES)[run.store]
    if int(run.version.split(".")[1]) < 16:
        db = db.replace("site.ycsb", "com.yahoo.ycsb")
    total = run.records * (plan.clients if run.first is not None else 1)
    options = [f"recordcount={total}"]
    options += [f"operationcount={run.operations}"] if run.phase == "run" else []
    if run.first is not None:
        options += [f"insertstart={run.first}", f"insertcount={run.records}"]
    # One script has folders of its own, of others files were moved to some.
    export = export if plan.together != "run" else export.rpartition("/")[2]
    options += [f"exportfile=/results/{export}"] if export else []
    if plan.outputs.startswith("json"):
        name = "JSONArray" if "array" in plan.outputs else "JSON"
        options += [f"exporter=site.ycsb.measurements.exporter.{name}MeasurementsExporter"]
    given = [f"-p {option}" for option in (*run.properties, *options)]
    given += [f"-threads {run.threads}"] if run.threads > 1 or plan.chance.random() < 0.5 else []
    given += [f"-target {run.target}"] if run.target else []
    given += ["-s"] if plan.has_clock else []
    plan.chance.shuffle(given)
    phase = "-load" if run.phase == "load" else "-t"
    return f"{phase} -db {db} -P workloads/workload{run.workload} {' '.join(given)}"


def call_of(run: Run, plan: Plan, export: str = "") -> tuple[str, str]:
    """Return the standard output and the standard error of a call."""
    given = arguments(run, plan, export)
    head = f"Command line: {given}\n"
    if is_old(run.version):
        head = f"YCSB Client 0.1\n{head}"
    else:
        head += f"YCSB Client {run.version}\n\nLoading workload...\nStarting test.\n"
    package = "com.yahoo.ycsb" if int(run.version.split(".")[1]) < 16 else "site.ycsb"
    if plan.call == "launcher":
        head = f"java -cp /ycsb/conf:/ycsb/lib/* {package}.Client {given}\n{head}"
    elif plan.call == "shell":
        plain = re.sub(r"^-(?:load|t) -db \S+", "", given)
        head = f"$ ./bin/ycsb {run.phase} {run.store}{plain}\n{head}"
    if run.has_died:
        error = "java.net.ConnectException: Connection refused\n"
        return "", f"{head}{error}\tat {package}.Client.main(Client.java:1)\n"
    if plan.has_clock and not is_old(run.version):
        for milliseconds, done in ((0, 0), (run.runtime, run.total)):
            at = run.start + timedelta(milliseconds=milliseconds)
            when = f"{at:%Y-%m-%d %H:%M:%S}:{at.microsecond // 1000:03d}"
            more = "est completion in 0 second" if not done else f"{done / 4:.2f} current ops/sec;"
            head += f"{when} {milliseconds // 1000} sec: {done} operations; {more} \n"
    rows = results(run, plan)
    text = as_json(rows, plan.outputs.removeprefix("json ")) if "json" in plan.outputs else ""
    text = text or as_lines(rows)
    return (head + text, "") if is_old(run.version) else (text, head)


# --- how a folder is made


@dataclass
class Plan:
    """Choices that traits make; ``together`` says which runs are in one file."""

    chance: random.Random
    stores: list[str]
    systems: list[str] = field(default_factory=lambda: [""])
    workloads: list[str] = field(default_factory=lambda: ["a"])
    threads: list[int] = field(default_factory=lambda: [8])
    sizes: list[tuple[int, int]] = field(default_factory=lambda: [(20000, 40000)])
    targets: list[int] = field(default_factory=lambda: [0])
    properties: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    mix: str = ""
    versions: list[str] = field(default_factory=lambda: ["0.17.0"])
    repetitions: int = 2
    has_loads: bool = False
    has_tests: bool = False
    clients: int = 1
    has_clock: bool = True
    has_own_cleanup: bool = False
    outputs: str = "joined"
    call: str = ""
    together: str = "run"
    died: int = -1
    styles: dict[str, str] = field(default_factory=dict)
    change: list[Callable[[str], str]] = field(default_factory=list)
    damage: Callable[[str], str] | None = None
    encode: Callable[[str], bytes] = str.encode
    add: list[Callable[[dict[str, bytes]], None]] = field(default_factory=list)


def make_runs(plan: Plan, seed: int) -> list[Run]:
    """Return the runs in the order of their measurement."""
    runs: list[Run] = []
    at = START

    def measure(**what: object) -> int:
        nonlocal at
        number = len(runs)
        version = plan.versions[what["repetition"] % len(plan.versions)]
        for client in range(1, plan.clients + 1):
            start = at + timedelta(milliseconds=40 * client)
            run = Run(len(runs), start, version=version, seed=seed, **what)
            if plan.clients > 1:
                first = (client - 1) * run.records if run.phase == "load" else None
                run = replace(run, client=client, first=first)
            runs.append(run)
        at += timedelta(seconds=plan.chance.randrange(9, 60))
        return number

    def measure_cell(repetition: int, threads: int, size: tuple[int, int], properties) -> None:
        for store, system in product(plan.stores, plan.systems):
            common = {"store": store, "system": system, "repetition": repetition}
            common |= {"threads": threads, "records": size[0], "operations": size[1]}
            common |= {"properties": properties}
            load = -1
            if plan.has_loads:
                load = measure(phase="load", workload=plan.workloads[0], **common)
            for workload, target in product(plan.workloads, plan.targets):
                measure(workload=workload, target=target, load=load, mix=plan.mix, **common)

    if plan.has_tests:
        measure(store=plan.stores[0], records=1, operations=1, threads=1, repetition=0)
    for repetition in range(1, plan.repetitions + 1):
        for cell in product(plan.threads, plan.sizes, plan.properties):
            measure_cell(repetition, *cell)
    if 0 <= plan.died < len(runs) and plan.clients == 1:
        runs[plan.died] = replace(runs[plan.died], has_died=True)
    return runs


THREADS = {
    "t8": "t{}",
    "8t": "{}t",
    "8threads": "{}threads",
    "threads-8": "threads-{}",
    "8_threads": "{}_threads",
    "thr8": "thr{}",
}
# Which may be something else.
BARE_THREADS = {"x8": "x{}", "c8": "c{}", "8": "{}", "8x": "{}x", "n8": "n{}"}
REPETITIONS = {
    "1": "{}",
    "rep1": "rep{}",
    "run-1": "run-{}",
    "run1": "run{}",
    "r1": "r{}",
    "iter_1": "iter_{}",
    "try 1": "try {}",
    "(1)": "({})",
    "001": "{:03d}",
}
WORKLOADS = {"workloada": "workload{}", "a": "{}", "wl-a": "wl-{}", "workload_a": "workload_{}"}
JOINTS = ("-", "_", ".", " ", "__")
# A name says whose log it is by these, or by a number of its own.
DATES = ("2026-03-02", "20260302_0907", "02.03.2026")


def names(plan: Plan, runs: list[Run]) -> dict[int, str]:
    """Return the path of each run without its ending, by number."""
    chance, style = plan.chance, plan.styles
    joint = style.get("joint") or chance.choice(JOINTS[:2])
    threads = (THREADS | BARE_THREADS)[style.get("threads", "t8")]
    repetition = REPETITIONS[style.get("repetition", "rep1")]
    workload = WORKLOADS[style.get("workload", "workloada")]

    def tokens(run: Run) -> dict[str, str]:
        words = {"store": run.system or run.store}
        if run.phase == "run":
            words["workload"] = workload.format(run.workload)
        if plan.has_loads:
            words["phase"] = run.phase
        words["threads"] = threads.format(run.threads)
        words["records"] = f"{run.records}rec-{run.operations}ops"
        words["target"] = f"target{run.target}" if run.target else "full"
        words["properties"] = "-".join(run.properties).replace("=", "") or "plain"
        words["client"] = f"client{run.client}"
        words["repetition"] = repetition.format(run.repetition)
        words["date"] = f"{run.start:%Y%m%d_%H%M%S}"
        words["machine"] = style.get("machine", "")
        return {key: word for key, word in words.items() if word}

    varied = {"store"}
    varied |= {"workload"} if len(plan.workloads) > 1 or "workload" in style else set()
    varied |= {"phase"} if plan.has_loads and style.get("load") != "in one" else set()
    varied |= {"threads"} if len(plan.threads) > 1 or "threads" in style else set()
    varied |= {"records"} if len(plan.sizes) > 1 else set()
    varied |= {"target"} if len(plan.targets) > 1 else set()
    varied |= {"properties"} if len(plan.properties) > 1 else set()
    varied |= {"client"} if plan.clients > 1 else set()
    varied |= {"machine"} if "machine" in style else set()
    by_date = style.get("repetition by") == "date"
    varied |= {"date"} if by_date else {"repetition"}
    order = sorted(varied)
    chance.shuffle(order)
    folders = int(style.get("folders", chance.choice("0012")))
    result = {}
    for run in runs:
        if run.repetition == 0:
            result[run.number] = f"{run.store}{joint}test"
            continue
        words = [of[key] for of in [tokens(run)] for key in order if key in of]
        parts = [*words[:folders], joint.join(words[folders:])]
        result[run.number] = "/".join(filter(None, parts))
    return result


def build(plan: Plan, runs: list[Run]) -> tuple[dict[str, bytes], dict[int, set[str]]]:
    """Return the files of the folder, and those of each run by its number."""
    places: dict[int, set[str]] = defaultdict(set)
    paths, ending = names(plan, runs), plan.styles.get("ending", ".log")
    texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    exports: dict[str, str] = {}
    # All outputs of one kind before those of the other.
    later: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for run in runs:
        path = paths[run.number]
        if plan.together == "store":
            path = f"{run.system or run.store}"
        elif plan.together != "run":
            path = "all"
        elif plan.together == "run" and run.load >= 0 and plan.styles.get("load") == "in one":
            load = runs[run.load]
            path = paths[load.number]
        # Each call writes a file of its own.
        export = f"{paths[run.number]}.txt" if plan.outputs == "exportfile" else ""
        output, errors = call_of(run, plan, export)
        if plan.outputs == "separate":
            pairs = plan.styles.get("pair", "{}.out {}.err").split()
            files = {pairs[0].format(path): output, pairs[1].format(path): errors}
        elif plan.outputs == "exportfile":
            exports[export] = plan.damage(output) if plan.damage else output
            places[run.number].add(export)
            files = {f"{path}.console{ending}": errors}
        elif plan.outputs == "stdout":
            files = {f"{path}{ending}": output}
        elif plan.outputs == "stdout first":
            files = {f"{path}{ending}": output + errors}
        else:
            files = {f"{path}{ending}": errors + output}
        if streams := plan.styles.get("streams"):
            first, second = (errors, output) if streams == "errors first" else (output, errors)
            files = {f"{path}{ending}": first}
            later[f"{path}{ending}"].append(("", plan.damage(second) if plan.damage else second))
        for name, text in files.items():
            places[run.number].add(name)
            text = plan.damage(text) if plan.damage else text
            who = f"ycsb-{run.system or run.store}-{run.number + 1}"
            texts[name].append((who, text))
    files = {name: text.encode() for name, text in exports.items() if text}
    for name, of in texts.items():
        of += later[name]
        if plan.together == "interleaved":
            text = interleaved([prefixed(f"{who}  | ", one) for who, one in of], plan.chance)
        else:
            between = plan.chance.choice(["", "\n", "----\n"]) if len(of) > 1 else ""
            text = between.join(one for _, one in of)
        for change in plan.change:
            text = change(text)
        files[name] = plan.encode(text)
    for add in plan.add:
        add(files)
    return files, places


# --- traits

TRAITS: dict[str, tuple[str, bool, Callable[[Plan], None]]] = {}


def trait(group: str, is_plain: bool = True) -> Callable:
    def register(function: Callable[[Plan], None]) -> Callable[[Plan], None]:
        name = function.__name__.replace("_", " ").strip()
        TRAITS[name] = group, is_plain, function
        return function

    return register


@trait("design")
def sweep_of_threads(plan: Plan) -> None:
    plan.threads = plan.chance.sample([1, 2, 4, 8, 16, 32], plan.chance.randint(2, 4))
    plan.styles["threads"] = plan.chance.choice([*THREADS])


@trait("design")
def several_workloads(plan: Plan) -> None:
    plan.workloads = plan.chance.sample("abcdef", plan.chance.randint(2, 3))
    plan.styles["workload"] = plan.chance.choice([*WORKLOADS])


@trait("design")
def loads_too(plan: Plan) -> None:
    plan.has_loads = True
    plan.styles["load"] = plan.chance.choice(["apart", "in one"])
    plan.workloads = [plan.chance.choice("abcf")]


@trait("design")
def several_sizes(plan: Plan) -> None:
    plan.sizes = plan.chance.choice([[(20000, 40000), (20000, 80000)], [(10000, 40000)] * 1])
    plan.sizes = [*plan.sizes, (50000, 40000)]


@trait("design")
def targets(plan: Plan) -> None:
    plan.targets = plan.chance.sample([0, 8000, 9000, 10000], plan.chance.randint(1, 3))


@trait("design")
def other_properties(plan: Plan) -> None:
    kinds = [
        ("fieldlength=4000",),
        ("requestdistribution=uniform",),
        ("redis.cluster=true",),
        ("readproportion=0.8", "updateproportion=0.2"),
    ]
    plan.properties = [plan.chance.choice(kinds)]
    if plan.properties == kinds[-1:]:
        plan.workloads, plan.mix = ["a"], "80/20"
    elif plan.chance.random() < 0.5:
        plan.properties.append(())


@trait("design", is_plain=False)
def two_systems_with_one_binding(plan: Plan) -> None:
    plan.systems = plan.chance.choice(
        [
            ["redis-6.2", "redis-7.2"],
            ["redis", "keydb"],
            ["aof-on", "aof-off"],
            ["r5", "r6g"],
            ["before", "after"],
            ["db-a", "db-b"],
            ["redis", "redis-cluster"],
            ["redis5", "redis7"],
            ["node-1", "node-2"],
            ["eu-west-1", "eu-west-2"],
            ["replicas_1", "replicas_2", "replicas_3"],
            ["fsync-0", "fsync-1"],
        ]
    )
    plan.stores = ["redis"]


@trait("design")
def redis_and_valkey(plan: Plan) -> None:
    plan.stores, plan.systems = ["redis"], ["redis", "valkey"]


@trait("design", is_plain=False)
def clients_at_once(plan: Plan) -> None:
    plan.clients, plan.repetitions = plan.chance.randint(2, 4), plan.chance.randint(1, 2)
    plan.has_loads = plan.chance.random() < 0.5


@trait("design", is_plain=False)
def store_of_another_binding(plan: Plan) -> None:
    plan.stores = [plan.chance.choice([*OTHER_CLASSES])]


@trait("design", is_plain=False)
def an_edited_workload_file(plan: Plan) -> None:
    plan.mix = plan.chance.choice(["80/20", "with scans", "c", "d"])
    plan.workloads = ["a"]


@trait("design")
def tests_of_one_record(plan: Plan) -> None:
    plan.has_tests = True


@trait("design")
def own_cleanup(plan: Plan) -> None:
    plan.has_own_cleanup = True


@trait("version")
def an_older_version(plan: Plan) -> None:
    plan.versions = [plan.chance.choice(["0.1.4", "0.2.0", "0.4.0", "0.5.0", "0.10.0", "0.12.0"])]


@trait("version")
def a_version_before(plan: Plan) -> None:
    plan.versions = [plan.chance.choice(["0.13.0", "0.14.0", "0.15.0", "0.16.0"])]


@trait("version", is_plain=False)
def two_versions(plan: Plan) -> None:
    plan.versions = plan.chance.sample(["0.4.0", "0.12.0", "0.15.0", "0.17.0"], 2)


@trait("outputs")
def two_files_of_a_run(plan: Plan) -> None:
    plan.outputs = "separate"
    plan.styles["pair"] = plan.chance.choice(
        [
            "{}.out {}.err",
            "{}.stdout.txt {}.stderr.txt",
            "out/{}.txt err/{}.txt",
            "results/{}.log logs/{}.log",
            "{}.o4711 {}.e4711",
        ]
    )


@trait("outputs")
def exportfile(plan: Plan) -> None:
    plan.outputs = "exportfile"


@trait("outputs", is_plain=False)
def standard_output_alone(plan: Plan) -> None:
    plan.outputs = "stdout"


@trait("outputs")
def standard_output_first(plan: Plan) -> None:
    plan.outputs = "stdout first"


@trait("outputs")
def results_as_json(plan: Plan) -> None:
    plan.outputs = plan.chance.choice(["json array", "json plain"])


@trait("outputs", is_plain=False)
def json_with_sorted_keys(plan: Plan) -> None:
    plan.outputs = plan.chance.choice(["json array sorted", "json sorted"])


@trait("outputs")
def calls_of_launchers(plan: Plan) -> None:
    plan.call = plan.chance.choice(["launcher", "shell"])


@trait("outputs")
def no_status_lines(plan: Plan) -> None:
    plan.has_clock = False


@trait("lines")
def prefixes(plan: Plan) -> None:
    before = plan.chance.choice([*PREFIXES.values()])
    plan.change.append(lambda text: prefixed(before, text))


@trait("lines")
def colours(plan: Plan) -> None:
    plan.change.append(
        lambda text: "".join(f"\x1b[0m{line}\x1b[0m\n" for line in text.splitlines())
    )


def in_json(form: str, text: str) -> str:
    """Return ``text`` as loggers, log stores, Ansible and notebooks keep it."""
    lines = text.splitlines(keepends=True)
    entries = [
        {"log": line, "stream": "stdout", "time": f"2026-03-02T{clock(i)}Z"}
        for i, line in enumerate(lines)
    ]
    values = [[f"{1772442420 * 10**9 + i}", line.rstrip()] for i, line in enumerate(lines)]
    plain = {"changed": True, "rc": 0, "stdout": text, "stdout_lines": text.splitlines()}
    cells = [
        {"cell_type": "markdown", "source": ["Run `bin/ycsb run redis -threads 99`\n"]},
        {
            "cell_type": "code",
            "outputs": [{"name": "stdout", "output_type": "stream", "text": lines}],
            "source": ["for t in threads:\n", "    !bin/ycsb run redis -P a -threads {t}"],
        },
    ]
    streams = [{"stream": {"app": "ycsb"}, "values": values}]
    return {
        "lines": lambda: "".join(json.dumps(entry) + "\n" for entry in entries),
        "source": lambda: "".join(json.dumps({"_source": entry}) + "\n" for entry in entries),
        "array": lambda: json.dumps(entries, indent=1),
        "events": lambda: json.dumps({"events": entries, "nextToken": None}, indent=4),
        "loki": lambda: json.dumps({"status": "success", "data": {"result": streams}}),
        "ansible": lambda: f"TASK [ycsb] ***\nok: [kv-1] => {json.dumps(plain, indent=4)}\n",
        "notebook": lambda: json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1),
    }[form]()


JSON_FORMS = ("lines", "source", "array", "events", "loki", "ansible", "notebook")


@trait("lines")
def json_of_a_logger(plan: Plan) -> None:
    form = plan.chance.choice(JSON_FORMS)
    plan.change.append(lambda text: in_json(form, text))


@trait("lines", is_plain=False)
def last_line_first(plan: Plan) -> None:
    plan.change.append(lambda text: "".join(reversed(text.splitlines(keepends=True))))


@trait("lines")
def powershell_records(plan: Plan) -> None:
    width = plan.chance.choice([80, 120, 200])

    def change(text: str) -> str:
        def record(match: re.Match) -> str:
            line = f"java.exe : {match[0]}"
            pieces = [line[i : i + width] for i in range(0, len(line), width)]
            words = match[0][-20:]
            return "\n".join(
                [
                    *pieces,
                    "At C:\\bench\\run.ps1:7 char:1",
                    "+ & java -cp $cp site.ycsb.Client $args 2>&1 | Out-File $log",
                    "+ ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
                    "    + CategoryInfo          : NotSpecified: (Command line: -..."
                    f"{words}:String) [], RemoteException",
                    "    + FullyQualifiedErrorId : NativeCommandError",
                    " ",
                ]
            )

        return re.sub(r"^Command line: .*$", record, text, flags=re.MULTILINE)

    plan.change.append(change)
    plan.encode = lambda text: b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le")


@trait("encoding")
def windows(plan: Plan) -> None:
    plan.encode = lambda text: text.replace("\n", "\r\n").encode()


@trait("encoding")
def utf_16(plan: Plan) -> None:
    plan.encode = lambda text: text.replace("\n", "\r\n").encode("utf-16")


@trait("names")
def threads_in_names(plan: Plan) -> None:
    plan.styles["threads"] = plan.chance.choice([*THREADS])


@trait("names", is_plain=False)
def bare_threads_in_names(plan: Plan) -> None:
    plan.styles["threads"] = plan.chance.choice([*BARE_THREADS])


@trait("names")
def repetitions_in_names(plan: Plan) -> None:
    plan.styles["repetition"] = plan.chance.choice([*REPETITIONS])
    plan.repetitions = plan.chance.choice([2, 3, 11])
    plan.styles["joint"] = plan.chance.choice(JOINTS)


@trait("names")
def dates_in_names(plan: Plan) -> None:
    plan.styles["repetition by"] = "date"


@trait("names")
def one_machine_in_names(plan: Plan) -> None:
    plan.styles["machine"] = plan.chance.choice(["host-3", "kv1.example.org", "r5.xlarge", "vm"])


@trait("names")
def folders_of_folders(plan: Plan) -> None:
    plan.styles["folders"] = "3"


@trait("names")
def other_endings(plan: Plan) -> None:
    plan.styles["ending"] = plan.chance.choice([".txt", ".out", "", ".dat", ".result"])


@trait("files")
def a_file_for_each_store(plan: Plan) -> None:
    plan.together = "store"


@trait("files")
def one_file(plan: Plan) -> None:
    plan.together = "all"


@trait("files", is_plain=False)
def outputs_of_all_runs_apart(plan: Plan) -> None:
    plan.together, plan.repetitions = plan.chance.choice(["store", "all"]), 2
    plan.styles["streams"] = plan.chance.choice(["errors first", "results first"])


@trait("files")
def lines_of_several_programs(plan: Plan) -> None:
    plan.together, plan.repetitions = "interleaved", 1
    plan.stores = plan.stores if len(plan.systems) > 1 else ["redis", "mongodb"]


@trait("files", is_plain=False)
def one_call_died(plan: Plan) -> None:
    plan.died, plan.together = plan.chance.randrange(4), plan.chance.choice(["run", "store", "all"])


def spreadsheet(between: str, quote: str, text: str, change: Callable[[str], str] = str) -> str:
    rows = re.findall(r"^\[(.*?)\], (.*?), (.*)$", text, re.MULTILINE)
    return (not rows and text) or "".join(
        between.join(f"{quote}{cell}{quote}" for cell in (f"[{a}]", b, change(c))) + "\n"
        for a, b, c in rows
    )


@trait("damage", is_plain=False)
def a_spreadsheet(plan: Plan) -> None:
    between, quote = plan.chance.choice([(",", '"'), (";", ""), ("\t", ""), (",", ""), (";", '"')])
    has_commas = between != "," and plan.chance.random() < 0.5
    plan.damage = lambda text: spreadsheet(
        between, quote, text, lambda value: value.replace(".", ",") if has_commas else value
    )


@trait("damage", is_plain=False)
def filtered_lines(plan: Plan) -> None:
    pattern = plan.chance.choice(
        [
            "READ|UPDATE|INSERT|SCAN|OVERALL",
            "Command line|READ|UPDATE|INSERT|SCAN|OVERALL",
            "OVERALL",
            "OVERALL|Average",
            "Command line|OVERALL|READ",
            "Throughput",
        ]
    )
    plan.damage = lambda text: "".join(
        line for line in text.splitlines(keepends=True) if re.search(pattern, line)
    )


@trait("damage")
def a_page_of_markdown(plan: Plan) -> None:
    if plan.chance.random() < 0.5:
        plan.damage = lambda text: f"## A run\n\nOn my server:\n\n```\n{text}```\n\nNice result.\n"
    else:
        plan.damage = lambda text: f"## A run\n\n{prefixed('    ', text)}\nNice result.\n\n"


@trait("damage", is_plain=False)
def joined_lines(plan: Plan) -> None:
    plan.damage = lambda text: text.replace("\n", " ") + "\n"


@trait("damage", is_plain=False)
def remarks(plan: Plan) -> None:
    mark = plan.chance.choice(["    # my remark", " (good)", " ops", " <-- best", " *"])
    label = plan.chance.choice(["RunTime", "Throughput", "AverageLatency", "Operations"])
    plan.damage = lambda text: re.sub(rf"(?m)^(\[.*{label}.*)$", rf"\1{mark}", text, count=1)


@trait("damage", is_plain=False)
def truncated(plan: Plan) -> None:
    share = plan.chance.uniform(0.2, 0.99)
    plan.damage = lambda text: text[: int(len(text) * share)]


@trait("damage", is_plain=False)
def head_lost(plan: Plan) -> None:
    lines = plan.chance.randrange(1, 12)
    plan.damage = lambda text: "".join(text.splitlines(keepends=True)[lines:])


@trait("beside")
def other_files(plan: Plan) -> None:
    def add(files: dict[str, bytes]) -> None:
        files["README.md"] = (
            b"# Benchmark\n\nRun it with\n\n"
            b"    ./bin/ycsb run redis -P workloads/workloada -threads 64\n\n"
            b"We got a throughput of 30000 ops/sec with 64 threads.\n"
        )
        files["bench.sh"] = (
            b"#!/bin/bash\nfor t in 1 8; do\n"
            b'  ./bin/ycsb load redis -P workloads/workloada -threads $t > "load-$t.log"\n'
            b"done\n./bin/ycsb run redis -P workloads/workloadb -threads 99\n"
        )
        files["top.txt"] = b"top - 09:00:01 up 3 days,  2 users,  load average: 0.10, 0.2, 0.3\n"
        files["plot.png"] = b"\x89PNG\r\n\x1a\n\x00\x00"

    plan.add.append(add)


@trait("beside", is_plain=False)
def other_benchmarks(plan: Plan) -> None:
    def add(files: dict[str, bytes]) -> None:
        files["go.log"] = (
            b"READ   - Takes(s): 2.0, Count: 20013, OPS: 9903.9, Avg(us): 191, Min(us): 47\n"
        )
        files["cpp.log"] = (
            b"2026-01-01 10:00:00 10 sec: 9 operations; [READ: Count=9 Max=1.00 Min=0.10]\n"
            b"Run runtime(sec): 2.02\nRun throughput(ops/sec): 19794.9\n"
        )

    plan.add.append(add)


@trait("beside", is_plain=False)
def a_copy(plan: Plan) -> None:
    form = plan.chance.choice(["backup/{}", "{} (1)", "{}.bak", "Copy of {}", "old/{}", "{}~"])

    def add(files: dict[str, bytes]) -> None:
        name = plan.chance.choice([*files])
        folder, _, base = name.rpartition("/")
        copy = form.format(name if "/{}" in form else base)
        files[copy if "/{}" in form or not folder else f"{folder}/{copy}"] = files[name]

    plan.add.append(add)


@trait("beside", is_plain=False)
def a_summary(plan: Plan) -> None:
    pattern = plan.chance.choice(["OVERALL", "Throughput", "AverageLatency"])
    has_names = plan.chance.random() < 0.6

    def add(files: dict[str, bytes]) -> None:
        lines = [
            f"{name}:{line}" if has_names else line
            for name, data in files.items()
            for line in data.decode("utf-8", errors="ignore").splitlines(keepends=True)
            if pattern in line
        ]
        files["summary.txt"] = "".join(lines).encode()

    plan.add.append(add)


def folder(seed: int) -> Folder:
    """Return the folder of ``seed``, always the same."""
    chance = random.Random(f"foreign {seed}")
    plan = Plan(chance, chance.sample([*CLASSES], chance.randint(1, 2)))
    plan.workloads = [chance.choice("aaabcf")]
    plan.repetitions = chance.choice([1, 2, 2, 3])
    groups: dict[str, list[str]] = defaultdict(list)
    for name, (group, _, _) in TRAITS.items():
        groups[group].append(name)
    count = chance.randint(1, 4)
    chosen = [chance.choice(groups[group]) for group in chance.sample([*groups], count)]
    # A design says what is measured, before others change how it is written down.
    chosen.sort(key=[*TRAITS].index)
    for name in chosen:
        TRAITS[name][2](plan)
    if plan.together != "run" and plan.clients > 1:
        plan.has_clock, plan.versions = True, ["0.17.0"]
    if plan.together == "all" and len(plan.systems) > 1:
        plan.together = "store"
    runs = make_runs(plan, seed)
    is_plain = all(TRAITS[name][1] for name in chosen)
    return Folder(seed, chosen, is_plain, runs, *build(plan, runs))
