"""The workbook of a run, read back: its numbers, its formulas, its gaps and its names."""

from __future__ import annotations

import contextlib
import re
import statistics
import zipfile
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELLS
from kvstudy.analyse.tidy.results import read_published
from kvstudy.analyse.tidy.summary import shown_mean, summarise
from kvstudy.documents.tables import write_tables
from kvstudy.documents.workbook.grids import number_format
from kvstudy.documents.workbook.references import CellReferences
from kvstudy.documents.workbook.sheet import sheet_names
from kvstudy.documents.workbook.write import write_workbook
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Statistic, cell_of
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.cells import closed_loop, plan, shown
from kvstudy.study.raw import sums_digest
from openpyxl import Workbook, load_workbook

from tests.cell_texts import check_formats, displayed
from tests.project import ROOT

from . import small_results as small

FAILED = ("failed", "=the server died: 1+1", "")
INVALID = ("measured", "", "5 % of update operations failed")
ENVIRONMENT = {
    "components": [{"component": "CPU", "name": "=New", "details": "2 cores"}],
    "machines": [[{"component": "CPU", "name": "=New", "details": "2 cores"}]],
    "stores": {
        "redis": {
            "version": "8.0",
            "provider": "native",
            "images": [],
            "jars": {"core-0.17.0.jar": "12ab"},
        }
    },
}
PLAIN = {"noise_floor": False, "client_ceiling": False, "workloads": ["a", "c"]}


@pytest.fixture
def workbook(project: Path):
    """Make the workbook of the small study with these faults; returns run and path."""
    sums = project / "results/small/raw/redis/a/r10_o20_t1/rep1/SHA256SUMS"
    sums.parent.mkdir(parents=True)
    sums.write_text("0  run.out\n")

    def make(faults=None, name="small", scale=1.0, **changes) -> tuple:
        study = small.study(**(PLAIN | changes))
        planned = closed_loop(plan(study))
        rows = small.cells(faults)
        sizes = dict.fromkeys((cell.workload, cell.parameters) for cell in planned)
        rows = pd.concat(
            rows[rows["workload"] == workload].assign(parameters=parameters)
            for workload, parameters in sizes
        )
        rows = rows[rows["store"].isin(study.store_names)]
        rows = rows.assign(started="2024-05-06T07:08:09+00:00", wall_seconds=3.0)
        rows.to_csv("cells.csv", index=False)
        rows = CELLS.read(Path())
        measured = small.measurements(rows)
        values = [line for line in small.PUBLISHED.splitlines() if not line.endswith(",")]
        Path("published.csv").write_text("\n".join(values))
        run = Run("small", study, scale)
        # In place of what is read from files.
        vars(run).update(
            planned={cell.path: cell for cell in planned},
            headline=shown(study),
            headline_analysis=small.analysis_of(rows, measured),
            cells=rows,
            measurements=measured,
            summary=summarise(
                measured, rows, study.store_names, study.workload_names, shown(study)
            ),
            published=read_published(Path("published.csv")).assign(inconsistent=True),
            environment=ENVIRONMENT,
            probes=small.probes(),
            stores={
                name: SimpleNamespace(
                    title=small.TITLES[name],
                    color=small.COLORS[name],
                    embedded=False,
                    kind="memory",
                    operations=small.MEANINGS[name],
                )
                for name in study.store_names
            },
        )
        path = Path(f"{name}.xlsx")
        write_workbook(run, path)
        return run, path

    return make


def table(path: Path, sheet: str, formulas: bool = False) -> pd.DataFrame:
    rows = list(load_workbook(path, data_only=not formulas)[sheet].values)
    frame = pd.DataFrame(rows[1:], columns=rows[0]).astype(object)
    return frame.where(frame.notna(), None)


def ranged(book: Workbook, formula: str) -> list[float]:
    """The numbers in the ranges that a formula names."""
    result = []
    for sheet, place in re.findall(r"'((?:[^']|'')+)'!([A-Z0-9:]+)", formula):
        cells = book[sheet.replace("''", "'")][place]
        lines = cells if isinstance(cells, tuple) else ((cells,),)
        result += [cell.value for line in lines for cell in line if cell.value is not None]
    return result


def test_single_runs_are_those_of_the_measurements(workbook):
    run, path = workbook()
    sheet = table(path, "Redis").query("Workload == 'Workload A'")
    overall = sheet[sheet["Operation"] == "whole phase"]
    assert list(overall["Run"]) == [1, 2]
    assert list(overall["Throughput (ops/s)"]) == [2000, 2200]
    assert list(sheet[sheet["Operation"] == "read"]["Average latency (µs)"]) == [100, 100]
    numbers = run.measurements.query("store == 'redis'")["value"]
    metrics = sheet.columns[8:-1]
    both = table(path, "Redis").query("not Operation.str.contains('plain') and Phase == 'run'")
    assert both[metrics].notna().to_numpy().sum() == len(numbers)
    assert both[metrics].astype(float).to_numpy()[both[metrics].notna()].sum() == numbers.sum()


