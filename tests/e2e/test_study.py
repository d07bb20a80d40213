"""Whole studies from real servers to a PDF whose text is read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml

from tests.unit.languages import check_numbers

ROOT = Path(__file__).parents[2]


def snakemake(clone: Path, *config: str, **environment: str) -> str:
    """Run the pipeline; returns what it printed, and fails the test when it fails."""
    done = subprocess.run(
        ["snakemake", "--cores", "4", "--config", *config],
        cwd=clone,
        env=os.environ | {"KVSTUDY_STATE": str(clone / "state")} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


def text_of(pdf: Path) -> str:
    done = subprocess.run(
        ["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True
    )
    return done.stdout


def programs_in(folder: Path) -> list[str]:
    """Command lines of processes that still work in ``folder``."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def edit(path: Path, change) -> None:
    data = yaml.safe_load(path.read_text())
    change(data)
    path.write_text(yaml.safe_dump(data))


@pytest.fixture(scope="module")
def thesis(clone: Path) -> Path:
    """The thesis study at a hundredth, measured natively; returns its results."""
    snakemake(clone, "scale=0.01", "provider=native")
    assert programs_in(clone) == []
    return clone / "results" / "jedlicka2024-scale0.01"


def test_the_same_data_makes_a_czech_report(clone, thesis):
    english = clone / "report" / f"{thesis.name}.pdf"
    before = english.read_bytes(), (thesis / "cells.csv").stat().st_mtime_ns
    printed = snakemake(clone, "scale=0.01", "provider=native", "language=cs")
    assert "measure_" not in printed
    assert before == (english.read_bytes(), (thesis / "cells.csv").stat().st_mtime_ns)
    words = " ".join(text_of(clone / "report" / f"{thesis.name}-cs.pdf").split())
    for said in ("Co platí z tvrzení zdroje", "Tabulka 2:", "Obrázek 2:", "Literatura", "kops/s"):
        assert said in words
    assert re.search(r"Nejvyšší průměrnou propustnost měl \w+, \d+,\d+", words)
    assert "??" not in words
    texts = [thesis / part / f"{thesis.name}.md" for part in ("report", "cs/report")]
    check_numbers(*(text.read_text() for text in texts), "cs")


def test_redis_and_memcached_are_measured(thesis):
    cells = pd.read_csv(thesis / "cells.csv", keep_default_na=False)
    status = cells.groupby("store").status.unique().map(list).to_dict()
    assert status == {
        "redis": ["measured"],
        "memcached": ["measured"],
        "riak": ["measured" if shutil.which("riak") else "not measured"],
        "aerospike": ["measured" if shutil.which("asd") else "not measured"],
        # The noise floor and the client ceiling.
        "redis-again": ["measured"],
        "client-ceiling": ["measured"],
    }
    assert (cells[cells.status == "measured"].void == "").all()
    assert (cells[cells.status == "not measured"].reason != "").all()


def test_every_run_did_all_its_operations_on_all_its_records(thesis):
    values = pd.read_csv(thesis / "measurements.csv").query("operation == 'overall'")
    done = values[values.metric == "operations"].groupby(["workload", "phase"]).value.unique()
    assert done["a", "run"].tolist() == [10_000]
    assert done["a", "load"].tolist() == [1_000]
    # A million at full size is ten thousand here.
    assert sorted(done["insert", "load"]) == [1_000, 10_000]
    assert (values[values.metric == "failed"].value == 0).all()


def test_a_cell_keeps_all_that_is_needed_to_judge_it(thesis):
    cell = thesis / "raw/redis/a/r1000_o10000_t4/rep1"
    names = {path.name for path in cell.iterdir()}
    assert names >= {"load.INSERT.hdr", "run.READ.hdr", "run.UPDATE.hdr", "server.log"}
    manifest = json.loads((cell / "manifest.json").read_text())
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["server"]["version"])
    assert any(name.startswith("core-0.17.0") for name in manifest["client"]["jars"])
    assert "[READ: Count=" in (cell / "run.err").read_text()
    assert {"load.gc.log", "run.gc.log", "processes.csv", "machine.csv"} <= names
    check = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=cell)
    assert check.returncode == 0


def test_the_pdf_tells_what_was_measured(thesis, clone):
    text = text_of(clone / "report" / "jedlicka2024-scale0.01.pdf")
    words = " ".join(text.split())
    # The first page says that this is not the study's own size.
    first = " ".join(text.split("\f")[0].split())
    assert "0.01" in first
    # The published throughput of Redis under workload A, as in the thesis's table 4.2.
    assert re.search(r"4.801\.0", words)
    assert "not measured" in words
    if not shutil.which("riak"):
        assert "no program riak on this machine" in words
    for number in range(2, 6):
        assert f"Table 4.{number}" in words
    for number in range(1, 15):
        assert f"Figure 4.{number}" in words
    assert "??" not in words


def test_the_pdf_tells_what_one_operation_means(thesis, clone):
    words = " ".join(text_of(clone / "report" / "jedlicka2024-scale0.01.pdf").split())
    assert "On Memcached, records get lighter while they run" in words
    assert "Records of Redis keep their size" in words
    assert "A read of a key that is not there is OK on no store" in words
    assert re.search(r"Insert HSET 1\.00, ZADD 1\.00", words)
    assert re.search(r"Update, one field cmd_set 1\.00 1.239 → 20\d NOT_FOUND", words)
    assert "Riak KV: not probed no program riak on this machine" in words
    table = pd.read_csv(thesis / "tables" / "operations.csv").set_index(["store", "step"])
    assert table.loc[("memcached", "read-missing"), "misses"] == 1


