"""A workload with rounds on a real Redis: what the client reports is what the server did."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kvstudy.analyse.findings.rounds import Times, rounds
from kvstudy.analyse.findings.validity import agreement, flagged
from kvstudy.analyse.tidy.collect import collect
from kvstudy.analyse.tidy.files import CELL, OF_CELLS
from kvstudy.analyse.tidy.probes import Probes, collect_probes
from kvstudy.cli import cli
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study

ROOT = Path(__file__).parents[2]
STUDY = Path("config/studies/small/study.yaml")
ROUNDS = 8
# One below and one above the deletions of a round, so that there is something left to empty.
SIZES = (50, 300)
READS, DELETES = 1000, 200
# Of 200 reads in a row, 82 ask for the keys 1 to 50.
FOUND = {50: 5 * 82, 300: READS}


def kvstudy(*arguments: str) -> None:
    result = CliRunner().invoke(cli, [*arguments, "--study", str(STUDY)])
    if result.exception is not None:
        raise result.exception


@pytest.fixture
def run(project):
    for name in ("servers", "workflow"):
        if (ROOT / name).exists():
            (project / name).symlink_to(ROOT / name)
    STUDY.parent.mkdir()
    miss = {"operation": "read", "store": "redis", "records": [50], "up_to": 0.6}
    data = {
        "name": "small",
        "title": "Small",
        "question": "Are rounds counted?",
        "stores": [{"store": "redis", "options": {"layout": "string"}}],
        "workloads": [{"name": "rounds", "properties": {"rounds.deletes": DELETES}}],
        "parameters": {
            "records": list(SIZES),
            "operations": READS,
            "properties": {"fieldcount": 1},
        },
        "repetitions": 1,
        "noise_floor": False,
        "expected_failures": [miss | {"reason": "Few records."}],
    }
    STUDY.write_text(yaml.safe_dump(data))
    study = load_study(STUDY)
    for cell in plan(study):
        kvstudy("measure", cell.path, "--provider", "native")
    kvstudy("probe", "redis", "--provider", "native")
    return study


def test_rounds_on_redis(run):
    collected = collect(run, plan(run), "small", kept=OF_CELLS).tables
    assert set(collected["cells"]["status"]) == {"measured"}, collected["cells"]["reason"].tolist()
    assert set(collected["cells"]["invalid"]) == {""}
    outcomes = collected["outcomes"][collected["outcomes"]["store"] == "redis"]
    for records in SIZES:
        of = outcomes[outcomes["parameters"] == f"r{records}_o{READS}_t1"]
        counted = of[of["kind"] == "counter"].set_index("name")["count"]
        deletes = min(records, DELETES)
        # Plain strings, without an index; the load phase has inserted once.
        assert counted["SET"] == (ROUNDS - 1) * records
        assert counted["GET"] == ROUNDS * READS
        assert counted["DEL"] == ROUNDS * deletes
        assert counted["FLUSHDB"] == ROUNDS - 1
        assert counted.get("keyspace_misses", 0) == ROUNDS * (READS - FOUND[records])
        assert "ZADD" not in counted
        assert "HSET" not in counted
        rows = collected["rounds"].query("store == 'redis' and records == @records")
        assert rows["operations"].sum() == (ROUNDS * (records + READS + deletes) - records)
    # What the probe found out predicts what the server counted.
    probes = Probes(collect_probes(run, "small")[0])
    table = agreement(outcomes, probes, set())
    assert set(table["reason"]) == {""}
    assert flagged(table).empty
    # Summed latencies of the rounds that count are as long as YCSB's own, of all rounds.
    times = Times(rounds(collected["rounds"], collected["cells"][CELL]), "rounds")
    ycsb = (
        collected["measurements"]
        .query(
            "store == 'redis' and phase == 'run' and operation == 'read' "
            "and metric == 'latency_mean' and parameters == 'r300_o1000_t1'"
        )["value"]
        .item()
    )
    assert 0.2 * ycsb < times.row("redis", 300, "read").time < 5 * ycsb + 10
