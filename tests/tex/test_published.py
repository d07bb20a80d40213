"""Reports of published values alone: tables, figures, claims, and what is missing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.run import find_run
from kvstudy.analyse.tidy.results import read_published
from kvstudy.documents.report.build import build_pdf
from kvstudy.documents.report.published import write_published
from kvstudy.errors import KvstudyError
from kvstudy.study.load import STUDIES, load_study, study_path
from kvstudy.study.run_names import REPORT

from tests.cell_texts import same_cells
from tests.formats_support import text_of
from tests.unit.languages import in_every_language  # noqa: F401

ROOT = Path(__file__).parents[2]


PUBLISHED = sorted(path.parent.name for path in ROOT.glob("config/studies/*/published.csv"))


def run(study: str, folder: Path, pdf: str = "") -> str:
    """The LaTeX of the report's body; typeset as the file ``pdf``."""
    shutil.copytree(ROOT / "report", REPORT, dirs_exist_ok=True)
    of = find_run(f"{study}-published", published=True)
    write_published(of)
    if pdf:
        main = of.text / "report" / f"{of.name}.tex"
        assert build_pdf(main, main.parent / "build", of.folder / pdf, of.study_file) == []
    shutil.copytree(of.folder, folder)
    shutil.copytree(of.figures, folder / "figures")
    for path in (folder / "tables").glob("*.tex"):
        html = path.with_suffix(".html").read_text(encoding="utf-8")
        assert same_cells(path.read_text(encoding="utf-8"), html)
    return (folder / "report" / "body.tex").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("published")


@pytest.fixture
def report(project, kept):
    """A function that gives a report's words and its folder; each is made once for all tests."""

    def words_of(study: str) -> tuple[str, Path]:
        folder = kept / study
        text = (folder / "report/body.tex").read_text("utf-8") if folder.exists() else None
        return " ".join((text or run(study, folder, "report.pdf")).split()), folder

    return words_of


def test_figures_show_the_published_values_and_torn_bars(report):
    text, folder = report("jedlicka2024")
    shown = pd.read_csv(folder / "figures/latency-percentiles-a.csv")
    assert set(shown["panel"]) == {"published"}
    values = shown.set_index(["group", "store"])
    assert values.loc[("95th percentile", "riak"), "value"] == pytest.approx(6.757)
    assert values.loc[("95th percentile", "riak"), "broken"] == "yes"
    assert (folder / "figures/latency-percentiles-a.pdf").read_bytes().startswith(b"%PDF")
    for number in range(4, 15):
        assert f"modelled on Figure 4.{number} of" in text
    assert "4.3) are omitted: only measured cells have commands" in text


def test_what_was_not_published_is_said(report):
    text, folder = report("riak-consistency")
    assert "Riak (blind put): no value was published for Workload A, Workload B and Insert" in text
    assert "is omitted: the source has no values for one of the two" in text
    assert not (folder / "tables/blind.csv").exists()
    table = pd.read_csv(folder / "tables/consistency.csv", dtype=str)
    assert table.set_index("line").loc["Mean of the workloads"].tolist()[1:3] == [
        "1371,52",
        "1681,49",
    ]


@pytest.mark.parametrize("study", PUBLISHED)
def test_each_numbered_table_is_in_the_pdf_with_its_values_as_printed(report, study):
    _, folder = report(study)
    words = " ".join(text_of(folder / "report.pdf").split())
    of = load_study(study_path(study))
    assert of.title in words
    assert "nothing was measured" in words
    assert "??" not in words
    values = read_published(study_path(study).with_name("published.csv"))
    numbers = {name for name in values["table"] if re.fullmatch(r"Table [\d.]+", name)}
    assert numbers
    assert numbers <= set(re.findall(r"\(modelled on (Table [\d.]+) of \[\d+\]\)", words))
    for row in values[values["table"].isin(numbers)].dropna(subset="value").itertuples():
        assert (row.printed or of.source.printed.text(row.metric, row.value)) in words, str(row)
    assert "Audit of the source" in words
    claims = yaml.safe_load(study_path(study).with_name("claims.yaml").read_text())["claims"]
    assert {claim["id"] for claim in claims} <= set(re.findall(r"\w+", words))
    assert not Path("results", study).exists()


def test_a_study_without_a_source_is_refused(project):
    (STUDIES / "smoke" / "published.csv").write_text(
        "study,table,store,workload,operation,metric,unit,value\n"
        "smoke,T,redis,a,overall,throughput,ops/s,1\n"
    )
    with pytest.raises(KvstudyError, match="source: the study has none"):
        run("smoke", project / "made")


