"""Single latencies and histogram files of real runs, against what the log says of them."""

import base64
import contextlib
import re
import struct
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hdrh.histogram import HdrHistogram
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb import latencies as reading
from kvstudy.logs.ycsb.check import check_histogram, check_raw
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.latencies import count_latencies, keep_raw
from kvstudy.logs.ycsb.log import parse
from kvstudy.stats.percentiles import quantiles

DATA = Path(__file__).parents[1] / "data" / "ycsb"
RUNS = [f"redis-hdr-rep{number}" for number in (1, 2, 3)]
# In its second interval two threads resized the histogram at a time: its header says that 32767
# is the highest value, its counts reach 35231.
RESIZED = "redis-hdr-resized.READ.hdr"


def log(name: str):
    return parse((DATA / f"{name}.out").read_text(), f"{name}.out")


@pytest.fixture
def histogram(tmp_path):
    """Reads the text of a histogram file."""

    def read(text: str) -> dict[int, int]:
        path = tmp_path / "run.READ.hdr"
        path.write_text(text)
        return read_histogram(path)

    return read


def coded(body: bytes) -> str:
    """A line of a histogram file whose unpacked histogram is ``body``."""
    packed = zlib.compress(body)
    data = b"\x1c\x84\x93\x14" + len(packed).to_bytes(4, "big") + packed
    return f"0.0,1.0,0.1,{base64.b64encode(data).decode()}\n"


@pytest.fixture
def keep(tmp_path):
    """Keeps rows as ``run.rawdata``: how many of each section, and the Parquet file."""

    def keep(rows: str) -> tuple[Counter, Path]:
        written, kept = tmp_path / "run.rawdata", tmp_path / "run.parquet"
        written.write_text(rows)
        return keep_raw(written, kept), kept

    return keep


@pytest.mark.parametrize("block", [1 << 24, 100, 30])
@pytest.mark.parametrize("run", ["redis-raw", "redis-hdrraw"])
def test_raw_latencies_have_the_statistics_of_the_log(keep, monkeypatch, run, block):
    """However much of the file is read at a time."""
    monkeypatch.setattr(reading, "BLOCK", block)
    text, results = (DATA / f"{run}.rawdata").read_text(), log(run)
    rows, kept = keep(text)
    check_raw(rows, results, run)
    table, counts = pd.read_parquet(kept), count_latencies(kept)
    for operation, section in results.sections.items():
        latencies = table.loc[table["operation"] == operation, "latency"]
        assert len(latencies) == rows[operation] == section.operations
        assert latencies.max() == pytest.approx(section.latencies["latency_max"], rel=1e-3)
        assert latencies.min() == section.latencies["latency_min"]
        assert latencies.mean() == pytest.approx(section.latencies["latency_mean"], rel=1e-3)
        assert list(counts[operation].items()) == sorted(latencies.value_counts().items())
    written = re.findall(r"^(?:Raw)?([A-Za-z-]+),(\d+),(\d+)$", text, re.MULTILINE)
    assert [(name, str(time), str(us)) for name, time, us in table.itertuples(index=False)] == [
        row for row in written if not row[0].endswith("CLEANUP")
    ]


def test_raw_intended_latencies_are_apart(keep):
    rows, kept = keep((DATA / "redis-hdrraw.rawdata").read_text())
    assert set(rows) == {"READ", "UPDATE", "Intended-READ", "Intended-UPDATE"}
    assert pd.read_parquet(kept)["timestamp"].between(1.7e12, 1.9e12).all()


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ("READ", "READ"),
        ("READ-FAILED", "failed READ"),
        ("READ-MODIFY-WRITE", "READ-MODIFY-WRITE"),
        ("Intended-UPDATE", "Intended-UPDATE"),
    ],
)
def test_each_operation_of_the_log_has_its_latency(keep, section, named):
    """Workload F on a real Redis with 600 of 1000 records: some reads find nothing."""
    name = "redis-hdrraw-failed"
    text, results = (DATA / f"{name}.rawdata").read_text(), log(name)
    assert results.sections["READ"].failed > 0
    check_raw(keep(text)[0], results, name)
    lines = text.splitlines(keepends=True)
    lines.remove(next(line for line in lines if line.startswith(f"Raw{section},")))
    with pytest.raises(KvstudyError, match=rf"\d+ latencies of {named}, the log counts \d+"):
        check_raw(keep("".join(lines))[0], results, name)


def test_a_raw_file_cut_off_in_the_middle(keep):
    whole, results = (DATA / "redis-raw.rawdata").read_text(), log("redis-raw")
    for end in range(0, len(whole), 7):
        with pytest.raises(KvstudyError, match=r"run\.rawdata: "):
            check_raw(keep(whole[:end])[0], results, "run.rawdata")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text + text, r"latencies of READ begin a second time.*Remove it"),
        (lambda text: text.replace("\nREAD,1", "\nREAD,x", 1), r"of READ is no latency.*'x"),
        (lambda text: text.replace("\nREAD,1", "\nREAD,-1", 1), r"of READ is no latency.*: -1"),
        (lambda text: text.replace("\nREAD,1", "\nREAD,1" + 30 * "0", 1), "of READ is no latency"),
        (lambda text: text.replace("\nREAD,1", "\nREAD,1,1", 1), "of READ is no latency"),
        (lambda text: text.replace("\nREAD,1", "\n\nREAD,1", 1), "of READ is no latency"),
        (lambda text: text.replace("\nREAD,1", "\nUPDATE,1", 1), "of READ is no .*: UPDATE"),
        (lambda text: text.partition("\n")[2], "among the latencies of nothing yet"),
        (lambda text: "", "no latencies of single operations.*measurementtype=raw"),
        # A header alone, which YCSB writes before an operation ends.
        (lambda text: text.partition("\n")[0] + "\n", "no latencies of single operations"),
    ],
)
def test_faults_of_raw_files(keep, edit, message):
    text = (DATA / "redis-raw.rawdata").read_text()
    with pytest.raises(KvstudyError, match=r"^run\.rawdata: (?s:.*)" + message):
        keep(edit(text))


