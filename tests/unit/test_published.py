"""Published values: tables made again cell by cell, and what is wrong in a file of them."""

from __future__ import annotations

import csv
import dataclasses
import re
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.tidy.results import read_published
from kvstudy.errors import KvstudyError
from kvstudy.exhibits.printed import PublishedSource
from kvstudy.exhibits.table import Table
from kvstudy.stores.definition import load_stores
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.parts import PrintedForm

from tests.project import ROOT, edit

# Each source's tables as its text prints them: <study>-table-<number>.tsv.
PRINTED = sorted((ROOT / "tests" / "data" / "published").glob("*-table-*.tsv"))


def source(name: str) -> PublishedSource:
    study = load_study(STUDIES / name / "study.yaml")
    titles = {key: store.title for key, store in load_stores(study).items()}
    return PublishedSource(study, read_published(STUDIES / name / "published.csv"), titles)


def printed(path: Path) -> tuple[list[str], list[list[str]]]:
    """The head of a table in a source's text, and the lines of values below its heads."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    lines = [row for row in rows[1:] if any(re.search(r"\d", cell) for cell in row[1:])]
    return [cell for cell in rows[0][1:] if cell], lines


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_a_table_made_again_equals_the_sources_cell_by_cell(project, path):
    study, number = path.stem.split("-table-")
    example = source(study)
    table = next(each for each in example.study.tables if each.source == f"Table {number}")
    frame = table.published_grid(example).frame()
    heads, lines = printed(path)
    assert [cell for row in lines for cell in row[1:]] == frame.iloc[
        :, 2:
    ].to_numpy().ravel().tolist()
    for head in heads:
        # The head of a column that compares stores is the source's own words.
        assert any(head in column for column in frame.columns) or ":" in head
    if lines[0][0].isdigit():
        assert [row[0] for row in lines] == frame["line"].tolist()


def test_the_transcribed_tables_are_all_there():
    names = {path.stem for path in PRINTED}
    assert {f"jedlicka2024-table-4.{n}" for n in (2, 3, 4, 5)} <= names
    assert {f"haverinen2018-table-{n}" for n in (5, 6, 7, 8)} <= names
    assert {f"petrov2014-table-{n}" for n in (1, 2)} <= names


def test_the_slides_order_of_the_stores_cell_by_cell(project):
    example = source("jedlicka2024")
    table = next(each for each in example.study.tables if each.kind == "ranking")
    frame = table.published_grid(example).frame()
    text = PRINTED[0].with_name("jedlicka2024-slides.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t")[1:] for line in text.splitlines()]
    assert frame.columns[2:].tolist() == rows[0]
    assert frame.iloc[:, 2:].to_numpy().tolist() == rows[1:]


def test_the_slides_order_is_that_of_the_tables(project):
    """What the choices of the study say of the slides' lines."""
    values = source("jedlicka2024").values.query("operation == 'overall'")
    speed = values.query("metric == 'throughput' and workload != 'mean'")
    rank = values.query("metric == 'throughput_rank'").set_index(["workload", "store"])["value"]
    assert len(rank) == 12
    for workload in ("insert", "a", "c"):
        of = speed[speed["workload"] == workload].set_index("store")["value"]
        assert of.rank(ascending=False).to_dict() == rank[workload].to_dict()
    means = speed.groupby("store")["value"].mean()
    printed_means = values.query("workload == 'mean'").set_index("store")["value"]
    assert (means / 1000).round(1).to_dict() == (printed_means / 1000).to_dict()


def test_sections_are_the_sources(project):
    example = source("jedlicka2024")
    table = next(table for table in example.study.tables if table.name == "workload-b")
    frame = table.published_grid(example).frame()
    assert list(dict.fromkeys(frame["section"])) == ["", "Read", "Update", "Read + update"]
    assert frame.loc[0, "line"] == "Run time (ms)"
    assert frame.columns[2:].tolist() == ["Redis", "Riak KV", "Aerospike", "Memcached"]


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("throughput", 967.9, "967,90"),
        ("latency_mean", 967.9, "967,90"),
        ("latency_p95", 1385.0, "1385"),
        ("latency_min", 401.5, "401,5"),
        ("runtime", 803880.33, "803880,33"),
        ("operations", 1000000.0, "1000000"),
    ],
)
def test_a_form_says_marks_and_decimals(metric, value, text):
    form = PrintedForm(decimal_mark=",", decimals={"throughput": 2, "latency_mean": 2})
    assert form.text(metric, value) == text
    assert PrintedForm(decimals=form.decimals).text(metric, value) == text.replace(",", ".")


def test_a_form_groups_digits():
    form = PrintedForm(group_mark=" ", most_decimals=1)
    assert form.text("throughput", 1234567.89) == "1 234 567.9"
    assert form.text("throughput", 100.0) == "100"


