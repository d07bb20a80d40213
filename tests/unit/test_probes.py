"""What is calculated from the raw facts of a probe, and the table that it makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.tidy.files import PROBES
from kvstudy.analyse.tidy.probes import Probes, collect_probes, rows_of
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Grid
from kvstudy.study.load import load_study
from kvstudy.study.model import Study
from kvstudy.study.raw import write_sums

from tests.project import kvstudy

from . import small_results as small

RUN = Path("results/small")


def recorded(store: str) -> dict:
    return json.loads((small.FACTS / f"{store}.json").read_text())


def probes(facts: dict, path: Path) -> Probes:
    """The facts by way of the file that the steps hand to each other."""
    rows = [{"store": "x", "reason": "", "step": "", **row} for row in rows_of(facts)]
    pd.DataFrame(rows).to_csv(path, index=False)
    return Probes(PROBES.read(path.parent))


def test_commands_are_counted_per_operation(tmp_path):
    result = probes(recorded("redis"), tmp_path / "probes.csv")
    assert result.commands("x", "insert") == {"HSET": 1.0, "ZADD": 1.0}
    assert result.commands("x", "scan") == {"HGETALL": 9.959, "ZRANGEBYSCORE": 1.0}
    # Connecting and asking are in the data and not in the table.
    names = set(pd.read_csv(tmp_path / "probes.csv").query("kind == 'command'")["name"])
    assert names >= {"PING", "INFO"}
    # Hits are results of commands, not commands.
    assert "keyspace_hits" not in names


def test_misses_are_those_that_the_server_counts(tmp_path):
    result = probes(recorded("memcached"), tmp_path / "probes.csv")
    assert result.missed("x", "read") == 0
    assert result.missed("x", "read-missing") == 1
    assert probes(recorded("cassandra"), tmp_path / "probes.csv").missed("x", "read") is None


def test_sizes_need_both_ends(tmp_path):
    result = probes(recorded("memcached"), tmp_path / "probes.csv")
    assert result.sizes("x", "insert") is None
    before, after = result.sizes("x", "update")
    assert (round(before), round(after)) == (1239, 207)
    assert result.sizes("x", "scan") is None


def test_statuses_are_shares_of_what_was_tried(tmp_path):
    facts = recorded("redis")
    facts["steps"][1]["returns"] = {"OK": 9_750, "ERROR": 200, "NOT_FOUND": 50}
    result = probes(facts, tmp_path / "probes.csv")
    assert result.statuses("x", "read") == {"OK": 0.975, "ERROR": 0.02, "NOT_FOUND": 0.005}
    assert result.operations("x", "read") == 10_000
    assert result.commands("x", "read") == {"HGETALL": 1.0}


@pytest.mark.parametrize(
    ("store", "creates"), [("redis", True), ("cassandra", True), ("memcached", False)]
)
def test_whether_an_update_makes_a_record(store, creates, tmp_path):
    assert probes(recorded(store), tmp_path / "probes.csv").creates("x") is creates


@pytest.mark.parametrize("counted", [True, False])
def test_a_client_that_says_ok_to_every_read_hides_nothing(counted, tmp_path):
    """As YCSB's own binding of Memcached does; its BasicDB has no server that counts."""
    facts = recorded("memcached")
    for step in facts["steps"]:
        if "read" in step["step"]:
            step["returns"] = {"OK": sum(step["returns"].values())}
        step["counters"] = step["counters"] if counted else None
    result = probes(facts, tmp_path / "probes.csv")
    assert result.creates("x") is False
    assert result.missed("x", "read-missing") == (1.0 if counted else None)


@pytest.fixture
def probed(pretend_study: Path) -> Path:
    """A run whose store ``pretend`` has a finished probe; returns the study file."""
    folder = RUN / "probes" / "pretend"
    folder.mkdir(parents=True)
    plan = {"store": "pretend", "options": {}, "shape": {}}
    (folder / "probe.json").write_text(json.dumps(recorded("redis") | {"plan": plan}))
    write_sums(folder)
    return pretend_study


def test_stores_without_a_probe_have_a_reason(probed):
    study = load_study(probed)
    assert Probes(collect_probes(study, "small")[0]).reason("unbound") == "not-probed"
    (RUN / "gaps").mkdir()
    (RUN / "gaps/unbound.json").write_text('{"reason": "no binding"}')
    assert Probes(collect_probes(study, "small")[0]).reason("unbound") == "no binding"
    failed = RUN / "failed/probes/unbound/1"
    failed.mkdir(parents=True)
    (failed / "failure.json").write_text('{"reason": "it\\n died"}')
    result = Probes(collect_probes(study, "small")[0])
    assert result.reason("unbound") == "it died"
    assert result.reason("pretend") == ""
    assert result.client("pretend") == "kvstudy"


