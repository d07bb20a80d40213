"""Every parser of files that users or YCSB write: whatever is in them, only KvstudyError.

Hypothesis changes good files: bytes, lines, numbers and, where a file has a structure, its
values. All unexpected errors of a parser are collected by the place where they arise, with the
shortest input that leads there; ``make faults SEED=n`` takes other inputs.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import io
import json
import re
import shutil
import time
import traceback
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kvstudy.analyse.audit.files import audit
from kvstudy.analyse.claims.file import load_claims
from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.mapping import read_rows
from kvstudy.logs.ycsb.check import check_load, check_run
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.latencies import count_latencies, keep_raw
from kvstudy.logs.ycsb.log import parse
from kvstudy.logs.ycsb.status import last_status, operations_per_second, read_status, run_start
from kvstudy.share.archive.checks import check_packed
from kvstudy.share.archive.contents import contents_of
from kvstudy.share.archive.pack import pack
from kvstudy.share.archive.unpack import extract, opened, read_facts
from kvstudy.stores.definition import load_store
from kvstudy.study.bibliography import bibliography_entries
from kvstudy.study.cells import plan
from kvstudy.study.config import Config, check_config
from kvstudy.study.load import load_study
from kvstudy.study.reading import read_yaml
from kvstudy.study.run_names import find_name

from tests.faults.scene import at_most
from tests.unit.packed_run import put, write_run

DATA = Path(__file__).parents[1] / "data"
STUDIES = Path(__file__).parents[2] / "config" / "studies"
# A parser that takes longer for a small file, or says more, is not of use to anybody.
SECONDS = 5
LONGEST = 20_000
# Seconds for all inputs of a parser, on a slow machine.
LONG = 900

TOKENS = [
    *(b"", b"0", b"-1", b"-5", b"1.5", b"1e400", b"-1e23", b"NaN", b"Infinity", b".inf", b".nan"),
    *(b"9" * 30, b"9" * 5000, b"2147483648", b"9223372036854775808", "١٢".encode(), b"1,5"),
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", "é🚀".encode(), b"\r", b"\n", b"\n\n", b"\t", b" "),
    *(b'"', b"'", b",", b";", b":", b"=", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"!!int ", b"|"),
    *(b"yes", b"null", b"~", b"2026-13-41", b"99:99:99", b"%", b"%s", b"{0}", b"../..", b"\\"),
    *(b"[OVERALL], RunTime(ms), 5\n", b"[READ], Return=OK, -3\n", b"READ,1,2\n", b"x" * 2000),
]
VALUES = [
    *(None, True, False, 0, 1, -1, 3, 1.5, -0.0, float("inf"), float("nan"), 10**30, 2**31, 2**63),
    *("", " ", "x", "yes", "nan", "9" * 40, "é🚀", "a\nb", "\x00", "\x1b[2J", "../..", "{0}", "%s"),
    *([], {}, [[]], [None], ["x", "x"], {"x": 1}, {1: 2}, {None: None}, [1, "x", None, {}]),
    *("mysql", "redis", "a", "overall", "throughput", "all", "mean", "best", "records", 2.0**40),
]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


@st.composite
def changes(draw):
    """Which sample, and up to four changes of it: a kind, two places in it, a token."""
    kinds = st.sampled_from(sorted(CHANGES))
    place = st.integers(0, 2**20)
    change = st.tuples(kinds, place, place, st.sampled_from(TOKENS))
    return draw(place), draw(st.lists(change, min_size=1, max_size=4))


def _lines(edit):
    def change(data: bytes, one: int, other: int, token: bytes) -> bytes:
        lines = data.splitlines(keepends=True) or [b""]
        return b"".join(edit(lines, one % len(lines), other % len(lines), token))

    return change


def _number(data: bytes, one: int, other: int, token: bytes) -> bytes:
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return data + token
    result = numbers[one % len(numbers)]
    return data[: result.start()] + token + data[result.end() :]


def _flip(data: bytes, one: int, other: int, token: bytes) -> bytes:
    at = one % (len(data) or 1)
    return data[:at] + bytes([(data[at] if data else 0) ^ (other % 255 + 1)]) + data[at + 1 :]


def _slice(data: bytes, one: int, other: int, token: bytes) -> bytes:
    at = one % (len(data) + 1)
    return data[:at] + token + data[at + other % 40 :]


CHANGES = {
    "cut off": lambda data, one, other, token: data[: one % (len(data) + 1)],
    "begin cut off": lambda data, one, other, token: data[one % (len(data) + 1) :],
    "flip": _flip,
    "number": _number,
    "another number": _number,
    "slice": _slice,
    "token": lambda data, one, other, token: token.join(
        [data[: one % (len(data) + 1)], data[one % (len(data) + 1) :]]
    ),
    "line lost": _lines(lambda lines, one, other, token: lines[:one] + lines[one + 1 :]),
    "line twice": _lines(
        lambda lines, one, other, token: lines[:one] + lines[one:][:1] + lines[one:]
    ),
    "lines changed": _lines(
        lambda lines, one, other, token: [*lines[:one], lines[other], *lines[one + 1 :]]
    ),
    "line of a token": _lines(lambda lines, one, other, token: [*lines[:one], token, *lines[one:]]),
    "twice": lambda data, one, other, token: data + data,
}


def changed(samples: list[bytes], change: tuple) -> bytes:
    sample, edits = change
    data = samples[sample % len(samples)]
    for kind, one, other, token in edits:
        data = CHANGES[kind](data, one, other, token)
    return data


def changed_tree(samples: list[bytes], change: tuple) -> bytes:
    """A YAML file one of whose values is another, or is not there; or its bytes changed."""
    sample, edits = change
    if sample % 3 == 0:
        return changed(samples, change)
    tree = copy.deepcopy(_tree(samples[sample % len(samples)]))
    for kind, one, other, _ in edits[:2]:
        holders = list(_holders(tree))
        if holders:
            holder, key = holders[one % len(holders)]
            if kind == "line lost":
                del holder[key]
            else:
                holder[key] = copy.deepcopy(VALUES[other % len(VALUES)])
    return yaml.dump(tree, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)).encode()


_trees: dict[bytes, object] = {}


def _tree(sample: bytes):
    if sample not in _trees:
        _trees[sample] = yaml.safe_load(sample)
    return _trees[sample]


def _holders(tree):
    """Each mapping or list of the tree with each of its keys."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from _holders(tree[key])