def test_means_and_spread_are_formulas_over_the_runs_and_carry_the_summary(workbook):
    run, path = workbook()
    values = table(path, "Averages and spread")
    formulas = table(path, "Averages and spread", formulas=True)
    values, formulas = (each[values["Runs"].notna()] for each in (values, formulas))
    assert len(values) == len(run.summary)
    expected = run.summary.assign(shown=shown_mean(run.summary))
    for column, name in {
        **{"Runs": "n", "Mean": "shown", "Standard deviation": "sd"},
        **{"Coefficient of variation": "cv", "Smallest": "min", "Largest": "max"},
    }.items():
        carried = values.sort_values("Mean", kind="stable")[column].astype(float).dropna()
        assert sorted(carried) == pytest.approx(sorted(expected[name].dropna()))
    book = load_workbook(path, data_only=True)
    for at, line in values.iterrows():
        runs = ranged(book, formulas.loc[at, "Mean"])
        assert len(runs) == line["Runs"] == 2
        # Of rates the geometric mean, of all else the plain one.
        rate = line["Unit"] == "ops/s"
        function, mean = ("GEOMEAN", geometric_mean) if rate else ("AVERAGE", statistics.mean)
        assert formulas.loc[at, "Mean"].startswith(f"={function}('")
        assert line["Mean"] == pytest.approx(mean(runs))
        assert formulas.loc[at, "Standard deviation"].startswith("=STDEV('")
        assert line["Standard deviation"] == pytest.approx(statistics.stdev(runs))
        if line["Coefficient of variation"] is not None:
            assert formulas.loc[at, "Coefficient of variation"].startswith("=STDEV('")


def test_the_first_sheet_has_the_table_of_the_first_page_and_a_chart_of_it(workbook, monkeypatch):
    monkeypatch.setattr("kvstudy.exhibits.grid_strips.MOST_STRIPS", 0)
    _, path = workbook()
    sheet = load_workbook(path, data_only=True)["grid"]
    rows = {row[0].strip(): row[1:4] for row in sheet.values if row[0]}
    assert rows["Relative to Redis"] == ("A", "C", "Geomean")
    # 1000 and 1020 by 2000 and 2200 operations per second.
    assert rows["Memcached"] == pytest.approx([0.481475] * 3, rel=1e-5)
    assert rows[small.TITLES["riak"]] == ("\N{EN DASH}",) * 3
    assert rows["published ratio"][0] == pytest.approx(1283.98 / 4801.04)
    (row,) = [row for row in load_workbook(path)["grid"].rows if row[0].value == "Memcached"]
    assert row[1].value == "=GEOMEAN('Memcached'!J2:J3)/GEOMEAN('Redis'!J2:J3)"
    # Over all runs of both workloads.
    runs = ("'Memcached'!J2:J3,'Memcached'!J10:J11", "'Redis'!J2:J3,'Redis'!J10:J11")
    assert row[3].value == f"=GEOMEAN({runs[0]})/GEOMEAN({runs[1]})"
    with zipfile.ZipFile(path) as file:
        chart = file.read("xl/charts/chart1.xml").decode()
    assert '<c:logBase val="2"/>' in chart
    assert chart.count("<c:errBars>") == 1
    (place,) = re.findall(r"<c:val>.*?<c:f>'grid'!(.*?)</c:f>", chart, re.S)
    drawn = [cell.value for cell in sheet[place.replace("$", "")][0]]
    assert drawn == pytest.approx([0.481475] * 3, rel=1e-5)
    assert "Trial run" not in "".join(rows)


def test_every_table_of_the_report_has_a_sheet_that_shows_the_same(workbook):
    run, path = workbook()
    folder = Path("tables").absolute()
    with contextlib.chdir(ROOT):
        write_tables(run, folder)
    names = [table.name for table in run.study.tables]
    assert check_formats(folder, path) == sorted(names)
    assert set(names) < set(load_workbook(path).sheetnames)


