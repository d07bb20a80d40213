"""The probe of a store, with a pretended server and client: what it leaves, and how it fails."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from kvstudy.errors import KvstudyError
from kvstudy.study.load import load_study
from kvstudy.study.probe import planned

from tests.project import kvstudy

DONE = Path("results/small/probes/pretend")
STORE = Path("envs/stores/pretend")


def probe(study: Path, store: str = "pretend") -> dict:
    """The facts that the probe wrote."""
    result = kvstudy("probe", store, "--study", study, "--provider", "native")
    assert result.output.splitlines()[-1] == str(DONE)
    return json.loads((DONE / "probe.json").read_text())


def failure(study: Path) -> str:
    with pytest.raises(KvstudyError) as error:
        probe(study)
    assert not DONE.exists()
    assert not Path("results/small/measuring").exists()
    return str(error.value)


def test_it_leaves_facts_and_logs(pretend_study):
    facts = probe(pretend_study)
    steps = {step["step"]: step for step in facts["steps"]}
    assert list(steps) == [
        *["insert", "read", "scan", "update-all", "update"],
        *["read-missing", "update-missing", "read-updated"],
    ]
    assert steps["insert"]["returns"] == {"OK": 1000}
    assert steps["update"]["returns"] == {"OK": 10_000}
    assert steps["read-missing"]["returns"] == {"NOT_FOUND": 1000}
    # What the server counted in between, not since its start.
    assert steps["update"]["counters"] == {"UPDATE": 10_000}
    assert steps["insert"]["record_bytes"] == {"before": None, "after": 1000.0}
    assert steps["update-all"]["record_bytes"] == {"before": 1000.0, "after": 995.0}
    assert steps["update"]["record_bytes"] == {"before": 995.0, "after": 985.0}
    assert facts["server"]["version"] == "1.2.3"
    assert facts["client"]["kind"] == "kvstudy"
    assert facts["misses"] == "get_misses"
    names = {path.name for path in DONE.iterdir()}
    assert names >= {"insert.out", "update-all.err", "server.log", "commands.sh"}
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=DONE).returncode == 0


def test_each_step_asks_ycsb_for_what_it_says(pretend_study):
    phases = probe(pretend_study)["phases"]
    command = phases["update-all"]["command"]
    assert {"updateproportion=1", "writeallfields=true", "readproportion=0"} <= set(command)
    assert "writeallfields=false" in phases["update"]["command"]
    missing = phases["read-missing"]["command"]
    # Loaded are the keys 0 to 999; YCSB refuses keys from recordcount on.
    for expected in ("insertstart=1000", "insertcount=100", "recordcount=1200", "readproportion=1"):
        assert expected in missing
    assert "-load" in phases["insert"]["command"]
    assert any(word.startswith("pretend.port=") for word in missing)


def test_records_are_shaped_as_the_study_says(pretend_study):
    data = yaml.safe_load(pretend_study.read_text())
    shape = {"fieldcount": 1, "readallfields": False, "target": 5, "requestdistribution": "latest"}
    data["parameters"]["properties"] = shape
    pretend_study.write_text(yaml.safe_dump(data))
    facts = probe(pretend_study)
    assert facts["plan"]["shape"] == {"fieldcount": "1", "readallfields": "false"}
    command = facts["phases"]["read"]["command"]
    assert {"fieldcount=1", "requestdistribution=uniform"} <= set(command)
    assert "target=5" not in command


def test_the_plan_of_a_store_under_another_name(pretend_study):
    data = yaml.safe_load(pretend_study.read_text())
    data["stores"] = ["pretend", {"store": "pretend", "name": "again"}]
    pretend_study.write_text(yaml.safe_dump(data))
    assert planned(load_study(pretend_study))["again"]["store"] == "pretend"


def test_unsupported_operations_are_left_out(pretend_study):
    file = STORE / "store.yaml"
    file.write_text(file.read_text() + "unsupported: [scan]\n")
    assert "scan" not in {step["step"] for step in probe(pretend_study)["steps"]}


def test_a_store_without_counters(pretend_study):
    file = STORE / "verbs.py"
    file.write_text(file.read_text().split("def counters")[0])
    store = STORE / "store.yaml"
    store.write_text(store.read_text().replace("misses: get_misses\n", ""))
    for step in probe(pretend_study)["steps"]:
        assert step["counters"] is None
        assert step["record_bytes"] == {"before": None, "after": None}


def test_misses_must_be_a_counter_of_the_store(pretend_study):
    file = STORE / "store.yaml"
    file.write_text(file.read_text().replace("get_misses", "missed_gets"))
    text = failure(pretend_study)
    assert "probes/pretend: envs/stores/pretend/store.yaml: misses: Pretend has no counter" in text
    assert "'missed_gets'; counters() in verbs.py reports: get_misses" in text


def test_a_counter_that_falls(pretend_study):
    file = STORE / "verbs.py"
    file.write_text(
        file.read_text() + "\n\nrising = counters\n\n\n"
        "def counters(host, port):\n"
        "    return {name: -count for name, count in rising(host, port).items()}\n"
    )
    store = STORE / "store.yaml"
    store.write_text(store.read_text().replace("misses: get_misses\n", ""))
    assert "its counter load fell by 1000; was the server started again?" in failure(pretend_study)


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("exception-run", "read: the YCSB client ended with exit status 1"),
        ("cut-run", "read.out: no [CLEANUP]"),
        ("lost-load", "insert.out: 500 of 1000 records were loaded"),
        ("nothing-run", "read.out: no operation ended in 10 s; is the machine busy?"),
    ],
)
def test_a_broken_step_keeps_its_logs(pretend_study, monkeypatch, client, message):
    monkeypatch.setenv("PRETEND_CLIENT", client)
    text = failure(pretend_study)
    assert message in text
    logs = next(Path("results/small/failed/probes/pretend").iterdir())
    assert str(logs) in text
    assert (logs / "insert.out").exists()
    assert json.loads((logs / "failure.json").read_text())["reason"] in text


def test_failed_operations_are_a_fact(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    steps = {step["step"]: step for step in probe(pretend_study)["steps"]}
    assert steps["read"]["returns"] == {"OK": 1800, "ERROR": 200}


def test_an_earlier_probe_is_kept_aside(pretend_study):
    probe(pretend_study)
    probe(pretend_study)
    assert len(list(Path("results/small/replaced/probes/pretend").iterdir())) == 1


def test_a_store_that_the_study_does_not_have(pretend_study):
    with pytest.raises(KvstudyError, match=r"unknown store 'pretent'; did you mean 'pretend'\?"):
        probe(pretend_study, "pretent")
