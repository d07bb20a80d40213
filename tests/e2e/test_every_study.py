"""Every study: tiny, from real servers to a PDF, on what runs on plain Debian; and published.

The thesis study has a file of its own (test_study.py). Stores without a server here are
gaps. What a source published is built into a PDF without any server.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.tidy.results import read_published
from kvstudy.study.load import load_study

from tests.e2e.test_study import edit, programs_in, snakemake, text_of

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted(path.parent.name for path in ROOT.glob("config/studies/*/published.csv"))
# The stores and threads that are left, so that all of them take minutes.
TINY = {
    "haverinen2018": {"threads": [1, 12]},
    "ascani2023": {"threads": [1, 6]},
    "petrov2014": {},
    "all-stores": {"stores": ["redis", "mariadb", "cassandra", "riak"]},
}


def make_tiny(study: dict, stores: list[str] = (), threads: list[int] = ()) -> None:
    study["noise_floor"] = study["client_ceiling"] = False
    study["repetitions"] = 1
    if stores:
        study["stores"] = list(stores)
        for use in study["workloads"]:
            if isinstance(use, dict) and "stores" in use:
                use["stores"] = [store for store in use["stores"] if store in stores]
        kept = study["expected_failures"]
        study["expected_failures"] = [each for each in kept if each["store"] in stores]
    for use in study["workloads"]:
        if isinstance(use, dict):
            use.pop("also", None)
    if threads:
        # Of the shown sizes the last of each list remain.
        study["parameters"].pop("shown", None)
        study["parameters"]["threads"] = list(threads)


@pytest.mark.parametrize("name", TINY)
def test_a_study_is_measured_tiny_and_its_report_built(clone, name):
    if not (clone / "servers").exists():
        (clone / "servers").symlink_to(ROOT / "servers")
    edit(clone / f"config/studies/{name}/study.yaml", lambda study: make_tiny(study, **TINY[name]))
    run = f"{name}-scale0.001"
    config = (f"study={name}", "scale=0.001", "provider=native")
    # On a busy machine Cassandra's driver may need all five seconds of a cell to connect; the
    # same command goes on with what is left.
    with contextlib.suppress(AssertionError):
        snakemake(clone, *config, target=f"results/{run}/cells.csv")
    printed = snakemake(clone, *config, target=f"report/{run}.pdf")
    assert programs_in(clone) == []
    cells = pd.read_csv(clone / f"results/{run}/cells.csv", keep_default_na=False)
    wrong = cells[(cells["status"] == "failed") | (cells["invalid"] != "")]
    assert wrong.empty, wrong.to_string() + printed[-3000:]
    with_server = cells.loc[cells["status"] == "measured", "store"]
    study = yaml.safe_load((clone / f"config/studies/{name}/study.yaml").read_text())
    stores = [each if isinstance(each, str) else each["store"] for each in study["stores"]]
    assert set(with_server) == set(stores) - {"riak", "aerospike"}
    assert "warning" not in (clone / f"results/{run}/logs/build-pdf.log").read_text()
    text = text_of(clone / f"report/{run}.pdf")
    assert study["title"].split()[0] in text
    for each in study.get("tables", []) + study.get("figures", []):
        assert each["caption"].split(":")[0][:30] in " ".join(text.split())
    machine = json.loads((clone / f"results/{run}/environment.json").read_text())
    assert machine["stores"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_a_source_published_is_a_report(clone, name):
    run = f"{name}-published"
    snakemake(clone, f"study={name}", "source=published", target=f"report/{run}.pdf")
    assert "warning" not in (clone / f"results/{run}/logs/build-pdf.log").read_text()
    text = text_of(clone / f"report/{run}.pdf")
    words = " ".join(text.split())
    study = yaml.safe_load((clone / f"config/studies/{name}/study.yaml").read_text())
    assert study["title"] in words
    assert "nothing was measured" in words
    assert "??" not in words
    # Every numbered table of the source is there, with each of its values as it is printed.
    values = read_published(clone / f"config/studies/{name}/published.csv")
    numbers = {each for each in values["table"] if re.fullmatch(r"Table [\d.]+", each)}
    assert numbers
    assert numbers <= set(re.findall(r"\(as (Table [\d.]+) of \[\d+\]\)", words))
    form = load_study(clone / f"config/studies/{name}/study.yaml").source.printed
    for row in values[values["table"].isin(numbers)].dropna(subset="value").itertuples():
        assert (row.printed or form.text(row.metric, row.value)) in words, str(row)
    assert "Audit of the source" in words
    claims = yaml.safe_load((clone / f"config/studies/{name}/claims.yaml").read_text())["claims"]
    for claim in claims:
        assert re.search(rf"\b{claim['id']}\b", words)
    assert not (clone / f"results/{name}").exists()


def test_every_study_is_tried_somewhere():
    """A new study belongs into one of these tests."""
    others = {"smoke", "jedlicka2024", "riak-consistency"}
    there = {path.parent.name for path in (ROOT / "config/studies").glob("*/study.yaml")}
    assert there == others | set(TINY)
