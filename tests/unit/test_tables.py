"""The tables: their values, their LaTeX and what they say about gaps."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.run import Run
from kvstudy.documents.tables import write_tables
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection
from kvstudy.layout.numbers import fixed, grouped, significant
from kvstudy.render.latex import Latex, broken, escape

from . import small_results as small

ENVIRONMENT = {
    "components": [{"component": "CPU", "name": "New", "details": "2 cores"}],
    "stores": {
        "redis": {"version": "7.0", "provider": "native", "jars": {"core-0.17.0.jar": "12ab"}}
    },
}


def tables(tmp_path: Path, result=None, study=None, environment=ENVIRONMENT) -> Path:
    run = small.run(
        study=study or small.study(),
        results=result or small.results(),
        probes=small.probes(),
        analysis=small.analysis(),
        environment=environment,
        swept=small.swept(study or small.study()),
    )
    write_tables(run, tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The tables of the small study."""
    return tables(tmp_path_factory.mktemp("tables"))


def notes(result, name: str = "one") -> str:
    table = next(table for table in small.study().tables if table.name == name)
    grid = small.grid_of(table, small.run(results=result))
    return "\n".join(map(str, grid.notes))


def test_csv_has_every_value_with_n_and_spread(folder):
    frame = pd.read_csv(folder / "one.csv")
    frame = frame.set_index(["store", "operation", "metric"])
    row = frame.loc["redis", "overall", "throughput"]
    # It is no table of a source: throughput is the geometric mean.
    assert (row["n"], row["min"], row["max"]) == (2, 2000, 2200)
    assert row["mean"] == pytest.approx((2000 * 2200) ** 0.5)
    assert row["sd"] == pytest.approx(20_000**0.5)
    assert row["published"] == 4801.04
    gap = frame.loc["riak", "overall", "throughput"]
    assert gap["n"] == 0
    assert pd.isna(gap["mean"])
    assert gap["published"] == 1283.98
    assert gap["note"] == "no server & no image"
    assert frame.loc["redis", "read+update", "operations"]["mean"] == 20_000


def test_rows_are_in_the_arrangement_of_the_source(folder):
    text = (folder / "one.tex").read_text()
    labels = [
        *["Run time (", "Throughput (", "Read\\", "Operations", "Average latency", "Minimum"],
        *["Maximum", "95th", "99th", "Update\\", "Operations", "Read + update (arithmetic mean)\\"],
        *["Operations", "99th"],
    ]
    place = 0
    for label in labels:
        place = text.index(label, place) + 1
    assert "Update" not in (folder / "two.tex").read_text()


def lines(text: str) -> list[list[str]]:
    """The cells of each line of the body."""
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    return [
        [cell.strip() for cell in line.split("&")]
        for line in re.split(r"\\\\\s", body)
        if "&" in line
    ]


def test_measured_and_published_stand_side_by_side(folder):
    rows = lines((folder / "one.tex").read_text())
    throughput = next(row for row in rows if row[0].startswith("Throughput"))
    assert throughput[1:] == [
        r"2\,097.6",
        r"4\,801.04",
        "",
        r"1\,283.98",
        r"1\,010.0",
        "\N{EN DASH}",
    ]
    assert {len(row) for row in rows} == {7}


def test_a_table_of_the_source_has_plain_means_and_says_so(tmp_path):
    study = small.study()
    selected = [table.model_copy(update={"source": "Table 4.2"}) for table in study.tables]
    study = study.model_copy(update={"tables": selected})
    folder = tables(tmp_path, small.results(), study)
    text = (folder / "one.tex").read_text()
    throughput = next(row for row in lines(text) if row[0].startswith("Throughput"))
    assert throughput[1:3] == [r"2\,100.0", r"4\,801.04"]
    words = " ".join(text.split())
    assert "Measured: arithmetic means of 2 runs" in words
    assert "geometric" not in words
    frame = pd.read_csv(folder / "one.csv").set_index(["store", "operation", "metric"])
    assert frame.loc["redis", "overall", "throughput"]["mean"] == 2100


def test_without_a_source_there_is_one_column_per_store(tmp_path):
    study = small.study(source=None)
    folder = tables(tmp_path, small.results(source=False), study)
    assert {len(row) for row in lines((folder / "one.tex").read_text())} == {4}
    assert "published" not in (folder / "one.tex").read_text()
    assert "definition" not in (folder / "one.tex").read_text()
    assert "GPU" not in (folder / "machine.tex").read_text()


def test_a_store_that_was_not_measured_says_so_once(folder):
    text = (folder / "one.tex").read_text()
    assert text.count("{not measured}") == 1