def test_a_probe_that_cannot_be_read_becomes_a_failed_one(probed):
    file = RUN / "probes/pretend/probe.json"
    file.write_text(file.read_text().replace("1696.0", "1239.0"))
    done = kvstudy("parse", "small")
    assert done.exit_code == 0
    assert "probes/pretend: probe.json: differs from its checksum" in done.stdout
    reason = Probes(collect_probes(load_study(probed), "small")[0]).reason("pretend")
    assert reason.startswith("probe.json: differs from its checksum")
    (kept,) = (RUN / "failed/probes/pretend").iterdir()
    assert (kept / "probe.json").read_text().count("1239.0")
    assert not (RUN / "probes/pretend").exists()


def test_a_probe_of_other_records_is_refused(probed):
    probed.write_text(probed.read_text().replace("threads: 2", "properties: {fieldcount: 1}"))
    with pytest.raises(KvstudyError, match=r"probed with other parameters .*: shape was {}, is"):
        collect_probes(load_study(probed), "small")


def test_a_probe_without_its_facts_is_named(probed):
    shutil.rmtree(RUN / "probes/pretend")
    (RUN / "probes/pretend").mkdir()
    (RUN / "probes/pretend/probe.json").write_text("{}")
    write_sums(RUN / "probes/pretend")
    _, unreadable = collect_probes(load_study(probed), "small")
    assert unreadable["pretend"].startswith("probe.json: cannot be read")


def grid(study: Study, probes: Probes, **values: object) -> Grid:
    run = small.run(study=study, probes=probes, **values)
    return small.table("operations").grids(pd.DataFrame(), run)[0]


def lines(store: str) -> dict[str, list[str]]:
    """Commands, sizes and what is missing, by operation."""
    study = small.study(workloads=["a", "e"], tables=[], figures=[])
    sections = grid(study, small.probes()).sections
    section = next(section for section in sections if section.store == store)
    return {str(line.label): line.texts for line in section.lines}


def test_the_lines_of_a_store():
    redis, memcached = lines("redis"), lines("memcached")
    assert redis["Insert"][0] == "HSET\u00a01.00, ZADD\u00a01.00"
    assert redis["Insert"][1] == ""
    assert redis["Read"][2] == "NOT_FOUND, 1.00 misses"
    assert redis["Update, one field"][2] == "OK, creates it"
    assert memcached["Update, one field"][2] == "NOT_FOUND"
    assert memcached["Update, one field"][1] == "1\u202f239 \N{RIGHTWARDS ARROW} 207"
    assert memcached["Update, all fields"][1] == "1\u202f239 \N{RIGHTWARDS ARROW} 1\u202f239"
    assert memcached["Scan of 10 records"][0] == "not supported"


def test_failed_operations_and_silent_servers_are_told(tmp_path):
    facts = recorded("redis")
    facts["steps"][1]["returns"] = {"OK": 9_800, "ERROR": 200}
    for step in facts["steps"]:
        step["record_bytes"] = {"before": None, "after": None}
    facts["steps"][0]["counters"] = None
    result = probes(facts, tmp_path / "probes.csv")
    study = small.study(stores=["x"])
    lines = grid(study, result, titles={"x": "X"}).lines
    insert, read, _, update = (line.texts for line in lines)
    assert insert[0] == "\N{EN DASH}"
    assert read[0] == "HGETALL\u00a01.00 (OK 98\u00a0%, ERROR 2\u00a0%)"
    assert update[1] == "\N{EN DASH}"


@pytest.mark.parametrize(
    ("workloads", "labels"),
    [
        (["insert"], ["Insert"]),
        (["c"], ["Insert", "Read"]),
        (["f"], ["Insert", "Read", "Update, all fields", "Update, one field"]),
        (["e"], ["Insert", "Scan of 10 records"]),
    ],
)
def test_the_table_has_the_operations_of_the_study(workloads, labels):
    study = small.study(workloads=workloads, tables=[], figures=[])
    section = grid(study, small.probes()).sections[0]
    assert [str(line.label) for line in section.lines] == labels


def test_the_latex_of_the_table():
    text, _html = small.both(grid(small.study(), small.probes()))
    assert r"HSET~1.00" in text or "HSET\u00a01.00" in text
    assert r"NOT\_\allowbreak{}FOUND" in text
    assert r"{V}\$\textasciitilde{}\textasciicircum{}: not probed" in text.replace(r"\{V\}", "{V}")
    assert r"no server \& no image" in text
    assert "below 0.05" in text


def test_the_csv_of_the_table_has_every_step():
    frame = small.table("operations").rows(small.run(probes=small.probes()))
    frame = frame.set_index(["store", "step"])
    row = frame.loc["memcached", "update"]
    assert (row["commands"], row["statuses"], row["meaning"]) == ("cmd_set 1.0000", "OK", "replace")
    assert (round(row["bytes_before"]), round(row["bytes_after"])) == (1239, 207)
    assert frame.loc["memcached", "read-missing"]["misses"] == 1
    gap = frame.loc["riak", "read"]
    assert (gap["operations"], gap["note"]) == (0, "no server & no image")
