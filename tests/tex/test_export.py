"""What a thesis takes, read by LaTeX: numbers.tex with its errors, and a table over pages."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import pairs
from kvstudy.analyse.findings.repetitions import intervals
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.analyse.tidy.results import read_published
from kvstudy.analyse.tidy.summary import per_repetition, summarise, throughputs
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.documents.export.folder import numbers_tex, ready_for_input
from kvstudy.documents.report.build import LONG_LINES, build_pdf
from kvstudy.layout.grid import Grid, TableRow, TableSection
from kvstudy.render.latex import latex
from kvstudy.study.cells import shown
from kvstudy.study.metrics import SHOWN

from tests.project import ROOT
from tests.unit import small_results as small

TEMPLATES = ROOT / "report/templates"

# Both are there relative to both, and the noise floor.
GRID = """\
metric,baseline,workload,store,ratio,low,high
throughput,memcached,mean,redis,1.234,1.1,1.4
throughput,memcached,mean,memcached,1,,
throughput,memcached,mean,memcached/memcached,1.01,0.9,1.1
throughput,memcached,a,redis,5,4,6
latency_p99,memcached,mean,redis,3,2,4
"""
BODY = r"""
A:\kv{redis}{a}{throughput}.
B:\kvn{redis}{a}{throughput}.
C:\kvci{redis}{a}{throughput}.
D:\kvsd{redis}{a}{throughput}.
E:\kvcount{redis}{a}{throughput}.
F:\kv[read]{redis}{a}{latency_mean}.
G:\kv{redis}{c}{latency_mean}.
H:\kv[read][r10_o20_t1]{redis}{a}{operations}.
I:\kv{riak}{a}{throughput}.
J:\kvci{redis}{a}{goodput}.
K:\kv{redis}{mean}{throughput}.
\newcommand\mystore{redis}
L:\kv{\mystore}{a}{runtime}.
\begin{figure}\caption{M:\kv[read+update]{redis}{a}{latency_p95}.}\end{figure}
\listoffigures
\selectlanguage{czech}
N:\kv{redis}{a}{throughput}.
O:\kvci{redis}{a}{throughput}.
P:\kv{riak-x}{a}{throughput}.
\selectlanguage{english}
Q:\kv{redis}{a}{throughput}.
R:\kv{redix}{a}{throughput}.
S:\kv{redis}{d}{throughput}.
T:\kv[][r1_o1_t1]{redis}{a}{throughput}.
U:\kv[scan]{redis}{a}{throughput}.
V:\kv{redis}{a}{througput}.
W:\kvpub{redis}{e}{throughput}.
X:\kvratio{redis}{redix}{a}.
a:\kvgeo{redis}{a}{throughput}.
b:\kvratio{redis}{memcached}{a}.
c:\kvratioci{redis}{memcached}{a}.
d:\kvratio{memcached}{redis}{a}.
e:\kvratio{redis}{riak}{a}.
f:\kvpub{riak}{a}{throughput}.
g:\kvpub[read]{redis}{a}{operations}.
h:\kvpub{memcached}{a}{throughput}.
k:\kvratio{redis}{memcached}{all}.
l:\kvratioci{redis}{memcached}{all}.
\renewcommand*\kvdigits{5}
i:\kv{redis}{a}{throughput}.
j:\kvratio{redis}{memcached}{a}.
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory) -> str:
    plan = small.cells()
    values = small.measurements(plan)
    # A hyphen is no letter for babel's Czech.
    more = plan[plan["store"] == "riak"].assign(store="riak-x")
    plan = pd.concat([plan, more], ignore_index=True)
    study = small.study(stores=["redis", "riak", {"store": "riak", "name": "riak-x"}, "memcached"])
    workloads = ["a", "c", "insert"]
    only = {"a": "r10_o20_t1", "c": "r10_o20_t1"}
    values_of_runs = per_repetition(values, plan, workloads[:2], only)
    summary = summarise(values, plan, study.store_names, workloads[:2], only)
    folder = tmp_path_factory.mktemp("analysis")
    return exported(folder, study, summary, values_of_runs, plan)