def test_a_ratio_that_is_printed_as_one_to_x_is_turned(project):
    """Redis by MySQL 29 is MySQL:Redis 1:29."""
    example = source("haverinen2018")
    assert example.title("mongodb/mysql") == "MongoDB / MySQL"
    assert example.title("mongodb/mysql", turned=True) == "MySQL:MongoDB"
    rows = pd.DataFrame(
        {
            "table": "Table 1",
            "store": ["mysql", "mongodb/mysql"] * 2,
            "workload": "a",
            "operation": "overall",
            "records": [10.0, 10.0, 1000.0, 1000.0],
            "operations": 10.0,
            "threads": 1.0,
            "metric": ["runtime", "relative_performance"] * 2,
            "unit": ["ms", "ratio"] * 2,
            "value": [31.0, float("nan"), 1300.0, 29.0],
            "printed": ["31 ms", "-", "1,3 s", "1:29"],
            "inconsistent": False,
        }
    )
    table = Table(name="one", source="Table 1", caption="One")
    grid = table.published_grid(dataclasses.replace(example, values=rows))
    assert [str(title) for title, _width in grid.groups] == ["MySQL", "MySQL:MongoDB"]
    assert list(map(str, grid.columns)) == ["Run time", "Relative performance"]
    assert [line.texts for line in grid.sections[0].lines] == [["31 ms", "-"], ["1,3 s", "1:29"]]


# --- what is wrong in published.csv is refused, wherever the study is read


VALUES = STUDIES / "jedlicka2024" / "published.csv"
HEAD = "study,table,store,workload,operation,metric,unit,value,printed"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"store": "rediss"}, "column store: unknown store 'rediss'; did you mean 'redis'?"),
        ({"store": "redis/mysqll"}, "column store: unknown store 'mysqll'; did you mean 'mysql'?"),
        ({"workload": "inzert"}, "column workload: unknown workload 'inzert'; did you mean 'ins"),
        ({"study": "petrov2014"}, "column study: 'petrov2014' is another study; this is 'jedl"),
        ({"operation": "reed"}, "column operation: unknown operation 'reed'; did you mean 'read'?"),
        ({"operation": "read+"}, "column operation: unknown operation ''"),
        ({"metric": "runtim"}, "column metric: unknown metric 'runtim'; did you mean 'runtime'?"),
        ({"unit": "s"}, "column unit: runtime in 's'; give it in 'ms'"),
        ({"value": ""}, "column value: is empty; give the number, or in the column printed what"),
        ({"value": "-5"}, "column value: -5 is negative; a runtime is 0 or more"),
        *[
            ({"value": text}, f"column value: '{text}' is no number; give one like 5081.13")
            for text in ("inf", "nan", "1e999", "1_000", "0x10", "5 081", "many", "١٢")
        ],
    ],
)
def test_a_wrong_value_is_refused_with_line_and_column(project, changes, message):
    head, first, *rest = VALUES.read_text(encoding="utf-8").splitlines(keepends=True)
    row = dict(zip(head.strip().split(","), first.strip("\n").split(","), strict=True)) | changes
    VALUES.write_text(head + ",".join(row.values()) + "\n" + "".join(rest), encoding="utf-8")
    with pytest.raises(KvstudyError) as error:
        load_study(VALUES.with_name("study.yaml"))
    assert f"{VALUES}: line 2, {message}" in str(error.value)


@pytest.mark.parametrize("size", ["records", "operations", "threads"])
@pytest.mark.parametrize("number", ["-1", "0", "1.5", "inf", "four", "١٢"])
def test_a_wrong_size_is_refused(project, size, number):
    path = STUDIES / "haverinen2018" / "published.csv"
    row = f"haverinen2018,T,mysql,a,overall,throughput,ops/s,1,{number}\n"
    path.write_text(HEAD.replace("printed", size) + "\n" + row, encoding="utf-8")
    with pytest.raises(KvstudyError) as error:
        load_study(path.with_name("study.yaml"))
    assert f"line 2, column {size}: '{number}' is no whole number above 0" in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no CSV: its first line is empty"),
        (b"\n\n", "no CSV: its first line is empty"),
        (HEAD.encode(), "holds no values; add some, or remove the file"),
        (HEAD.replace("unit", "unti").encode(), "no column unit"),
        ((HEAD + ",thread\n").encode(), "unknown column 'thread'; did you mean 'threads'?"),
        ((HEAD + ",value\n").encode(), "column 'value' appears twice; remove one"),
        (HEAD.encode() + b"\ns,T,redis\n", "line 2: has 3 values for 9 columns"),
        (HEAD.encode() + b'\n"s,T\n', "line 2: no CSV"),
        (HEAD.encode() + b"\ns,T,\xff\n", "cannot be read"),
        (HEAD.encode("utf-16"), "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_of_values_is_refused(project, content, message):
    VALUES.write_bytes(content)
    with pytest.raises(KvstudyError) as error:
        load_study(VALUES.with_name("study.yaml"))
    assert str(error.value).startswith(f"{VALUES}: ")
    assert message in str(error.value)


def test_columns_that_a_spreadsheet_leaves_empty_are_none(project):
    lines = VALUES.read_text(encoding="utf-8").splitlines()
    expected = read_published(VALUES)
    VALUES.write_text("".join(f"{line},,\n" for line in lines), encoding="utf-8")
    load_study(VALUES.with_name("study.yaml"))
    pd.testing.assert_frame_equal(read_published(VALUES), expected)


def test_a_study_may_have_fewer_stores_and_workloads_than_its_source(project):
    fewer = {"stores": ["redis"], "workloads": ["a"], "expected_failures": []}
    path = edit(VALUES.with_name("study.yaml"), tables=[], figures=[], **fewer)
    assert load_study(path).store_names == ["redis"]