def test_means_in_tables_are_formulas_in_their_format(workbook):
    _, path = workbook()
    both = [load_workbook(path, data_only=carried)["one"] for carried in (True, False)]
    (values, formulas) = (
        next(row for row in sheet.rows if row[0].value == "Throughput (ops/s)") for sheet in both
    )
    assert values[1].value == pytest.approx((2000 * 2200) ** 0.5)
    assert values[1].number_format == "#,##0.0"
    assert formulas[1].value == "=GEOMEAN('Redis'!J2:J3)"
    # That of the source is a number.
    assert formulas[2].value == 4801.04
    heads = [cell.value for row in both[0].iter_rows(max_row=6) for cell in row]
    assert heads.count("here") == heads.count("published") == 3
    assert any(area.size == {"rows": 1, "columns": 2} for area in both[0].merged_cells.ranges)


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("2\N{NARROW NO-BREAK SPACE}097.6", 2097.62, "#,##0.0"),
        ("1.05 ~ (7)", 1.0512, '0.00" ~ (7)"'),
        ("22 %", 0.2214, '0" "%'),
        ("+22.6 %", 0.2261, '"+"0.0" "%'),
        ("\N{MINUS SIGN}3.0 %", -0.03, '0.0" "%;"\N{MINUS SIGN}"0.0" "%'),
        ("1.23\N{NO-BREAK SPACE}s", 1230, '0.00,"\N{NO-BREAK SPACE}s"'),
        ("1:3.45", 3.4512, '"1:"0.00'),
        ("1\N{EN DASH}2", 1, '0"\N{EN DASH}2"'),
        # A spreadsheet would round these up.
        ("2", 2.5, "0.0"),
        ("0.12", 0.125, "0.000"),
        # Not in a unit that a format could make of it; and no number.
        ("2.1 min", 126_000, ""),
        ("never", None, ""),
    ],
)
def test_the_format_of_a_number_follows_from_its_text(text, value, form):
    assert number_format(cell_of(text, value)) == form
    if form and not text.startswith(("2\u202f", "2", "0.12")):
        assert displayed(value, form) == text


def test_a_number_that_its_runs_do_not_give_is_no_formula():
    places = CellReferences()
    for repetition, value in enumerate((2.0, 8.0)):
        places.add(
            ("x", "a", "r", "overall", "throughput"), f"{repetition}", "x", 1 + repetition, 0, value
        )
    keys = (("x", "a", "r", "overall", "throughput"),)
    assert places.formula(Statistic("geometric", keys), 4.0) == "=GEOMEAN('x'!A2:A3)"
    assert places.formula(Statistic("sd", keys), 18**0.5) == "=STDEV('x'!A2:A3)"
    assert places.formula(Statistic("mean", keys), 4.0) == ""
    assert places.formula(Statistic("mean", (("y", *keys[0][1:]),)), 5.0) == ""


def test_a_trial_run_says_so_first(workbook):
    _, path = workbook(scale=0.01)
    assert load_workbook(path)["grid"]["A3"].value.startswith("Trial run: measured with 0.01")


def test_what_was_published_stands_beside_it_also_without_a_measurement(workbook):
    _, path = workbook()
    sheet = table(path, "Averages and spread")
    speed = sheet[(sheet["Quantity"] == "Throughput") & (sheet["Workload"] == "Workload A")]
    speed = speed.set_index("Store")
    assert speed.loc["Redis", "Published"] == 4801.04
    assert speed.loc["Redis", "Here by published"] == pytest.approx((2000 * 2200) ** 0.5 / 4801.04)
    riak = speed.loc[small.TITLES["riak"]]
    assert (riak["Published"], riak["Mean"], riak["Runs"]) == (1283.98, "not measured", None)
    assert "no server & no image" in riak["Note"]


def test_a_failed_run_is_empty_with_its_reason_and_no_formula(workbook):
    _, path = workbook({("redis", "a", 1): FAILED})
    sheet = table(path, "Redis", formulas=True).query("Workload == 'Workload A'")
    failed = sheet[sheet["Run"] == 1]
    assert set(failed["Status"]) == {"failed"}
    assert failed[sheet.columns[8:-1]].notna().to_numpy().sum() == 0
    assert failed["Reason"].dropna().tolist() == [FAILED[1]]
    line = table(path, "Averages and spread").query(
        "Store == 'Redis' and Workload == 'Workload A' and Quantity == 'Throughput'"
    )
    assert line.iloc[0]["Runs"] == 1
    assert line.iloc[0]["Mean"] == 2200
    # One run has no deviation.
    assert line.iloc[0]["Standard deviation"] is None
    notes = table(path, "Averages and spread").query("Store == 'Redis'")["Note"].dropna()
    assert notes.tolist() == [f"{FAILED[1]} (repetition 1)"]


def test_text_that_looks_like_a_formula_is_text(workbook):
    _, path = workbook({("redis", "a", 1): FAILED}, name="=1+1")
    book = load_workbook(path)
    cells = [cell for cell in book["Cells"]["K"] if cell.value == FAILED[1]]
    assert [cell.data_type for cell in cells] == ["s"]