def exported(folder: Path, study, summary, values: pd.DataFrame, plan: pd.DataFrame) -> str:
    """The numbers.tex of these values; ``folder`` is that of the analysis."""
    intervals(values).to_csv(folder / "intervals.csv", index=False)
    speeds = throughputs(values)
    exported = pairs(spread_of(speeds, paired=True), study.store_names)
    exported.to_csv(folder / "pairs.csv", index=False)
    lines = [line for line in small.PUBLISHED.splitlines() if not line.endswith(",")]
    (folder / "published.csv").write_text("\n".join(lines))
    published = read_published(folder / "published.csv")
    published["inconsistent"] = published["store"] == "riak"
    run = SimpleNamespace(study=study, name="small", summary=summary, cells=plan, tables=folder)
    (folder / "grid.csv").write_text(GRID)
    run.analysis_folder, run.headline = folder, shown(study)
    run.swept = Swept(study, 1.0, summary, plan, published)
    return numbers_tex(run, TEMPLATES / "export")


@pytest.mark.parametrize("version", ["", "[=v2]"])
def test_latex_prints_each_value_in_the_language_of_the_text(numbers, tmp_path, version):
    (tmp_path / "numbers.tex").write_text(numbers, encoding="utf-8")
    (tmp_path / "doc.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern}\\usepackage[czech,english]{babel}\n"
        f"\\usepackage{{siunitx}}{version}\\usepackage{{hyperref}}\n"
        f"\\input{{numbers}}\\begin{{document}}\\raggedright\n"
        + BODY.replace(".\n", ".\n\n")
        + "\\end{document}\n"
    )
    command = ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "doc.tex"]
    # Once more for the list of figures.
    for _ in range(1 if version else 2):
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | LONG_LINES, stdout=subprocess.DEVNULL
        )
    log = (tmp_path / "doc.log").read_text(errors="replace")
    text = subprocess.run(["pdftotext", "-raw", "doc.pdf", "-"], cwd=tmp_path, capture_output=True)
    words = re.sub(r"\s+", "", text.stdout.decode()).replace("μ", "µ")
    for expected in (
        "A:2100ops/s.",
        "B:2100.",
        # Log-t interval of 2000 and 2200.
        "C:1140to3840ops/s.",
        "D:141ops/s.",
        "E:2.",
        "F:100µs.",
        "G:100µs.",
        "H:10000.",
        "I:notmeasured.",
        "J:nointerval.",
        "K:2100ops/s.",
        "L:9550ms.",
        "M:100µs.",
        "N:2100ops/s.",
        "O:1140až3840ops/s.",
        "P:neměřeno.",
        "Q:2100ops/s.",
        "a:2100ops/s.",
        # 2000 and 2200 by 1000 and 1020: the geometric mean of 2 and 2.157.
        "b:2.08.",
        "c:1.43to3.03.",
        "d:0.481.",
        "e:notmeasured.",
        "f:1280ops/s.",
        "g:500157.",
        "h:notpublished.",
        "k:1.23.",
        "l:1.10to1.40.",
        "i:2100.0ops/s.",
        "j:2.0770.",
        *(f"{letter}:??." for letter in "RSTUVWX"),
    ):
        assert expected in words, expected
    assert words.count("M:100µs.") == (1 if version else 2)
    for warning in (
        r"\kv{riak}{a}{throughput} was not measured: no server no image",
        r"\kvratio{redis}{riak}{a} was not measured: no server no image",
        r"\kvpub{memcached}{a}{throughput} was not published",
        r"\kvpub{riak}{a}{throughput}: the audit of the source finds this value inconsistent",
    ):
        assert warning in log, warning
    matches = re.findall(r"^! Package kvstudy Error: (.*)", log, re.M)
    assert len(re.findall("^!", log, re.M)) == len(matches)
    assert done.returncode == 1
    assert matches == [
        r"\kv{redix}{a}{throughput}: no store 'redix' in numbers.tex. "
        "Stores: redis, riak, memcached, riak-x.",
        r"\kv{redis}{d}{throughput}: no workload 'd' in numbers.tex. "
        "Workloads of redis: a, c, mean.",
        r"\kv[][r1_o1_t1]{redis}{a}{throughput}: no size 'r1_o1_t1' in numbers.tex. "
        "Sizes of redis/a: r10_o20_t1.",
        r"\kv[scan]{redis}{a}{throughput}: no operation 'scan' in numbers.tex. "
        "Operations of redis/a: overall, read, update, read+update.",
        r"\kv{redis}{a}{througput}: no metric 'througput' in numbers.tex. "
        "Metrics of overall: runtime, throughput, operations, failed, goodput; "
        "operations, named in brackets: overall, read, update, read+update.",
        r"\kvpub{redis}{e}{throughput}: no workload 'e' in numbers.tex. "
        "Workloads of redis: a, c, mean.",
        r"\kvratio{redis}{redix}{a}: no store 'redix' in numbers.tex. "
        "Stores: redis, riak, memcached, riak-x.",
    ]