def test_a_kept_file_that_is_damaged(keep):
    _, kept = keep((DATA / "redis-raw.rawdata").read_text())
    kept.write_bytes(kept.read_bytes()[:-20])
    with pytest.raises(KvstudyError, match=r"run\.parquet: cannot be read"):
        count_latencies(kept)


@pytest.mark.parametrize("operation", ["READ", "UPDATE"])
@pytest.mark.parametrize("run", RUNS)
def test_histogram_files_have_the_percentiles_of_the_log(run, operation):
    result = read_histogram(DATA / f"{run}.{operation}.hdr")
    section = log(run).sections[operation]
    check_histogram(result, section.operations, f"{run}.{operation}.hdr")
    for percent in (50, 95, 99, 99.9):
        assert quantiles(pd.Series(result), [percent]) == [section.latencies[f"latency_p{percent}"]]
    assert quantiles(pd.Series(result), [100]) == [section.latencies["latency_max"]]
    assert list(result) == sorted(result)
    mean = np.average(list(result), weights=list(result.values()))
    assert mean == pytest.approx(section.latencies["latency_mean"], rel=1e-3)


def test_a_histogram_that_two_threads_resized_at_a_time_is_whole():
    result = read_histogram(DATA / RESIZED)
    section = log("redis-hdr-resized").sections["READ"]
    check_histogram(result, section.operations, RESIZED)
    assert sum(result.values()) == 9503
    reply = [section.latencies[f"latency_{name}"] for name in ("p95", "p99", "max")]
    assert quantiles(pd.Series(result), [95, 99, 100]) == reply == [474, 2367, 35231]


@pytest.mark.parametrize("position", [*range(60), *range(60, 900, 40)])
def test_a_histogram_with_a_damaged_byte_is_refused_or_read(histogram, position):
    """Packed again: otherwise the checksum of the compression finds every damage."""
    lines = (DATA / RESIZED).read_text().splitlines(keepends=True)
    body = zlib.decompress(base64.b64decode(f"HIST{lines[5].rpartition('HIST')[2]}")[8:])
    for change in (0x01, 0x40, 0x80, 0xFF):
        damaged = bytearray(body)
        damaged[position % len(body)] ^= change
        with contextlib.suppress(KvstudyError):
            assert min(histogram("".join([*lines[:5], coded(damaged), *lines[6:]])).values()) > 0


def test_histogram_files_of_service_and_intended_times():
    section = log("redis-both").sections["READ"]
    for prefix, latencies in (("", section.latencies), ("Intended-", section.intended)):
        result = read_histogram(DATA / f"redis-both.{prefix}READ.hdr")
        assert quantiles(pd.Series(result), [99]) == [latencies["latency_p99"]]
        assert sum(result.values()) == section.operations


def test_a_histogram_file_cut_off_in_the_middle(histogram):
    whole = (DATA / "redis-hdr-rep1.READ.hdr").read_text()
    operations = log("redis-hdr-rep1").sections["READ"].operations
    # Behind that are intervals without an operation.
    last = whole.index("\n2.903,")
    for end in [*range(0, last, 11), *range(last - 20, last)]:
        with pytest.raises(KvstudyError, match=r"run\.READ\.hdr: "):
            check_histogram(histogram(whole[:end]), operations, "run.READ.hdr")
    lines = whole.splitlines(keepends=True)
    with pytest.raises(KvstudyError, match=r"run\.READ\.hdr: latencies of \d+ operations, the log"):
        check_histogram(histogram("".join(lines[:6])), operations, "run.READ.hdr")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no operations in it"),
        ("#[Histogram log format version 1.3]\n", "no operations in it"),
        ("0.0,1.0,0.1,HISTFAAAABx42pNpmSzMwMDAyAABzFAaxmey/wBlAQA8yQJ9\n", "no operations in it"),
        ("0.0,1.0,0.1,HISTxx\n", "line 1: '0.0,1.0,0.1,HISTxx' is no histogram"),
        ("[OVERALL], RunTime(ms), 5\n", "line 1: '.OVERALL., RunTime.*no interval"),
        # One count, of a histogram whose lowest value is 2^61 us.
        (
            coded(struct.pack(">iiiiqqdb", 0x1C849313, 1, 0, 3, 1 << 61, 1 << 62, 1.0, 2)),
            ".*latencies of weeks",
        ),
        (coded(bytes(100_000_000)), "line 1: .* is no histogram"),
    ],
    ids=range(7),
)
def test_faults_of_histogram_files(histogram, text, message):
    with pytest.raises(KvstudyError, match=r"run\.READ\.hdr: " + message):
        histogram(text)


def test_two_precisions_in_one_histogram_file(histogram):
    coarse = HdrHistogram(1, 1_000_000, 2)
    coarse.record_value(150)
    first = (DATA / "redis-hdr-rep1.READ.hdr").read_text()
    with pytest.raises(KvstudyError, match=r"run\.READ\.hdr: line 10: another precision"):
        histogram(f"{first}4.0,1.0,0.1,{coarse.encode().decode()}\n")


def test_a_histogram_file_that_cannot_be_read(tmp_path):
    with pytest.raises(KvstudyError, match=r"absent\.hdr: cannot be read"):
        read_histogram(tmp_path / "absent.hdr")
    (tmp_path / "binary.hdr").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KvstudyError, match=r"binary\.hdr: cannot be read"):
        read_histogram(tmp_path / "binary.hdr")
