"""Reports of published values alone: tables cell by cell, figures, and what is missing."""

from __future__ import annotations

import csv
import dataclasses
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from kvstudy.analyse.tidy.published import read_published
from kvstudy.commands.published import command
from kvstudy.errors import KvstudyError
from kvstudy.present.tables.published import Source, published_table
from kvstudy.stores.definition import load_stores
from kvstudy.study.kinds import AnyTable
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.parts import PrintedForm

from tests.cell_texts import same_cells
from tests.unit.languages import in_every_language  # noqa: F401

ROOT = Path(__file__).parents[2]
# Each source's tables as its text prints them: <study>-table-<number>.tsv.
PRINTED = sorted((ROOT / "tests" / "data" / "published").glob("*-table-*.tsv"))
REPORT = ROOT / "report"


def source(name: str) -> Source:
    study = load_study(STUDIES / name / "study.yaml")
    titles = {key: store.title for key, store in load_stores(study).items()}
    return Source(study, read_published(STUDIES / name / "published.csv"), titles)


def printed(path: Path) -> tuple[list[str], list[list[str]]]:
    """The head of a table in a source's text, and the lines of values below its heads."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    lines = [row for row in rows[1:] if any(re.search(r"\d", cell) for cell in row[1:])]
    return [cell for cell in rows[0][1:] if cell], lines


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_a_table_made_again_equals_the_sources_cell_by_cell(project, path):
    study, number = path.stem.split("-table-")
    made = source(study)
    table = next(each for each in made.study.tables if each.source == f"Table {number}")
    frame = published_table(table, made).frame()
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
    made = source("jedlicka2024")
    table = next(each for each in made.study.tables if each.kind == "ranking")
    frame = published_table(table, made).frame()
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
    made = source("jedlicka2024")
    frame = published_table(
        next(t for t in made.study.tables if t.name == "workload-b"), made
    ).frame()
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


def run(study: str, folder: Path) -> str:
    """The LaTeX of the report's body."""
    arguments = [
        f"--study={STUDIES / study / 'study.yaml'}",
        *(f"--tables={folder / 'tables'}", f"--figures={folder / 'figures'}"),
        *(f"--report={REPORT}", f"--output={folder / 'report'}"),
    ]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    for path in (folder / "tables").glob("*.tex"):
        html = path.with_suffix(".html").read_text(encoding="utf-8")
        assert same_cells(path.read_text(encoding="utf-8"), html)
    return (folder / "report" / "body.tex").read_text(encoding="utf-8")


def test_figures_show_the_published_values_and_torn_bars(project):
    text = run("jedlicka2024", project / "made")
    shown = pd.read_csv(project / "made/figures/latency-percentiles-a.csv")
    assert set(shown["panel"]) == {"published"}
    values = shown.set_index(["group", "store"])
    assert values.loc[("95th percentile", "riak"), "value"] == pytest.approx(6.757)
    assert values.loc[("95th percentile", "riak"), "torn"] == "yes"
    assert (project / "made/figures/latency-percentiles-a.pdf").read_bytes().startswith(b"%PDF")
    for number in range(4, 15):
        assert f"as Figure 4.{number} of" in text
    assert "4.3) are left out: only a measured cell has commands" in " ".join(text.split())


def test_what_was_not_published_is_said(project):
    text = " ".join(run("riak-consistency", project / "made").split())
    assert "Riak, blind put: no value was published of Workload A, Workload B and Insert" in text
    assert "is left out: the source has no values of one of the two" in text
    assert not (project / "made/tables/blind.csv").exists()
    made = pd.read_csv(project / "made/tables/consistency.csv", dtype=str)
    assert made.set_index("line").loc["Mean of the workloads"].tolist()[1:3] == [
        "1371,52",
        "1681,49",
    ]