def test_nothing_measured_is_a_file_of_reasons(tmp_path):
    plan = small.cells().assign(status="not measured", reason=r"no 50 % & \such {thing} #1")
    summary = small.measurements(plan.head(0))
    empty = summarise(summary, plan, list(small.TITLES), ["a", "c"])
    text = exported(tmp_path, small.study(), empty, summary, plan)
    assert "\\kvstudyvalue{" not in text.split("\\makeatother")[0].split("from}{to}")[1]
    assert r"\kvstudygap{redis/a/r10_o20_t1}{no 50 such thing 1}" in text


def test_they_are_the_numbers_of_the_tables(numbers):
    (table,) = [table for table in small.study().tables if table.name == "one"]
    # Those of a source have the plain means of \kv.
    table = table.model_copy(update={"source": "Table 4.2"})
    grid = small.grid_of(table, small.run(results=small.results(source=False)))
    column = list(small.TITLES).index("redis")
    # Without the marks behind them.
    shown = [float(re.sub(r"[^\d.]", "", line.texts[column])) for line in grid.lines]
    matches = re.findall(
        r"\\kvstudyvalue\{redis/a/\S+?/(\S+?)/(\S+?)\}\{.*?\}\{2\}\{(.*?)\}", numbers
    )
    of_phase = ["runtime", "throughput"]
    ours = [
        float(value)
        for operation, metric, value in matches
        if metric in SHOWN and (operation == "overall") == (metric in of_phase)
    ]
    assert len(shown) == 20
    assert sorted(ours) == pytest.approx(sorted(shown), rel=1e-4)


def test_a_table_higher_than_a_page_goes_on_over_pages_below_its_head(tmp_path):
    line = TableRow("redis", ["1"] * 3)
    grid = Grid(["x"] * 3, [TableSection(str(n), [line] * 9) for n in range(40)], ["Last."])
    table = latex([grid])
    text = ready_for_input(table, "ratios", "Ratios & 50 %")
    packages = text.splitlines()[0].removeprefix("% Needs: ")
    main = tmp_path / "thesis.tex"
    main.write_text(rf"\documentclass{{article}}{packages}\begin{{document}}{text}\end{{document}}")
    assert build_pdf(main, tmp_path / "build", tmp_path / "thesis.pdf") == []
    done = subprocess.run(
        ["pdftotext", tmp_path / "thesis.pdf", "-"], capture_output=True, text=True
    )
    pages = done.stdout.removesuffix("\f").split("\f")
    assert sum(page.count("redis") for page in pages) == 360
    assert [page.count("Table 1: Ratios & 50 %") for page in pages] == [1] + [0] * (len(pages) - 1)
    assert all(page.count("x") >= 3 for page in pages)
