"""The PDF of a comparison of two runs."""

from __future__ import annotations

import re
import shutil

import pandas as pd
from kvstudy.documents.comparison.compare import TABLES
from kvstudy.exhibits.table import interval
from kvstudy.layout.numbers import grouped, significant

from tests.formats_support import text_of
from tests.project import ROOT, kvstudy
from tests.unit.two_runs import MACHINE, two_runs

NARROW = "\N{NARROW NO-BREAK SPACE}"
NAMES = ["redis", "memcached", "riak", "aerospike", "mongodb", "own-store-with-a-long-name"]


def test_a_title_that_is_long_or_full_of_signs_still_fits_the_pdf(project):
    shutil.copytree(ROOT / "report/templates", project / "report/templates")
    hostile = {"riak": r"Riak_%&#\<K>{V}$~^", "own-store-with-a-long-name": "W" * 24}
    other = {**MACHINE, "CPU": ("Slow_1 & more", "cores cores=2 threads=2")}
    path = "/a/" + "very_long" * 12
    gaps = {("riak", "a", n): ("failed", f"100 % of {path} & more", "") for n in range(1, 6)}
    two_runs(
        project,
        NAMES,
        before_titles=hostile,
        after_machine=other,
        after_gaps=gaps,
        before_jars={f"a-{'long-' * 20}name-{n}.jar": str(n) * 64 for n in range(9)},
    )
    result = kvstudy("compare", "before", "after")
    output = project / "results/comparisons/before-vs-after"
    assert result.output.rstrip().splitlines()[-1] == (
        "results/comparisons/before-vs-after/comparison.pdf"
    )
    example = {file.name for file in output.iterdir() if file.is_file()}
    assert example == {
        *(f"{name}.csv" for name in TABLES),
        *("forest-1.pdf", "forest-1.png", "forest-1.svg", "comparison.pdf"),
    }
    text = " ".join(text_of(output / "comparison.pdf").split())
    assert "Throughput relative to Redis" in text
    assert "Left out: the machines differ in CPU (Quick 9 and Slow_1 & more)" in text
    assert r"Riak_%&#\<K>{V}$~^" in text


def test_every_number_of_the_tables_in_the_pdf_is_in_the_csv_files(project):
    shutil.copytree(ROOT / "report/templates", project / "report/templates")
    two_runs(project, ["redis", "memcached", "riak"])
    output = project / "out"
    kvstudy("compare", "before", "after", f"--output={output}")
    text = " ".join(text_of(output / "comparison.pdf").split())
    rows = {
        (table, row.workload, row.store): row
        for table in ("changes", "throughputs")
        for row in pd.read_csv(output / f"{table}.csv").itertuples()
    }
    titles = {"redis": "Redis", "memcached": "Memcached", "riak": "Riak KV"}
    for (table, workload, store), row in rows.items():
        if table == "changes":
            both = [significant(row.ratio_a), significant(row.ratio_b)]
        else:
            rates = (row.throughput_a, row.throughput_b)
            both = [grouped(significant(rate)) for rate in rates]
        shown = [*both, "5", significant(row.change), interval(row.change, row.low, row.high)]
        line = f"Workload {workload.upper()} {titles[store]} {' '.join(shown)}"
        assert line.replace(NARROW, " ") in text
    # Nothing else is in the tables, which alone have a column n.
    printed = re.findall(r"Workload [A-F] (?:Memcached|Riak KV|Redis) [\d. ]+ 5 \d", text)
    assert len(printed) == len(rows)