def test_a_void_run_keeps_its_values_and_no_formula_counts_it(workbook):
    _, path = workbook({("redis", "a", 1): INVALID})
    sheet = table(path, "Redis").query("Workload == 'Workload A' and Operation == 'whole phase'")
    assert list(sheet["Status"]) == ["invalid", "measured"]
    assert list(sheet["Throughput (ops/s)"]) == [2000, 2200]
    values, formulas = (table(path, "Averages and spread", formulas) for formulas in (False, True))
    at = values.query("Store == 'Redis' and Quantity == 'Throughput' and Workload == 'Workload A'")
    assert at["Mean"].tolist() == [2200]
    book = load_workbook(path, data_only=True)
    assert ranged(book, formulas.loc[at.index[0], "Mean"]) == [2200]


def test_runs_on_both_sides_of_one_that_does_not_count():
    places = CellReferences()
    for repetition, row in (("1", 4), ("3", 6), ("4", 7)):
        key = ("redis", "a", "r1", "overall", "throughput")
        places.add(key, repetition, "It's", row, 9, 1.0)
    assert places.ranges(key) == "'It''s'!J5,'It''s'!J7:J8"


def test_one_store_and_one_workload(workbook):
    _, path = workbook(stores=["redis"], workloads=["a"], figures=[], tables=[])
    book = load_workbook(path)
    assert book.sheetnames == [
        *("grid", "About", "operations", "ratios", "bottleneck", "validity", "runs"),
        *("percentiles", "Averages and spread", "Redis", "Cells"),
    ]


def test_many_sizes_have_lines_of_their_own(workbook):
    threads = list(range(1, 13))
    _, path = workbook(
        workloads=[{"name": "a", "threads": threads}, "c"], **{"tables": [], "figures": []}
    )
    sheet = table(path, "Averages and spread")
    sheet = sheet.query(
        "Store == 'Redis' and Quantity == 'Throughput' and Workload == 'Workload A'"
    )
    assert list(sheet["Client threads"]) == threads
    assert sheet["Mean"].tolist() == pytest.approx([(2000 * 2200) ** 0.5] * len(sheet))


def test_values_of_tables_stay_in_view_and_print(workbook):
    _, path = workbook()
    book = load_workbook(path)
    for sheet in (book[name] for name in ("Averages and spread", "Redis", "Cells")):
        assert sheet.freeze_panes is not None
        assert sheet.auto_filter.ref.startswith("A1:")
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.print_title_rows == "$1:$1"
    throughput = book["Redis"]["J2"]
    assert book["Redis"]["J1"].value == "Throughput (ops/s)"
    assert throughput.number_format == "#,##0.0"


def test_a_sheet_tells_what_it_is_and_the_last_has_checksums(workbook):
    run, path = workbook()
    book = load_workbook(path)
    text = "\n".join(str(cell.value) for line in book["About"].iter_rows() for cell in line)
    assert "2024-05-06 07:08:09 UTC" in text
    assert "CPU: =New (2 cores)" in text
    assert "A. Nobody: Small. Thesis, 2020." in text
    assert "0.17.0" in text
    assert "12 planned: 8 measured, 4 not measured" in text
    assert book.properties.created == datetime(2024, 5, 6, 7, 8, 9)
    digests = [cell.value for cell in book["Cells"]["J"][1:] if cell.value]
    assert digests == [sums_digest(run.raw / "redis/a/r10_o20_t1/rep1")]


def test_the_same_run_gives_the_same_bytes(workbook, monkeypatch):
    _, first = workbook(name="first")
    # The clock of the archive and of the properties.
    monkeypatch.setattr("time.time", lambda: 0.0)
    _, second = workbook(name="second")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["History"], ["History (2)"]),
        (
            ["Cells", "Cells", "A/B [x]: y", "a b x y"],
            ["Cells", "Cells (2)", "A B x y", "a b x y (2)"],
        ),
        (["'quoted'", "QUOTED"], ["quoted", "QUOTED (2)"]),
        (["*?:"], ["Sheet"]),
        (["x" * 40, "x" * 50], ["x" * 31, "x" * 27 + " (2)"]),
        (["😀" * 20], ["😀" * 15]),
    ],
)
def test_names_of_sheets(titles, expected):
    assert sheet_names(titles) == expected


def test_cells_of_another_study_or_scale_are_refused(project):
    run = Run("small", small.study(), 1000)
    vars(run)["cells"] = small.cells()
    with pytest.raises(KvstudyError, match=r"cells\.csv:2: redis/a/r10_o20_t1/rep1 is not planned"):
        write_workbook(run, Path("small.xlsx"))


def test_a_folder_that_cannot_be_written_is_named(workbook):
    run, _ = workbook()
    target = Path("taken.xlsx")
    target.mkdir()
    with pytest.raises(KvstudyError, match=r"taken\.xlsx: cannot be written"):
        write_workbook(run, target)
    assert not Path(".taken.xlsx.new").exists()