def test_a_study_without_a_source_is_refused(project):
    (STUDIES / "smoke" / "published.csv").write_text(
        "study,table,store,workload,operation,metric,unit,value\n"
        "smoke,T,redis,a,overall,throughput,ops/s,1\n"
    )
    with pytest.raises(KvstudyError, match="source: the study has none"):
        run("smoke", project / "made")


def test_curves_show_published_values_and_what_they_lack(project):
    text = " ".join(run("haverinen2018", project / "made").split())
    shown = pd.read_csv(project / "made/figures/curves-a-10000.csv")
    assert set(shown["side"]) == {"published"}
    top = shown.query("store == 'mongodb' and threads == 7")["value"].item()
    assert top == pytest.approx(26.930)
    assert "lack the 99th percentile: the source printed no values of it" in text
    assert text.count("The source printed no values of the 99th percentile.") == 8
    assert "torn" not in text


def test_rounds_have_their_ratios_and_the_break_even_drawn(project):
    text = " ".join(run("petrov2014", project / "made").split())
    shown = pd.read_csv(project / "made/figures/relative.csv")
    assert set(shown["origin"]) == {"published"}
    assert shown.query("operation == 'insert'")["ratio"].tolist() == [29, 32, 34, 40]
    costs = pd.read_csv(project / "made/figures/break-even.csv")
    assert set(costs["panel"]) == {"published"}
    assert costs["crossing"].unique() == pytest.approx([2.5])
    assert "2,5 reads/write (Conclusion 3)" in text
    checks = pd.read_csv(project / "made/tables/audited-rounds.csv")
    assert set(zip(checks["operation"], checks["place"], strict=True)) == {
        ("insert", "Table 1"),
        ("read", "Table 2"),
    }


def test_claims_are_asked_of_the_sources_own_values(project):
    text = " ".join(run("haverinen2018", project / "made").split())
    assert "1 is \\emph{supported} and 4 are \\emph{not supported}" in text
    # H5 has values in figures only, but the throughputs say that it cannot be.
    assert "The values deny H2, H3, H4 and H5. H1 rests on values that the audit" in text
    made = pd.read_csv(project / "made/tables/claims.csv").set_index(["id", "statement"])
    # H2: MySQL's best of C by MongoDB's, from the source's table 7.
    assert made.loc[("H2", 1), "published"] == pytest.approx(17284 / 35505, rel=0.02)
    assert made["verdict"].isna().all()
    # "Not a store of the study" once stood for whatever was not printed.
    assert set(made["reason"].dropna()) == {"not published"}
    page = (project / "made/tables/claims.html").read_text(encoding="utf-8")
    assert ": not published" in page
    table = (project / "made/tables/claims.tex").read_text(encoding="utf-8")
    assert "not measured" not in table
    assert "Verdict here" not in table
    assert "best number of threads: C" in table


def test_the_source_is_audited(project):
    text = " ".join(run("jedlicka2024", project / "made").split())
    assert r"\label{audit}" in text
    assert "{table:audited-insert}" in text
    checks = pd.read_csv(project / "made/tables/audited-insert.csv")
    assert checks.query("fits == 'changes a result'")["store"].tolist() == ["riak"]


def test_values_that_the_audit_rejects_are_marked(project):
    """Insert-only: 1 052 ops/s for 69.7 s are 73 406 inserts, and not 100 000."""
    text = " ".join(run("jedlicka2024", project / "made").split())
    assert "J1, J2, J3 and J8 rest on values that the audit of the source rejects" in text
    table = (project / "made/tables/insert-only.html").read_text(encoding="utf-8")
    assert '1052,43<span class="hang"><sup>\N{DOUBLE DAGGER}</sup></span>' in table
    assert table.count("<sup>\N{DOUBLE DAGGER}</sup>") == 3
    assert "Rejected by the audit of the source." in table
    # The numbers are those of the source all the same.
    made = pd.read_csv(project / "made/tables/insert-only.csv", dtype=str)
    assert "1052,43" in made["Riak KV"].tolist()
    assert "\N{DOUBLE DAGGER}" not in (project / "made/tables/workload-c.html").read_text()
    shown = pd.read_csv(project / "made/figures/throughput.csv")
    assert shown.query("rejected == 'yes'")[["group", "store"]].to_numpy().tolist() == [
        ["Insert", "riak"]
    ]
    assert "1.05\N{DOUBLE DAGGER}" in (project / "made/figures/throughput.svg").read_text()
    claims = pd.read_csv(project / "made/tables/claims.csv", keep_default_na=False)
    resting = claims[(claims["id"] == "J3") & (claims["rests_on"] != "")]["rests_on"].item()
    assert resting.count("Riak KV, mean latency") == 2


