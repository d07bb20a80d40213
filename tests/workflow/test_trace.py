"""From a number back to the lines of its logs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from kvstudy.cli import cli
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import parse
from kvstudy.share.trace.sources import lines_of

from tests.project import PRETEND, ROOT, SLUG, add_pretended, kvstudy, measure

YCSB = ROOT / "tests" / "data" / "ycsb"
RUN = Path("results/small")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:E-?\d+)?")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=True)


def traced(what: str, *options: str) -> str:
    result = run("trace", what, "--run", "small", *options)
    assert result.exception is None, result.exception
    return result.stdout


def refused(what: str) -> str:
    result = run("trace", what, "--run", "small")
    assert result.exception is not None, result.stdout
    return str(result.exception)


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    """The study ``small`` with three cells of the pretended store, one of them invalid."""
    folder = tmp_path_factory.mktemp("traced")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("config", "envs/stores", "workloads"):
            shutil.copytree(ROOT / name, folder / name)
        add_pretended(folder)
        patch.chdir(folder)
        patch.setenv("PATH", f"{PRETEND}:{os.environ['PATH']}")
        patch.setenv("KVSTUDY_STATE", str(folder / "state"))
        patch.setenv("KVSTUDY_CONTROLLER", str(os.getpid()))
        patch.delenv("YCSB_HOME", raising=False)
        for cell in (f"a/{SLUG}/rep1", f"c/{SLUG}/rep1"):
            measure(f"pretend/{cell}")
        patch.setenv("PRETEND_CLIENT", "failed-run")
        measure(f"pretend/a/{SLUG}/rep2")
        kvstudy("parse", "small")
        kvstudy("analyse", "small")
    return folder


@pytest.fixture
def small(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the test runs; returns the folder of its raw logs."""
    shutil.copytree(measured, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return RUN / "raw" / "pretend"


def test_the_chain_ends_at_the_line_of_the_log(small):
    text = traced("pretend/a/throughput")
    assert "mean 4000 ops/s" in text
    assert "n 1 of 2 planned" in text
    place = next(line for line in text.splitlines() if "summary.csv:" in line).strip()
    file, _, number = place.rpartition(":")
    assert ",overall,throughput," in Path(file).read_text().splitlines()[int(number) - 1]
    log = small / f"a/{SLUG}/rep1/run.out"
    assert str(log) in text
    sums = (log.parent / "SHA256SUMS").read_text().split()
    assert f"sha256 {sums[sums.index('run.out') - 1]}" in text
    assert "[OVERALL], Throughput(ops/sec), 4000.0" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_only_run_need_not_be_named(small):
    """As after a trial run: the configured study has no run of scale 1."""
    result = run("trace", "pretend/a/throughput")
    assert result.stdout == traced("pretend/a/throughput")
    assert "run: small, the only one" in result.stderr
    shutil.copytree(RUN, "results/small-scale0.5")
    several = str(run("trace", "pretend/a/throughput").exception)
    assert several.startswith("results/jedlicka2024: no such run; name one of these by --run:")
    assert several.endswith(" small, small-scale0.5")


def test_a_cell_that_does_not_count_says_why(small):
    text = traced("pretend/a/throughput")
    after = text[text.index("rep2  not counted, 4000 ops/s") :]
    assert "invalid: 20.00% of update operations failed (200 ERROR)" in " ".join(after.split())
    gaps = " ".join(traced("unbound/a/throughput").split())
    assert "no value, n 0 of 2 planned rep1, rep2 not counted not measured:" in gaps


def test_sizes_and_combined_operations_have_names(small):
    one = traced("pretend/a/read/latency_p99", "--json")
    sized = traced("pretend/a/records=1000,threads=2/read/latency_p99", "--json")
    assert one == sized == traced(f"pretend/a/{SLUG}/read/latency_p99", "--json")
    both = json.loads(traced("pretend/a/all/latency_p99", "--json"))
    assert both["address"]["operation"] == "read+update"
    (first, second) = both["repetitions"][0]["made_of"]
    assert both["mean"] == (first["value"] + second["value"]) / 2
    assert first["sources"][0]["lines"][0]["text"].startswith("[READ], 99thPercentile")
    # One repetition has no spread, and JSON no NaN.
    assert both["sd"] is None


def test_what_was_sampled_leads_to_its_file(small):
    assert str(small / f"a/{SLUG}/rep1/processes.csv") in traced("pretend/a/server_cpu")
    goodput = traced("pretend/a/goodput")
    assert "manifest.json" in goodput
    assert "[OVERALL], RunTime(ms), 500" in goodput


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pretned/a/throughput", "unknown store 'pretned'; did you mean 'pretend'?"),
        ("pretend/z/throughput", "unknown workload 'z'; known are: a, c, insert, mean"),
        ("pretend/a/thruput", "unknown metric 'thruput'; did you mean 'throughput'?"),
        ("pretend/a/latency_p99", "there are pretend/a/read/latency_p99, pretend/a/update/"),
        ("pretend/a/threads=3/throughput", f"no cell has threads=3; there are {SLUG}"),
        ("pretend/a/size=3/throughput", "unknown size 'size'"),
        ("pretend/a", "for example redis/a/throughput"),
        ("table:workload-b", "unknown table 'workload-b'; did you mean 'workload-a'?"),
        ("figure:nothing", "unknown figure 'nothing'"),
        ("ratio:pretend", "for example ratio:redis/memcached/a"),
    ],
)
def test_a_name_that_is_not_there(small, what, said):
    assert said in refused(what)