@pytest.fixture
def fuzz(record_property, pytestconfig):
    """Runs a parser on as many changed samples; fails when it raises anything unexpected."""
    factor = pytestconfig.getoption("--inputs")

    def run(name: str, inputs: int, samples: list[bytes], parser, change=changed) -> None:
        assert samples
        errors: dict[str, bytes] = {}
        count = 0

        @settings(
            max_examples=max(1, int(inputs * factor)),
            deadline=None,
            database=None,
            derandomize=False,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(changes())
        def every(drawn):
            nonlocal count
            count += 1
            data = change(samples, drawn)
            if (error := problem(parser, data)) and len(data) <= len(errors.get(error, data)):
                errors[error] = data

        with at_most(LONG):
            every()
        record_property("parser", name)
        record_property("inputs", count)
        record_property("unexpected", len(errors))
        assert not errors, "\n\n".join(f"{error}\n{data[:600]!r}" for error, data in errors.items())

    return run


def problem(parser: Callable[[bytes], object], data: bytes) -> str:
    """What is wrong with how the parser takes ``data``; empty where nothing is."""
    began = time.process_time()
    try:
        parser(data)
    except KvstudyError as error:
        if len(str(error)) > LONGEST:
            return "a message too long for anybody"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        selected = [frame for frame in frames if "/kvstudy/" in frame.filename] or frames
        place = f"{Path(selected[-1].filename).name}:{selected[-1].lineno}"
        return f"{type(error).__name__} at {place}: {re.sub(r'[0-9]+', 'N', str(error))[:80]}"
    return "too slow" if time.process_time() - began > SECONDS else ""


def files(folder: Path, *patterns: str, most: int = 6000) -> list[bytes]:
    """Small files, and the begin and end of larger ones."""
    contents = [path.read_bytes() for pattern in patterns for path in sorted(folder.glob(pattern))]
    return [
        text if len(text) <= most else text[: most // 2] + text[-most // 2 :] for text in contents
    ]


def test_out(fuzz):
    def read(data: bytes) -> None:
        interval = ("op", "both", "intended")[len(data) % 3]
        log = parse(data.decode("utf-8", errors="replace"), "run.out", interval)
        check_run(log, log.attempted, None, "run.out")
        check_load(log, 1000, "run.out")

    fuzz("out", 22_000, files(DATA / "ycsb", "*.out", "*.json"), read)


def test_err(fuzz):
    def read(data: bytes) -> None:
        text = data.decode("utf-8", errors="replace")
        last_status(text)
        run_start(text)
        operations_per_second(read_status(text, "run.err"), "run.err")

    fuzz("err", 18_000, files(DATA / "ycsb", "*.err"), read)


@pytest.fixture
def raw() -> list[bytes]:
    """The first operations of each section of files as YCSB wrote them: whole rows, all good."""
    samples = []
    for path in sorted((DATA / "ycsb").glob("*.rawdata")):
        sections = re.split(rb"^(?=.* latency raw data:)", path.read_bytes(), flags=re.M)
        lines = [text.splitlines(keepends=True)[:20] for text in sections]
        samples.append(b"".join(line for section in lines for line in section))
    return samples


def test_raw(fuzz, tmp_path, raw):
    written, kept = tmp_path / "run.latencies", tmp_path / "run.latencies.parquet"

    def read(data: bytes) -> None:
        written.write_bytes(data)
        rows = keep_raw(written, kept)
        assert {name: sum(of.values()) for name, of in count_latencies(kept).items()} == rows

    fuzz("raw latencies", 20_000, raw, read)


def test_kept_raw(fuzz, tmp_path, raw):
    written, kept = tmp_path / "run.latencies", tmp_path / "run.latencies.parquet"
    samples = []
    for rows in raw:
        written.write_bytes(rows)
        keep_raw(written, kept)
        samples.append(kept.read_bytes())

    def read(data: bytes) -> None:
        kept.write_bytes(data)
        count_latencies(kept)

    fuzz("kept latencies", 5_000, samples, read)


def test_hdr(fuzz, tmp_path):
    path = tmp_path / "READ.hdr"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        read_histogram(path)

    fuzz("hdr", 6_000, files(DATA / "ycsb", "*.hdr"), read)


def test_hdr_before_compression(fuzz, tmp_path):
    path = tmp_path / "READ.hdr"
    lines = b"\n".join(files(DATA / "ycsb", "*.hdr", most=10**9)).splitlines()
    payloads = [line.rpartition(b",")[2] for line in lines if b",HIST" in line]
    bodies = [zlib.decompress(base64.b64decode(text)[8:]) for text in payloads]

    def read(data: bytes) -> None:
        packed = zlib.compress(data)
        head = b"\x1c\x84\x93\x14" + len(packed).to_bytes(4, "big")
        path.write_bytes(b"1.0,2.0,3.0," + base64.b64encode(head + packed) + b"\n")
        read_histogram(path)

    fuzz("hdr before compression", 9_000, [body for body in bodies if len(body) < 4000], read)


def test_config(fuzz, scene):
    path = Path("config/config.yaml")
    config = path.read_bytes()
    samples = [config, config + b"\npin_cpus: {server: 0-1, client: '2,3'}\n"]

    def read(data: bytes) -> None:
        path.write_bytes(data)
        read_yaml(path, Config)
        check_config(yaml.safe_load(data))

    fuzz("config", 6_000, samples, read, changed_tree)


# A study of all that a study file can say, small enough to be read thousands of times.
MUCH = """
name: small
title: A study
question: Does it hold?
source: {key: cooper2010, author: A, title: T, year: 2010, published_as: paper,
  machine: [{component: CPU, name: Fast, details: 2 cores}],
  printed: {decimal_mark: ",", group_mark: " ", decimals: {throughput: 1}}}
stores: [redis, {store: mysql, name: my, title: M}]
workloads: [a, {name: b, records: [10, 20], threads: 3, also: [{records: 5}]}, insert]
parameters: {records: [10, 20], operations: 20, threads: [1, 2], clients: auto,
  shown: {records: 10, threads: 2}, properties: {requestdistribution: uniform}}
repetitions: 5
seed: 7
noise_floor: redis
client_ceiling: true
trimmed_mean: true
store_pages: true
expected_failures: [{store: my, operation: update, up_to: 0.01, reason: deadlocks}]
open_loop: {loads: [0.5, 0.8], workloads: [a]}
tables:
  - {name: machine, kind: machine, caption: The machine}
  - {name: of-a, kind: results, workload: a, caption: Of A}
  - {name: over, kind: sweep, workload: a, over: threads, caption: Over, where: {records: [10, 20]}}
figures:
  - {name: bars, kind: bars, caption: B, workloads: [a, b], operation: overall,
     metrics: [throughput], unit: kops/s}
choices: [One thing was left open.]
"""
VALUES_OF_IT = b"""\
study,table,store,workload,operation,metric,unit,value,records,threads,printed
small,T 1,redis,a,overall,throughput,ops/s,3025,10,1,
small,T 1,redis,a,read,latency_mean,us,435.5,10,1,"435,5"
small,T 1,my,a,overall,throughput,ops/s,5534,20,2,
small,T 1,my,b,overall,runtime,ms,4899.25,10,3,
"""
QUOTES = """
setting: {runs: 1}
quotes:
  - {place: "5.2", says: runs, value: 48, unit: runs, expected: {product: [12, 4]}}
  - {place: "6", says: how many times, value: 4, about: true,
     expected: {ratio: [{most: [redis/a/overall/throughput]}, {least: [my/a/overall/throughput]}]}}
"""
CLAIMS = """
claims:
  - id: H1
    claim: Redis is faster.
    place: Section 6
    said: quoted
    note: In a figure.
    statements:
      - {kind: order, stores: [redis, my], workload: [a, b], records: all, threads: all}
      - {kind: ratio, workload: a, of: {store: redis, threads: best}, to: {store: my}, times: 0.5}
      - {kind: bound, store: redis, workload: a, metric: throughput, at_least: 100}
"""


@pytest.fixture
def much(scene) -> Path:
    folder = Path("config/studies/small")
    (folder / "study.yaml").write_text(MUCH)
    study = load_study(folder / "study.yaml")
    assert plan(study)
    return folder


def reads(path: Path, then: Callable[[], object]) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        path.write_bytes(data)
        then()

    return read


def test_study(fuzz, much):
    path = much / "study.yaml"
    samples = [path.read_bytes(), *files(STUDIES, "smoke/study.yaml", "petrov2014/study.yaml")]
    fuzz("study", 4_000, samples, reads(path, lambda: plan(load_study(path))), changed_tree)


def test_store(fuzz, scene):
    folder = Path("envs/stores/mysql")
    samples = files(Path("envs/stores"), "*/store.yaml", most=10**6)
    read = reads(folder / "store.yaml", lambda: load_store(folder))
    fuzz("store", 3_000, samples, read, changed_tree)


def test_claims(fuzz, much):
    study = load_study(much / "study.yaml")
    path = much / "claims.yaml"
    read = reads(path, lambda: load_claims(path, study))
    read(CLAIMS.encode())
    fuzz("claims", 4_000, [CLAIMS.encode()], read, changed_tree)


def test_quotes(fuzz, much):
    study = load_study(much / "study.yaml")
    values, path = much / "published.csv", much / "quotes.yaml"
    values.write_bytes(VALUES_OF_IT)
    read = reads(path, lambda: audit(study, values, path))
    read(QUOTES.encode())
    fuzz("quotes", 3_000, [QUOTES.encode()], read, changed_tree)


def test_published(fuzz, much):
    path = much / "published.csv"
    read = reads(path, lambda: audit(load_study(much / "study.yaml"), path, None))
    read(VALUES_OF_IT)
    fuzz("published", 2_500, [VALUES_OF_IT], read)


def test_bibliography(fuzz, scene):
    path = Path("mine.bib")
    samples = [
        b'@string{p = "P"} @book{a, title={On {N{o}SQL}}, year=2020} @misc{b, note=p # ", Q"}\n',
        b"% Mine.\n@comment{x}\n@article{c:1,\n  title = {T},\n  year = {2020},\n}\n",
    ]
    fuzz("bibliography", 3_000, samples, reads(path, lambda: bibliography_entries(path)))


def test_import_csv(fuzz, scene):
    path = Path("import.csv")
    sample = b"""\
file,store,workload,phase,records,operations,threads,repetition,seconds
redis/run_a_1.txt,redis,a,run,2000,100000,4,1,
redis/load_a_1.txt,redis,a,load,2000,,4,1,
windows/c.log,redis-2,c,run,2000,100000,4,1,30
"""
    samples = [sample, b"\xef\xbb\xbf" + sample.replace(b",", b";").replace(b"\n", b"\r\n")]
    fuzz("import.csv", 8_000, samples, reads(path, lambda: read_rows(path)))


def test_archive(fuzz, scene, tmp_path):
    """Its bytes, and what is in it."""
    write_run()
    put(Path("config/studies/small/study.yaml"), scene.study.read_text())
    pack(contents_of(find_name("small")), Path("small.zip"))
    with zipfile.ZipFile("small.zip") as file:
        names = [*("archive.json", "SHA256SUMS", "ro-crate-metadata.json"), "Makefile"]
        parts = {name: file.read(name) for name in names}
    sums = parts["SHA256SUMS"].splitlines(keepends=True)
    parts["SHA256SUMS"] = b"".join(line for line in sums if line.split()[1].decode() in names)
    graph = json.loads(parts["ro-crate-metadata.json"])
    graph["@graph"] = graph["@graph"][:3]
    parts["ro-crate-metadata.json"] = json.dumps(graph).encode()
    path, folder = tmp_path / "x.zip", tmp_path / "out" / "x"

    def change(samples: list[bytes], drawn: tuple) -> bytes:
        sample = drawn[0]
        if sample % 2:
            return changed([_zip(parts)], drawn)
        name = names[sample % 3]
        return _zip(parts | {name: changed([parts[name]], drawn)})

    def read(data: bytes) -> None:
        path.write_bytes(data)
        try:
            with opened(path) as file:
                read_facts(file)
                damaged = extract(file, folder)
            with contextlib.chdir(folder):
                check_packed(damaged)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            assert not list(folder.parent.glob("*")) if folder.parent.exists() else True

    read(_zip(parts))
    fuzz("archive", 5_000, [b""], read, change)


def _zip(parts: dict[str, bytes]) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content)
    return output.getvalue()