def test_numbers_in_the_pdf_are_those_of_the_summary(thesis, clone):
    summary = pd.read_csv(thesis / "summary.csv")
    # Of the inserts, the tables show those of the source's number of records.
    summary = summary[summary["parameters"].str.startswith("r1000_")]
    summary = summary.set_index(["store", "workload", "operation", "metric"])
    # Digits may be grouped by a thin space.
    digits = re.sub(
        r"(?<=\d)[\s\u2009\u202f](?=\d{3}\b)",
        "",
        text_of(clone / "report" / "jedlicka2024-scale0.01.pdf"),
    )
    for store in ("redis", "memcached"):
        for workload in ("a", "b", "c", "insert"):
            mean = summary.loc[(store, workload, "overall", "throughput"), "mean"]
            assert f"{mean:.1f}" in digits, f"{store}/{workload}"


def test_figures_come_as_pdf_svg_and_data(thesis, clone):
    figures = clone / "figures" / "jedlicka2024-scale0.01"
    for name in ("throughput", "latency-percentiles-a", "time-a", "spectrum-a", "cpu"):
        for form in ("pdf", "svg", "csv"):
            assert (figures / f"{name}.{form}").stat().st_size > 0
    data = pd.read_csv(figures / "throughput.csv")
    assert set(data.store) == {"redis", "riak", "aerospike", "memcached"}


def test_the_notebook_was_run_and_exported(thesis, clone):
    page = (clone / "report" / "jedlicka2024-scale0.01-analysis.html").read_text()
    assert 'class="dataframe' in page
    assert "<img" in page or "<svg" in page
    assert "Traceback" not in page


def test_nothing_is_left_to_do(thesis, clone):
    before = {path: path.stat().st_mtime_ns for path in thesis.rglob("*")}
    assert "Nothing to be done" in snakemake(clone, "scale=0.01", "provider=native")
    assert before == {path: path.stat().st_mtime_ns for path in thesis.rglob("*")}


def test_the_smoke_study_needs_no_server(clone):
    snakemake(clone, "study=smoke", PATH=f"{Path(shutil.which('snakemake')).parent}:/usr/bin:/bin")
    words = " ".join(text_of(clone / "report" / "smoke.pdf").split())
    assert "YCSB basic" in words
    # It stores nothing and says OK to everything.
    assert "A read of a key that is not there counts as OK on YCSB basic" in words


def test_bindings_of_an_official_distribution(clone, tmp_path):
    """A folder that is laid out as YCSB's distribution; BasicDB is in YCSB's own core."""
    library = tmp_path / "ycsb-0.17.0" / "lib"
    library.mkdir(parents=True)
    for jar in (clone / "workflow/bindings/target/lib").glob("*.jar"):
        if jar.name.startswith(("core-", "htrace-", "jackson-")):
            shutil.copy(jar, library)
    folder = clone / "config/studies/official"
    shutil.copytree(clone / "config/studies/smoke", folder)
    edit(folder / "study.yaml", lambda study: study.update(name="official"))
    snakemake(clone, "study=official", YCSB_HOME=str(library.parent))
    manifest = json.loads(next(clone.glob("results/official/raw/**/manifest.json")).read_text())
    assert manifest["client"]["kind"] == "ycsb.home"
    assert manifest["client"]["db"] == "site.ycsb.BasicDB"


def test_redis_in_docker(clone, docker_daemon, local_images):
    """One store in a container of a real daemon, from a locally built image, to the PDF."""
    store = clone / "envs/stores/redis/store.yaml"
    before = store.read_text()
    folder = clone / "config/studies/in-docker"
    shutil.copytree(clone / "config/studies/jedlicka2024", folder)
    for name in ("published.csv", "claims.yaml", "quotes.yaml"):
        (folder / name).unlink()

    def small(study: dict) -> None:
        figures = [figure for figure in study["figures"] if figure["name"] == "throughput"]
        tables = [table for table in study["tables"] if table["name"] in ("machine", "workload-a")]
        study.update(name="in-docker", stores=["redis"], repetitions=1, source=None)
        study.update(figures=figures, tables=tables, expected_failures=[])

    edit(folder / "study.yaml", small)
    try:
        edit(store, lambda data: data["docker"].update(image=local_images.redis))
        snakemake(
            clone, "study=in-docker", "scale=0.01", "provider=docker", DOCKER_HOST=docker_daemon
        )
    finally:
        store.write_text(before)
    manifest = json.loads(next(clone.glob("results/in-docker-*/raw/**/manifest.json")).read_text())
    assert manifest["server"]["provider"] == "docker"
    assert re.search(r"sha256:[0-9a-f]{64}$", manifest["server"]["digest"])
    # A container's processes are seen like those of any other server.
    used = pd.read_csv(next(clone.glob("results/in-docker-*/resources.csv")))
    server = used[used["side"] == "server"]
    assert server["cores_user"].max() > 0
    assert (server["rss"] > 1_000_000).all()
    left = subprocess.run(
        ["docker", "ps", "--all", "--quiet"],
        env=os.environ | {"DOCKER_HOST": docker_daemon},
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""
    text = text_of(clone / "report" / "in-docker-scale0.01.pdf")
    assert local_images.redis in text.replace("\n", " ")