def test_a_run_that_is_not_there(small):
    assert "did you mean 'small'" in str(run("trace", "x/y/z", "--run", "smal").exception)
    published = run("trace", "x/y/z", "--run", "jedlicka2024-published").exception
    assert "has no logs" in str(published)


def test_an_edited_log_is_told(small):
    log = small / f"a/{SLUG}/rep1/run.out"
    edited = log.read_text().replace(
        "99thPercentileLatency(us), 114", "99thPercentileLatency(us), 119"
    )
    assert edited != log.read_text()
    log.write_text(edited)
    result = run("trace", "pretend/a/read/latency_p99", "--run", "small")
    assert "2 things do not fit" in str(result.exception)
    words = " ".join(result.stdout.split())
    assert f"{log}: differs from its checksum in SHA256SUMS" in words
    assert "114.0, but the raw logs say 119.0; run" in words


def test_numbers_that_were_edited_are_told(small):
    path = RUN / "summary.csv"
    frame = pd.read_csv(path, keep_default_na=False)
    chosen = (frame.workload == "a") & (frame.operation == "overall") & (frame.metric == "runtime")
    assert chosen.sum() == 1
    frame.loc[chosen, "mean"] = 501
    frame.to_csv(path, index=False)
    result = run("trace", "pretend/a/runtime", "--run", "small")
    assert "is not that of its repetitions" in " ".join(result.stdout.split())
    assert "1 thing does not fit" in str(result.exception)


def test_logs_that_are_not_here_are_told(small):
    shutil.rmtree(small / f"a/{SLUG}/rep1")
    result = run("trace", "pretend/a/throughput", "--run", "small")
    assert "run.out: is not here" in " ".join(result.stdout.split())
    assert result.exception is not None


def test_provenance_names_cells_and_their_checksums(small):
    assert run("provenance", "small").exception is None
    text = (RUN / "provenance.json").read_text()
    data = json.loads(text)
    cell = f"pretend/a/{SLUG}/rep1"
    assert data["tables"]["workload-a"]["cells"] == sorted(
        f"{store}/a/{SLUG}/rep{n}" for store in ("pretend", "unbound") for n in (1, 2)
    )
    assert data["cells"][cell]["counts"]
    why = data["cells"][f"pretend/a/{SLUG}/rep2"]["why"]
    assert why.startswith("invalid 'why=failures share=20.00%")
    assert data["settings"][f"pretend/a/{SLUG}"] == [cell]
    assert len(data["cells"][cell]["sums"]) == 64
    # Another file of the cell, another checksum.
    sums = small / f"a/{SLUG}/rep1/SHA256SUMS"
    sums.write_text(sums.read_text() + f"{'0' * 64}  more\n")
    assert run("provenance", "small").exception is None
    again = json.loads((RUN / "provenance.json").read_text())
    assert again["cells"][cell]["sums"] != data["cells"][cell]["sums"]
    shutil.rmtree(sums.parent)
    refused = run("provenance", "small").exception
    assert "Copy them back" in str(refused)


def whole_logs() -> list[str]:
    """The recorded logs that are not broken."""
    result = []
    for path in sorted([*YCSB.glob("*.out"), *YCSB.glob("*.json")]):
        with contextlib.suppress(KvstudyError):
            parse(path.read_text(errors="replace"), path.name)
            result.append(path.name)
    return result


@pytest.mark.parametrize("name", whole_logs())
def test_lines_add_up_to_what_the_parser_reads(name):
    """Every value that the log shows."""
    path = YCSB / name
    log = parse(path.read_text(errors="replace"), name)
    values = {
        ("overall", "runtime"): log.runtime,
        ("overall", "throughput"): log.throughput,
        ("overall", "operations"): log.attempted,
        ("overall", "failed"): log.failed,
    }
    for operation, section in log.sections.items():
        low = operation.lower()
        values[low, "operations"], values[low, "failed"] = section.operations, section.failed
        values |= {(low, metric): value for metric, value in section.latencies.items()}
        values |= {(low, f"intended_{m}"): value for m, value in section.intended.items()}
    text = path.read_text(errors="replace").splitlines()
    for (operation, metric), value in values.items():
        lines = lines_of(path, operation, metric)
        numbers = [float(NUMBER.findall(line.text)[-1]) * line.sign for line in lines]
        assert sum(numbers) == value, (operation, metric)
        for line in lines:
            # JSON has its parts on several lines, or all on one.
            assert name.endswith(".json") or text[line.number - 1].strip() == line.text