def test_curves_show_published_values_and_what_they_lack(report):
    text, folder = report("haverinen2018")
    shown = pd.read_csv(folder / "figures/curves-a-10000.csv")
    assert set(shown["side"]) == {"published"}
    top = shown.query("store == 'mongodb' and threads == 7")["value"].item()
    assert top == pytest.approx(26.930)
    assert "lack the 99th percentile, because the source printed no such values" in text
    assert text.count("The source printed no values for 99th percentile.") == 8
    assert "broken" not in text


def test_rounds_have_their_ratios_and_the_break_even_drawn(report):
    text, folder = report("petrov2014")
    shown = pd.read_csv(folder / "figures/relative.csv")
    assert set(shown["origin"]) == {"published"}
    assert shown.query("operation == 'insert'")["ratio"].tolist() == [29, 32, 34, 40]
    costs = pd.read_csv(folder / "figures/break-even.csv")
    assert set(costs["panel"]) == {"published"}
    assert costs["crossing"].unique() == pytest.approx([2.5])
    assert "2,5 reads/write (Conclusion 3)" in text


def test_claims_are_asked_of_the_sources_own_values(report):
    text, folder = report("haverinen2018")
    assert "1 \\emph{supported} and 4 \\emph{not supported}" in text
    # H5 has values in figures only, but the throughputs say that it cannot be.
    assert "The values contradict H2, H3, H4 and H5. H1 rests on values that the audit" in text
    claims = pd.read_csv(folder / "tables/claims.csv").set_index(["id", "statement"])
    # H2: MySQL's best of C by MongoDB's, from the source's table 7.
    assert claims.loc[("H2", 1), "published"] == pytest.approx(17284 / 35505, rel=0.02)
    assert claims["verdict"].isna().all()
    # "Not a store of the study" once stood for whatever was not printed.
    assert set(claims["reason"].dropna()) == {"not published"}
    page = (folder / "tables/claims.html").read_text(encoding="utf-8")
    assert ": not published" in page
    table = (folder / "tables/claims.tex").read_text(encoding="utf-8")
    assert "not measured" not in table
    assert "Verdict here" not in table
    assert "best number of threads: C" in table


def test_the_source_is_audited(report):
    text, _folder = report("jedlicka2024")
    assert r"\label{audit}" in text
    assert "checks with a verdict fail, and 45 more affect only last digits" in text
    assert "computed from what is printed 73" in text


def test_values_that_the_audit_rejects_are_marked(report):
    """Insert-only: 1 052 ops/s for 69.7 s are 73 406 inserts, and not 100 000."""
    text, folder = report("jedlicka2024")
    assert (
        "J1, J2, J3 and J8 rest on values that the audit of the source finds inconsistent" in text
    )
    table = (folder / "tables/insert-only.html").read_text(encoding="utf-8")
    assert '1052,43<span class="hang"><sup>\N{DOUBLE DAGGER}</sup></span>' in table
    assert table.count("<sup>\N{DOUBLE DAGGER}</sup>") == 3
    assert "Inconsistent with the source&#39;s other values." in table
    # The numbers are those of the source all the same.
    texts_of_cells = pd.read_csv(folder / "tables/insert-only.csv", dtype=str)
    assert "1052,43" in texts_of_cells["Riak KV"].tolist()
    assert "\N{DOUBLE DAGGER}" not in (folder / "tables/workload-c.html").read_text()
    shown = pd.read_csv(folder / "figures/throughput.csv")
    assert shown.query("inconsistent == 'yes'")[["group", "store"]].to_numpy().tolist() == [
        ["Insert", "riak"]
    ]
    assert "1.05\N{DOUBLE DAGGER}" in (folder / "figures/throughput.svg").read_text()
    claims = pd.read_csv(folder / "tables/claims.csv", keep_default_na=False)
    resting = claims[(claims["id"] == "J3") & (claims["rests_on"] != "")]["rests_on"].item()
    assert resting.count("store=riak metric=latency_mean") == 2


def test_a_source_without_values_has_claims_quotes_and_a_machine(report):
    assert not (STUDIES / "ascani2023" / "published.csv").exists()
    text, folder = report("ascani2023")
    assert "The source printed no value that could decide a claim." in text
    assert "The source's tables contain no results" in text
    assert "All 7 checks pass." in text
    assert (folder / "tables/machine.csv").is_file()
    assert not list((folder / "figures").iterdir())


def test_values_outside_the_tables_are_listed_with_their_place(project):
    path = STUDIES / "riak-consistency" / "published.csv"
    with path.open("a", encoding="utf-8") as file:
        file.write("riak-consistency,Slide 9,riak-eventual,a,update,latency_p95,us,1500\n")
    text = run("riak-consistency", project / "made")
    assert r"update, latency p95: 1500\,µs (Slide 9)" in " ".join(text.split())
    assert r"\section{What was not published}" in text