def test_a_source_without_values_has_claims_quotes_and_a_machine(project):
    assert not (STUDIES / "ascani2023" / "published.csv").exists()
    text = " ".join(run("ascani2023", project / "made").split())
    assert "It printed no values that could tell." in text
    assert "No table of the source has values of its results" in text
    assert "7 checks have a verdict; all of them fit." in text
    assert (project / "made/tables/machine.csv").is_file()
    assert not list((project / "made/figures").iterdir())


def test_values_outside_the_tables_are_listed_with_their_place(project):
    path = STUDIES / "riak-consistency" / "published.csv"
    with path.open("a", encoding="utf-8") as file:
        file.write("riak-consistency,Slide 9,riak-eventual,a,update,latency_p95,us,1500\n")
    text = run("riak-consistency", project / "made")
    assert "update, latency p95: 1500 µs (Slide 9)" in " ".join(text.split())
    assert r"\section{What was not published}" in text


def test_a_ratio_that_is_printed_as_one_to_x_is_turned(project):
    """Redis by MySQL 29 is MySQL:Redis 1:29."""
    made = source("haverinen2018")
    assert made.title("mongodb/mysql") == "MongoDB / MySQL"
    assert made.title("mongodb/mysql", turned=True) == "MySQL:MongoDB"
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
            "rejected": False,
        }
    )
    table = AnyTable(name="one", source="Table 1", caption="One")
    grid = published_table(table, dataclasses.replace(made, values=rows))
    assert grid.columns == [("MySQL", "Run time"), ("MySQL:MongoDB", "Relative performance")]
    assert [line.cells for line in grid.sections[0].lines] == [["31 ms", "-"], ["1,3 s", "1:29"]]


# --- what is wrong in published.csv is refused, wherever the study is read


VALUES = STUDIES / "jedlicka2024" / "published.csv"
HEAD = "study,table,store,workload,operation,metric,unit,value,printed"


def first_row(**changes: str) -> str:
    """The file with another first row."""
    head, first, *rest = VALUES.read_text(encoding="utf-8").splitlines(keepends=True)
    row = dict(zip(head.strip().split(","), first.strip("\n").split(","), strict=True)) | changes
    return head + ",".join(row.values()) + "\n" + "".join(rest)


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
            for text in ("inf", "nan", "1e999", "1_000", "0x10", "5 081", "many")
        ],
    ],
)
def test_a_wrong_value_is_refused_with_line_and_column(project, changes, message):
    VALUES.write_text(first_row(**changes), encoding="utf-8")
    with pytest.raises(KvstudyError) as error:
        load_study(VALUES.with_name("study.yaml"))
    assert f"{VALUES}: line 2, {message}" in str(error.value)


@pytest.mark.parametrize("size", ["records", "operations", "threads"])
@pytest.mark.parametrize("number", ["-1", "0", "1.5", "inf", "four"])
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
        ((HEAD + ",value\n").encode(), "column 'value' stands there twice; remove one"),
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
    path = VALUES.with_name("study.yaml")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    data.update(stores=["redis"], workloads=["a"], tables=[], figures=[], expected_failures=[])
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    assert load_study(path).store_names == ["redis"]
