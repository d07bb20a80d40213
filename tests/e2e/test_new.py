"""What a user adds without a line of code, on real servers: a study, a workload, a store."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import yaml

from tests.e2e.pipeline import run
from tests.formats_support import text_of

ROOT = Path(__file__).parents[2]


def another_redis(clone: Path) -> None:
    """A store of one folder: Redis again, with persistence, through the binding that is there."""
    run(clone, "kvstudy", "new", "store", "durable", "--title", "Redis with a log")
    folder = clone / "envs/stores/durable"
    file = folder / "store.yaml"
    # As its user fills it in: the keys of the binding and of the program, nothing else.
    data = yaml.safe_load(re.sub(r"^( *)#(?=(?:  )*\S)", r"\1", file.read_text(), flags=re.M))
    kept = {key: data[key] for key in ("title", "color", "kind", "ycsb", "native")}
    kept["native"]["program"] = "redis-server"
    kept["native"]["command"] += ["--appendonly", "yes"]
    file.write_text(yaml.safe_dump(kept))
    shutil.copy(clone / "envs/stores/redis/verbs.py", folder)


def test_a_study_a_store_and_a_workload_of_ones_own_make_a_report(clone):
    another_redis(clone)
    run(clone, "kvstudy", "new", "workload", "own")
    run(
        clone,
        *("kvstudy", "new", "study", "mine", "--records", "1000", "--operations", "5000"),
        *("--repetitions", "2", "--title", "A study of my own"),
        answers="memcached, durable\nown\n",
    )
    before = sorted(path for path in (clone / "workflow").rglob("*.py"))
    plan = run(clone, "kvstudy", "plan", "mine", "--provider", "native", "--calibrate")
    assert "8 cells (4 of them control cells) here, 0 done" in " ".join(plan.split())
    assert re.search(r"Whole study: \d+ (s|min)", plan)
    assert re.search(r"to detect a difference of +5%: +(more than )?\d+ repetitions", plan)
    config = ("--config", "study=mine", "provider=native")
    output = run(clone, "snakemake", "report/mine.pdf", "--cores", "4", *config)
    assert re.search(
        r"7 of 8 cells \(4 of them control cells\) done, .* elapsed, about \d+ s left, 0 failed",
        output,
    )
    assert sorted(path for path in (clone / "workflow").rglob("*.py")) == before
    cells = pd.read_csv(clone / "results/mine/cells.csv", keep_default_na=False)
    assert set(cells.status) == {"measured"}
    assert set(cells.store) == {"memcached", "durable", "memcached-again", "client-ceiling"}
    pdf = text_of(clone / "report/mine.pdf")
    assert "A study of my own" in " ".join(pdf.split())
    assert "Redis with a log" in pdf
    assert "??" not in pdf
    after = run(clone, "kvstudy", "plan", "mine", "--provider", "native")
    assert "left: 0 s" in " ".join(after.split())


def test_one_cell_is_asked_for_measured_and_saved(clone):
    output = run(
        clone,
        *("kvstudy", "run", "--provider", "native", "--threads", "2"),
        answers="redis\nhash\nn\na\n2000\n5000\n",
    )
    assert "5000 operations, 0 failed" in output
    table = pd.read_csv(clone / "results/single-cells/results.csv").set_index("operation")
    assert table.loc["overall", "throughput"] > 0
    assert table.loc[["read", "update"], "operations"].sum() == 5000
    (text,) = clone.glob("results/single-cells/*.txt")
    assert "throughput" in text.read_text()