def test_fewer_runs_are_said():
    result = small.results({("redis", "a", 2): ("failed", "server died", "")})
    assert "Mean of 1 of 2 runs." in notes(result)
    assert "arithmetic means of 1 to 2 runs" in notes(result)
    assert "Mean of" not in notes(small.results())


def test_invalid_cells_have_no_values(tmp_path):
    invalid = ("measured", "", "2 % of the updates failed")
    result = small.results({("memcached", "a", n): invalid for n in (1, 2)})
    text = (tables(tmp_path, result) / "one.tex").read_text()
    assert r"origin=c]{90}{invalid}" in text
    assert r"1\,010.0" not in text


def test_marks_of_spread_and_of_rare_operations(tmp_path):
    plan = small.cells()
    values = small.measurements(plan)
    wide = (values["metric"] == "latency_max") & (values["repetition"] == "2")
    values.loc[wide, "value"] *= 2
    values.loc[values["metric"] == "operations", "value"] = 9_999
    result = small.Results(
        small.summarise(values, plan, list(small.TITLES), ["a"]), plan, published=None
    )
    text = (tables(tmp_path, result, small.study(source=None)) / "one.tex").read_text()
    rows = {row[0].split(" (")[0]: row for row in lines(text)}
    assert r"\textsuperscript{*}" in rows["Maximum latency"][1]
    assert r"\textdagger" in rows["99th percentile"][1]
    assert r"\textsuperscript" not in rows["95th percentile"][1]
    assert "is above 10" in text
    assert "fewer than 100 operations" in text
    plain = (tables(tmp_path, small.results()) / "two.tex").read_text()
    assert r"\textdagger" not in plain
    assert r"\textsuperscript{*}" not in plain


def test_other_numbers_of_operations_are_said():
    text = notes(small.results())
    assert "A run has 20\u202f000 operations here and 1\u202f000\u202f000 in the source" in text
    assert "A run has" not in notes(small.results(source=False))


def test_machine_beside_the_source(folder):
    frame = pd.read_csv(folder / "machine.csv", keep_default_na=False)
    assert frame["component"].tolist() == ["CPU", "GPU", "YCSB", "Redis"]
    assert frame.loc[0].tolist() == ["CPU", "New", "2 cores", "Old", "50 % & more"]
    assert frame.loc[2, "name"] == "0.17.0"
    text = (folder / "machine.tex").read_text()
    assert r"CPU & New, 2 cores & Old, 50\,\% \& more" in text
    assert "Component & This study & A. Nobody, 2020" in text


def test_machine_file_without_components_is_named(project):
    path = project / "results/small/environment.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"stores": {}}')
    with pytest.raises(KvstudyError, match=r"small/environment\.json: has no key 'components'"):
        small.table("machine").rows(Run("small", small.study()))


def test_titles_are_escaped(folder):
    text = (folder / "one.tex").read_text()
    # Over two lines, for it is long.
    assert (
        r"\shortstack[c]{Riak\_\%\&\#\textbackslash{}\textless{}K\textgreater{}\{V\}\$"
        r"\\\textasciitilde{}\textasciicircum{}}"
    ) in text
    assert escape("--x [1]") == r"-{}-{}x {[}1{]}"
    assert escape(Latex(r"\alpha_1")) == r"\alpha_1"


def test_long_words_may_break_and_numbers_may_not():
    interval = "0.962\N{NO-BREAK SPACE}[0.0762,\N{NO-BREAK SPACE}1.21] 0.000123\N{EN DASH}0.000456"
    assert broken(interval) == interval
    assert broken("workflow/rules/tidy.smk").split("\N{ZERO WIDTH SPACE}") == [
        *("workflow/", "rules/", "tidy.", "smk")
    ]


def test_numbers():
    assert grouped("1234567.8", " ") == "1 234 567.8"
    assert grouped("123", " ") == "123"
    assert grouped("-1234", " ") == "-1 234"
    assert fixed("runtime", 1234.5) == "1234"
    assert fixed("latency_p95", 12.34) == "12.3"
    texts = [significant(value) for value in (0, 0.01849, 0.9996, 4.801, 99.96, 163.4, 50199.5)]
    assert texts == ["0", "0.0185", "1.00", "4.80", "100", "163", "50200"[:3] + "00"]


def test_columns_that_stand_below_others_have_their_own_groups():
    line = TableRow("x", ["1", "2", "3"])
    groups = [("A", 1), ("B", 1), ("C", 1)]
    grid = Grid(["", "", ""], [TableSection("", [line])], groups=groups, paper=Paper(most=2))
    parts = [[(str(head), width) for head, width in part.groups] for part in grid.parts()]
    assert parts == [groups[:2], groups[2:]]
