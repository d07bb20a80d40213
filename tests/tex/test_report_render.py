"""The whole report of a small study, from its files to the text of the PDF."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.audit.check import COLUMNS as CHECKS
from kvstudy.analyse.claims.table import COLUMNS as CLAIMS
from kvstudy.analyse.findings.files import write_analysis
from kvstudy.analyse.findings.validity import AGREEMENT, VALIDITY
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELLS, PROBES, SUMMARY
from kvstudy.analyse.tidy.probes import rows_of
from kvstudy.analyse.tidy.results import COLUMNS as PUBLISHED
from kvstudy.documents.report.build import build_pdf
from kvstudy.documents.report.render import render as render_run
from kvstudy.documents.tables import write_table
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import run_name
from kvstudy.study.load import load_study
from kvstudy.study.run_names import PARTIAL

from tests.cell_texts import same_cells
from tests.formats_support import text_of
from tests.unit import small_results as small
from tests.unit.languages import in_every_language  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
ODD = r"Od_d 50% & #1 \ <b> $x {w} *v* `u` [t]"
REASON = "no server: " + "/a/very/long/path_without_spaces" * 5
SLUG = "r1000_o10000_t4"

# One page of 10 x 10 points; its content is of no interest here.
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]"
    b"/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 10 10]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n"
)
STUDY = {
    "name": "tiny",
    "title": "Two stores & 100 % more",
    "question": "Which one?",
    "source": {
        "key": "someone2020",
        "author": "S. Omeone",
        "title": "On_stores",
        "year": 2020,
        "published_as": "Paper",
    },
    "stores": ["odd", "redis"],
    "workloads": ["a"],
    "parameters": {"records": 1000, "operations": 10000, "threads": 4},
    "repetitions": 2,
    "tables": [
        {"name": "machine", "kind": "machine", "caption": "The machine"},
        {"name": "a", "kind": "results", "workload": "a", "source": "Table 7", "caption": "A_1"},
    ],
    "figures": [
        {
            "name": "f",
            "kind": "bars",
            "caption": "Bars",
            "source": "Figure 9",
            "workloads": ["a"],
            "operation": "overall",
            "metrics": ["throughput"],
            "unit": "kops/s",
        },
        {
            "name": "t",
            "kind": "transcript",
            "caption": "Run",
            "store": "odd",
            "workload": "a",
            "part": "run",
        },
    ],
}


ANALYSIS = small.analysis()
ENVIRONMENT = {
    "stores": {"odd": {"jars": {"core-9.8.jar": ""}}},
    "measured": 2,
    "looked_at": 0,
    "disturbance": {},
} | {key: [] for key in ("machines", "components", "findings", "mixed", "pinned")}


def write_csv(path: Path, columns: list[str], rows: list[dict]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


def cell(store: str, repetition: int, **values: str) -> dict:
    return {
        "store": store,
        "workload": "a",
        "parameters": SLUG,
        "repetition": repetition,
        "status": "measured",
        "provider": "native",
        "client": "kvstudy",
        "server_version": "7_1",
        "started": f"2026-11-0{repetition}T10:00:00+00:00",
        "wall_seconds": "12.5",
        **values,
    }


def summary(operation: str, metric: str, mean: float) -> dict:
    return {
        "store": "odd",
        "workload": "a",
        "parameters": SLUG,
        "operation": operation,
        "metric": metric,
        "n": 2,
        "mean": mean,
        "geometric": mean if metric == "throughput" else None,
        "min": mean * 0.9,
        "max": mean * 1.1,
    }


def probes(path: Path, **result: str) -> None:
    """Probes of the stores named, as they were recorded on real stores; others have a reason."""
    rows = []
    for store in STUDY["stores"]:
        if store not in result:
            rows.append({"store": store, "kind": "none", "reason": REASON})
            continue
        facts = json.loads((ROOT / f"tests/data/probes/{result[store]}.json").read_text())
        rows += [{"store": store, **row} for row in rows_of(facts)]
    write_csv(path, PROBES.columns, rows)


@dataclass
class Inputs:
    """Files of a run that tests change."""

    study: Path
    cells: Path
    summary: Path
    environment: Path
    probes: Path
    figures: Path


@pytest.fixture
def inputs(project: Path) -> Inputs:
    """The files of a run: one store measured, with an odd name, and one not."""
    shutil.copytree(ROOT / "report", project / "report", dirs_exist_ok=True)
    with (project / "report/references.bib").open("a") as file:
        file.write("\n@book{someone2020, author={Omeone, S.}, title={On stores}, year={2020}}\n")
    folder = project / "config/studies/tiny"
    folder.mkdir()
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
    store = project / "envs/stores/odd"
    store.mkdir()
    said = {"title": ODD, "color": "#000000", "kind": "memory"}
    said["operations"] = {"read": "get_it", "update": "set"}
    said["deviations"] = [{"setting": "-m 5%", "reason": "a & b"}]
    (store / "store.yaml").write_text(yaml.safe_dump(said), encoding="utf-8")

    here = project / "results/tiny"
    figures = project / "figures/tiny"
    for parts in (here / "tables", figures):
        parts.mkdir(parents=True)
    checks = ("ratios", "bottleneck", "validity", "runs", "percentiles")
    for name in ("grid", "scoreboard", "machine", "a", "operations", *checks):
        (here / f"tables/{name}.tex").write_text(
            "\\begin{tabular}{ll}\\toprule a & b\\\\\\bottomrule\\end{tabular}\n"
        )
    for name in ("f", "run-order", "ratios", "time-a", "spectrum"):
        (figures / f"{name}.pdf").write_bytes(PDF)
    cells = [cell("odd", n) for n in (1, 2)]
    cells += [cell("redis", n, status="not measured", reason=REASON, started="") for n in (1, 2)]
    write_csv(here / "cells.csv", CELLS.columns, cells)
    rows = [summary("overall", "throughput", 4801.04)]
    rows += [summary("read+update", metric, 830.5) for metric in ("latency_mean", "latency_p99")]
    write_csv(here / "summary.csv", SUMMARY.columns, rows)
    published = [("odd", 1283.98), ("redis", 5081.13)]
    write_csv(
        folder / "published.csv",
        PUBLISHED,
        [
            {
                "study": "tiny",
                "unit": "ops/s",
                "store": s,
                "workload": "a",
                "operation": "overall",
                "metric": "throughput",
                "value": v,
            }
            for s, v in published
        ],
    )
    (here / "environment.json").write_text(json.dumps(ENVIRONMENT))
    probes(here / "probes.csv", odd="memcached")
    write_analysis(ANALYSIS, here / "analysis")
    raw = here / "raw/odd/a" / SLUG / "rep1"
    raw.mkdir(parents=True)
    (raw / "commands.sh").write_text("# run\njava -p 'a_%'\n")
    (raw / "run.err").write_text("\N{INFINITY} current ops/sec\n")
    (raw / "run.out").write_text("[READ], 95thPercentileLatency(us), 119\n")
    write_csv(here / "audit.csv", CHECKS, [])
    return Inputs(
        study=Path("config/studies/tiny/study.yaml"),
        cells=here / "cells.csv",
        summary=here / "summary.csv",
        environment=here / "environment.json",
        probes=here / "probes.csv",
        figures=figures,
    )


def render(inputs: Inputs, scale: float = 1, partial: bool = False) -> Path:
    """The report of these files, as those of a run of that scale."""
    name = run_name("tiny", scale) + (PARTIAL if partial else "")
    for folder in ("results", "figures"):
        if name != "tiny":
            Path(folder, name).symlink_to("tiny")
    return render_run(Run(name, load_study(inputs.study), scale))


def write_study(inputs: Inputs, **parameters: object) -> None:
    """The study with these parameters too."""
    study = STUDY | {"parameters": STUDY["parameters"] | parameters}
    inputs.study.write_text(yaml.safe_dump(study), encoding="utf-8")


def written(inputs: Inputs, project: Path) -> str:
    """The text of the report of these files."""
    render(inputs)
    return Path("results/tiny/report/tiny.md").read_text()


def test_the_pdf_says_what_the_data_says(inputs: Inputs, project: Path) -> None:
    main = str(render(inputs, partial=True))
    assert main == "results/tiny-partial/report/tiny-partial.tex"
    pdf = project / "report/tiny.pdf"
    build_pdf(Path(main), Path(main).parent / "build", pdf)
    text = " ".join(text_of(pdf).split())

    assert "Two stores & 100 % more" in text
    assert f"Only {ODD} was measured: 4.80 kops/s in A." in text
    assert "4 planned cells have no valid value, among them all of Redis; Section" in text
    assert f"Only {ODD} has valid measurements" in text
    assert (
        "Ratios, means of throughput and the bars of figures are geometric means over the runs; "
        "all other means are arithmetic" in text
    )
    assert "means of throughput are arithmetic, too. An arithmetic mean is never smaller" in text
    assert "This report is incomplete. 2 of 4 planned cells were measured" in text
    assert "/a/very/long/path" in text
    assert "-m 5%. a & b" in text
    assert "Table 2: A_1 (modelled on Table 7 of [1])." in text
    assert f"They shrink records on {ODD}, so later operations" in text
    assert "$ java -p 'a_%'" in text
    assert "1 November 2026 to 2 November 2026" in text
    assert "version 9.8." in text
    assert "more than 0.1 % of its operations of one kind failed or found no record" in text
    assert "Trial run" not in text
    info = subprocess.run(["pdfinfo", pdf], capture_output=True, text=True).stdout
    assert "Two stores & 100 % more" in info
    assert "S. Omeone" not in info.replace("A reproduction of S. Omeone", "")
    assert "CreationDate" not in info


def test_runs_that_stalled_are_named_on_the_first_page_and_with_the_runs(
    inputs: Inputs, project: Path
) -> None:
    assert "49 s" not in written(inputs, project)
    stalled = summary("overall", "stalled", 45) | {"max": 49.2, "n": 1}
    write_csv(inputs.summary, SUMMARY.columns, [summary("overall", "throughput", 4801.04), stalled])
    text = plain(inputs, project)
    assert text.count("under Workload A (1 run, up to 49 s)") == 1
    assert "stalled runs" in text
    assert "No operation succeeded for more than 5 s" in text


# Two claims as `kvstudy claims` writes them, one with many statements.
CLAIM = {
    "id": "C1",
    "claim": "Odd_1 is 50 % slower & worse {than} 1 000 others.",
    "place": "Table_7",
    "said": "quoted",
    "source": "not supported",
    "verdict": "contradicted",
    "statement": 1,
    "kind": "ratio",
    "statement_source": "not supported",
    "statement_verdict": "contradicted",
    "parts": 3,
    "verdicts": "1 contradicted, 2 reproduced",
    "what": "in workload=A_1; of store=odd; by store=redis",
    "value": 1.5,
    "low": 1.25,
    "high": 1.75,
    "n": 3,
    "marks": "client-bound",
    "published_what": "in workload=A_1; of store=odd; by store=redis",
    "published": 0.9,
}
UNKNOWN = {
    "id": "C2",
    "source": "no data",
    "verdict": "not measured",
    "statement_source": "no data",
    "statement_verdict": "not measured",
    "value": None,
    "low": None,
    "high": None,
    "n": None,
    "marks": "",
    "published_what": "",
    "published": None,
    "reason": "not-a-size",
}


def with_claims(inputs: Inputs, rows: list[dict]) -> Inputs:
    run = inputs.cells.parent
    write_csv(run / "claims.csv", CLAIMS, rows)
    inputs.study.with_name("claims.yaml").touch()
    of = Run("tiny", load_study(inputs.study))
    for table in of.study.tables_of("claims"):
        write_table(table, of, of.tables)
    tex, html = ((run / f"tables/claims.{form}").read_text("utf-8") for form in ("tex", "html"))
    assert same_cells(tex, html)
    return inputs


def test_the_report_opens_with_the_claims(inputs: Inputs, project: Path) -> None:
    rows = [CLAIM, *(CLAIM | UNKNOWN | {"id": f"C{n}"} for n in range(2, 40))]
    main = render(with_claims(inputs, rows))
    pdf = project / "report/tiny.pdf"
    build_pdf(main, main.parent / "build", pdf)
    text = " ".join(text_of(pdf).split())
    assert "39 claims of the source: 38 not measured and 1 contradicted" in text
    assert "The source\N{RIGHT SINGLE QUOTATION MARK}s own tables contradict C1." in text
    first = text.index("Table 1: The source\N{RIGHT SINGLE QUOTATION MARK}s claims at a glance")
    assert first < text.index("A The claims in full") < text.index(": All claims of the source")
    # The table goes on over pages.
    assert "(continued)" in text
    for words in ("C1 Odd_1 is 50 % slower & worse", "1.50 [1.25, 1.75]", "0.900", "C39 Odd_1"):
        assert words in text
    assert "not a size of" in text


def test_a_kind_that_no_template_names_is_at_the_end_of_the_results(
    inputs: Inputs, project: Path
) -> None:
    table = {"name": "spread", "kind": "summary", "caption": "Runs of each store"}
    study = STUDY | {"tables": [*STUDY["tables"], table]}
    inputs.study.write_text(yaml.safe_dump(study), encoding="utf-8")
    tables = inputs.cells.parent / "tables"
    shutil.copy(tables / "a.tex", tables / "spread.tex")
    text = written(inputs, project)
    place = text.index("## Further results")
    assert text.index("## Workload A") < place < text.index("#table:spread")
    assert text.index("Runs of each store") < text.index("# Threats to validity")


def test_without_claims_nothing_is_said_of_them(inputs: Inputs, project: Path) -> None:
    assert "claims" not in written(inputs, project)


def test_claims_without_their_table_are_refused(inputs: Inputs, project: Path) -> None:
    claimed = with_claims(inputs, [CLAIM])
    (claimed.cells.parent / "tables/claims.tex").unlink()
    with pytest.raises(KvstudyError, match=r"claims\.tex: no such file; write it with"):
        render(claimed)


def methods(inputs: Inputs, project: Path) -> str:
    """The section on operations, one space between words."""
    text = written(inputs, project).replace("\u202f", " ")
    return " ".join(text.split("# Work per operation")[1].split("\n# ")[0].split())


def test_the_probes_are_told(inputs: Inputs, project: Path) -> None:
    probes(inputs.probes, odd="memcached", redis="redis")
    text = methods(inputs, project)
    assert "They shrink records on Od" in text
    assert "Records of Redis keep their size (within 5 %)." in text
    kept = "leave the size of records as it is, within 5 %, on every store that was probed"
    assert f"(`writeallfields=true`) {kept}" in text
    assert "No store answers OK to a read of a key that is not there." in text
    assert "An update of such a key creates it on Redis." in text
    assert "table:operations" in text


def test_a_study_that_updates_all_fields_is_not_said_to_change_one(
    inputs: Inputs, project: Path
) -> None:
    probes(inputs.probes, odd="memcached")
    write_study(inputs, properties={"writeallfields": True})
    text = methods(inputs, project)
    assert "shrink" not in text
    assert "An update of Workload A writes the whole record, and leaves its size as it is" in text
    assert "Updates do different amounts" not in written(inputs, project)


def test_of_records_that_were_not_probed_nothing_is_said(inputs: Inputs, project: Path) -> None:
    wide = {"name": "b", "properties": {"fieldlength": 200}}
    study = STUDY | {"workloads": ["a", wide]}
    inputs.study.write_text(yaml.safe_dump(study), encoding="utf-8")
    text = methods(inputs, project)
    assert "apply only to Workload A. The records of Workload B differ from the probed ones" in text
    assert "Updates of Workload A change one field" in text


def test_without_probes_the_report_says_so(inputs: Inputs, project: Path) -> None:
    probes(inputs.probes)
    text = methods(inputs, project)
    assert "was not probed: " in text
    assert text.count("very") == 10
    assert "table:operations" not in text


def test_a_read_of_a_missing_key_that_counts_as_ok(inputs: Inputs, project: Path) -> None:
    probes(inputs.probes, odd="memcached", redis="redis")
    rows = inputs.probes.read_text()
    inputs.probes.write_text(
        rows.replace("odd,read-missing,status,NOT_FOUND", "odd,read-missing,status,OK").replace(
            "odd,,client,kvstudy", "odd,,client,ycsb.home"
        )
    )
    text = methods(inputs, project)
    assert "A read of a key that is not there counts as OK on " in text
    assert "was probed with another client" in text


def test_a_trial_run_tells_its_scale_and_gives_no_answer(inputs: Inputs, project: Path) -> None:
    main = render(inputs, scale=0.1)
    assert main.name == "tiny-scale0.1.tex"
    first = Path("results/tiny-scale0.1/report/tiny-scale0.1.md").read_text().split("contents")[0]
    assert "counts are 0.1 times the study's" in first
    assert "Only" not in first


def test_a_trial_run_has_no_verdicts_and_says_so_once(inputs: Inputs, project: Path) -> None:
    """Neither on the first page nor in the claims' section and table."""
    blank = {"verdict": "", "statement_verdict": "", "verdicts": ""}
    trial = with_claims(inputs, [CLAIM | blank])
    render(trial, scale=0.1)
    text = Path("results/tiny-scale0.1/report/tiny-scale0.1.md").read_text()
    assert text.count("no verdicts") == 1
    assert text.index("no verdicts") < text.index("# The claims in full")
    table = (trial.cells.parent / "tables/claims.html").read_text("utf-8")
    assert "1.50" in table
    words = ("reproduced", "direction only", "undecided", "contradicted")
    first = text.split("# Method")[0]
    for word in words:
        assert word not in (first + table).lower()


def test_the_same_files_give_the_same_source(inputs: Inputs, project: Path) -> None:
    names = ["tiny.tex", "body.tex"]
    render(inputs)
    before = [Path("results/tiny/report", name).read_bytes() for name in names]
    render(inputs)
    assert [Path("results/tiny/report", name).read_bytes() for name in names] == before


def test_nothing_measured_is_still_a_report(inputs: Inputs, project: Path) -> None:
    rows = [
        cell(store, n, status="not measured", reason="no server", started="")
        for store in ("odd", "redis")
        for n in (1, 2)
    ]
    write_csv(inputs.cells, CELLS.columns, rows)
    write_csv(inputs.summary, SUMMARY.columns, [])
    text = written(inputs, project)
    assert "**Nothing was measured:** none of the 4 planned cells has a value." in text
    assert "no transcript, because the cell was not measured (no server)" in text


def test_an_invalid_cell_is_named_with_its_reason(inputs: Inputs, project: Path) -> None:
    rows = [
        cell("odd", 1),
        cell("odd", 2, invalid="3 % failed"),
        cell("redis", 1),
        cell("redis", 2),
    ]
    write_csv(inputs.cells, CELLS.columns, rows)
    assert "Workload A, repetition 2: invalid; 3 % failed." in gaps(written(inputs, project))


def ended(project: Path, share: float, deviation: float, reason: str = "") -> None:
    """Of the operations, ``share`` failed, and the server's counters deviate."""
    folder = project / "results/tiny/analysis"
    key = {"store": "odd", "workload": "a", "parameters": SLUG}
    numbers = {
        **{"n": 2, "invalid": int(share > 0), "operations": 20_000, "good": 20_000 * (1 - share)},
        **{"failed": 20_000 * share, "share": share, "low": 0, "high": 1, "throughput": 100},
        **{"goodput": 100 * (1 - share), "checked": 2, "deviation": deviation},
    }
    write_csv(folder / "validity.csv", VALIDITY.columns, [key | numbers])
    row = key | {"repetition": "2", "reason": reason}
    if not reason:
        counted = {"counter": "cmd_get", "least": 10_000, "most": 10_000}
        row |= counted | {"counted": 10_000 * (1 + deviation), "deviation": deviation}
    write_csv(folder / "agreement.csv", AGREEMENT.columns, [row])


def plain(inputs: Inputs, project: Path) -> str:
    """The whole text, one space between words, without Markdown's escapes."""
    text = written(inputs, project).replace("\u202f", " ").replace("\\", "")
    return " ".join(text.split())


def test_the_text_says_what_did_not_go_well(inputs: Inputs, project: Path) -> None:
    ended(project, 0.02, -0.015)
    text = plain(inputs, project)
    assert "1 cell is invalid; [Section](#gaps){.ref} gives" in text
    assert "Goodput is lower than throughput by more than 0.1 % on Od" in text
    assert "under Workload A (by 2 %)." in text
    assert "has no counter of misses, so" in text
    assert "These differ by more than 1 %:" in text
    assert "repetition 2: the server counted 9 850 of 10 000 cmd_get." in text


def test_the_text_says_when_all_went_well(inputs: Inputs, project: Path) -> None:
    ended(project, 0, 0.009)
    text = plain(inputs, project)
    assert "No cell is invalid." in text
    assert "Goodput and throughput are equal to within 0.1 %" in text
    assert "All agree within 1 %. Commands that occur fewer than 0.1 times per operation" in text
    file = project / "results/tiny/analysis/agreement.csv"
    rows = pd.read_csv(file).assign(most=21_000)
    rows.to_csv(file, index=False)
    text = plain(inputs, project)
    assert (
        "within 1 %; 1 of them could be checked only against a range, whose upper end is at most "
        "2.10 times" in text
    )


def test_the_text_says_what_could_not_be_checked(inputs: Inputs, project: Path) -> None:
    ended(project, 0, 0, "the counters were not recorded")
    text = plain(inputs, project)
    assert "No cell could be compared with the server's counters: Od" in text
    assert "(the counters were not recorded)." in text
    assert "All agree" not in text


def test_single_latencies_are_told_only_when_they_were_kept(inputs: Inputs, project: Path) -> None:
    said = "the latency of every single operation was recorded"
    assert said not in written(inputs, project)
    write_study(inputs, raw_latencies=True)
    assert said in written(inputs, project)


def test_misses_that_are_expected_are_told_as_such(inputs: Inputs, project: Path) -> None:
    expected = {"store": "odd", "operation": "read", "up_to": 0.05, "reason": "It is a cache."}
    study = STUDY | {"expected_failures": [expected | {"kind": "misses"}]}
    inputs.study.write_text(yaml.safe_dump(study))
    text = plain(inputs, project)
    assert "return OK although the server has no such record. It is a cache." in text
    assert "Here" not in text.partition("It is a cache.")[2].partition("Results")[0]


def test_the_share_of_failures_that_are_expected_is_told(inputs: Inputs, project: Path) -> None:
    counts = [
        ("overall", "throughput", 4801.04),
        ("read", "operations", 990),
        ("read", "failed", 10),
    ]
    write_csv(inputs.summary, SUMMARY.columns, [summary(*count) for count in counts])
    expected = {"store": "odd", "operation": "read", "up_to": 0.05, "reason": "They collide."}
    inputs.study.write_text(yaml.safe_dump(STUDY | {"expected_failures": [expected]}))
    text = plain(inputs, project).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert " fail. They collide. Here 1.0 % failed." in text


def test_a_study_without_a_source(inputs: Inputs, project: Path) -> None:
    study = {key: value for key, value in STUDY.items() if key != "source"}
    inputs.study.write_text(yaml.safe_dump(study))
    inputs.study.with_name("published.csv").unlink()
    text = written(inputs, project)
    assert "source" not in text.lower()


def test_cells_of_two_machines_are_told(inputs: Inputs, project: Path) -> None:
    assert "the first of 2." in rendered(inputs, project, machines=[[], []])


def finding(title: str, good: bool | None, consequence: str, cells: int, *values: str) -> dict:
    """As ``cells`` cells have it, of the machine."""
    words = {"key": title, "title": title, "consequence": consequence}
    return words | {"good": good, "cells": cells, "values": list(values)}


LOAD = "Background load"
FINDINGS = [
    finding("Frequency governor", False, "The clock falls.", 2, "powersave"),
    finding(
        *(LOAD, False, "Others use the processors.", 1),
        *("1 other thread running", "3 other threads running"),
    ),
    finding(LOAD, True, "", 1, "0 other threads running"),
    finding("Turbo clock", None, "Whether it rises is open.", 2, "not visible"),
    finding("Swap", True, "", 2, "none"),
]


def rendered(inputs: Inputs, project: Path, **environment: object) -> str:
    """The text of the report of a run with this environment, one space between words."""
    known = json.loads(inputs.environment.read_text())
    inputs.environment.write_text(json.dumps(known | environment))
    text = written(inputs, project).replace("\u202f", " ")
    text = re.sub(r"\\([^\w\s]|_)", r"\1", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def test_what_the_machine_does_is_told_where_it_has_consequences(inputs, project) -> None:
    text = rendered(inputs, project, findings=FINDINGS, looked_at=2)
    assert "\n\n# Sources of noise on the machine {#machine}\n\n" in text
    # A list needs the empty line before it.
    assert "\n\n- **Frequency governor**: powersave. The clock falls.\n" in text
    assert (
        "- **Background load**: 1 other thread running to 3 other threads running "
        "(in 1 of 2 cells). Others use the processors.\n" in text
    )
    assert "Not, or not fully, checked: Turbo clock." in text
    assert "No problem found with: Swap." in text
    assert "was not recorded" not in text


def test_cells_of_which_nothing_is_known(inputs, project) -> None:
    text = rendered(inputs, project, findings=FINDINGS[:1], looked_at=1)
    assert "(Recorded in 1 of 2 measured cells.)" in text
    assert "# Sources of noise" not in rendered(inputs, project, findings=[], looked_at=0)


def test_a_good_machine(inputs, project) -> None:
    text = rendered(inputs, project, findings=FINDINGS[-1:], looked_at=2)
    assert "It found none." in text
    assert "fully, checked" not in text


def test_a_mixture_is_told(inputs, project) -> None:
    sides = [{"value": "17_0", "cells": 3}, {"value": "21", "cells": 1}]
    text = rendered(inputs, project, mixed=[{"what": "Java", "sides": sides}], looked_at=2)
    assert (
        "Not all cells were measured under the same conditions.** They differ in: Java (17_0: 3 "
        "cells; 21" in text
    )
    assert "measured under the same conditions" not in rendered(inputs, project, mixed=[])


def on_nodes(inputs: Inputs, nodes: dict[tuple[str, str], str]) -> None:
    """Each cell, by store and repetition, was measured on that node."""
    rows = list(csv.DictReader(inputs.cells.open(encoding="utf-8")))
    for row in rows:
        row["node"] = nodes.get((row["store"], row["repetition"]), "n_1")
    write_csv(inputs.cells, list(rows[0]), rows)


def test_one_node_is_not_told(inputs, project) -> None:
    on_nodes(inputs, {})
    assert "nodes of a cluster" not in rendered(inputs, project)


def test_several_nodes_are_told(inputs, project) -> None:
    on_nodes(inputs, {("odd", "2"): "n_2", ("redis", "2"): "n_2"})
    text = " ".join(rendered(inputs, project).split())
    assert (
        "several nodes of a cluster: n_1 (repetition 1), n_2 (repetition 2). Ratios are taken "
        "within repetitions, each on one node. Means are over all nodes."
    ) in text


def test_a_repetition_on_several_nodes_is_told(inputs, project) -> None:
    on_nodes(inputs, {("redis", "2"): "n_2"})
    text = " ".join(rendered(inputs, project).split())
    assert "n_1 (repetitions 1 and 2), n_2 (repetition 2). Ratios within repetition 2 comp" in text


def test_cores_of_server_and_client(inputs, project) -> None:
    assert "Server and client were not pinned to cores" in rendered(inputs, project)
    pinned = [{"server": "0-1", "client": "2", "cells": 2}]
    text = rendered(inputs, project, pinned=pinned)
    assert "were pinned to separate cores: the server to 0-1, the client to 2 (numbers" in text
    assert "not pinned" not in text
    pinned[0]["cells"] = 1
    assert "were pinned to separate cores in 1 of 2 cells:" in rendered(
        inputs, project, pinned=pinned
    )


def test_cores_of_servers_that_ran_already_are_not_known(inputs, project) -> None:
    text = inputs.cells.read_text()
    assert "native" in text
    inputs.cells.write_text(text.replace("native", "external"))
    assert "pinned to cores" not in rendered(inputs, project)


def load(cells: int, above: int, share: float) -> dict:
    worst = {"store": "odd", "workload": "a", "parameters": SLUG, "repetition": 2, "value": share}
    return {"cells": cells, "above": above, "least": share / 2, "worst": worst}


def test_foreign_load_and_steal(inputs, project) -> None:
    both = {"background_cpu": load(2, 1, 61.04), "steal_cpu": load(2, 0, 0.2)}
    text = rendered(inputs, project, disturbance=both)
    assert "\n\n## Background load during the runs\n\n" in text
    assert "exceeded 5 % in 1 of 2 cells. In these cells throughputs are too low" in text
    assert "The minimum was 30.5 %, the maximum 61.0 % (" in text
    assert "repetition 2)." in text
    assert "Its maximum in a cell was 0.2 % of the machine's time." in text
    few = {"background_cpu": load(1, 0, 1.0), "steal_cpu": load(2, 2, 20.0)}
    text = rendered(inputs, project, disturbance=few)
    assert "at most 5 % in the only cell. The maximum was 1.0 % (" in text
    assert "It is unknown for 1 more, because" in text
    assert "It exceeded 5 % in 2 of 2 cells. The maximum was 20.0 % (" in text
    assert "Background load during the runs" not in rendered(inputs, project, disturbance={})


def test_of_several_sizes_each_cell_is_named_with_its_own(inputs, project) -> None:
    """Four and one thread; the second cell of one thread failed."""
    write_study(inputs, threads=[1, 4])
    one = {"parameters": SLUG.replace("t4", "t1"), "started": ""}
    cells = [cell("odd", n) for n in (1, 2)]
    cells += [cell("odd", 1, **one), cell("odd", 2, status="failed", reason="died", **one)]
    cells.append(cell("redis", 1, status="not measured", reason=REASON, started=""))
    write_csv(inputs.cells, CELLS.columns, cells)
    rows = [summary("overall", name, 1.0) for name in ("gc_count", "gc_pause", "runtime")]
    write_csv(inputs.summary, SUMMARY.columns, [summary("overall", "throughput", 4801.04), *rows])
    text = rendered(inputs, project, disturbance={"background_cpu": load(2, 1, 61.04)})
    assert "Workload A (4 client threads), repetition 2)." in text
    assert "Workload A, repetition 2 (1 client thread): failed; died." in text
    assert "Workload A (4 client threads): 1.00 ms, mean over the runs)" in text
    assert "3 cells" in text
    assert "The cell has 4 client threads." in text


def test_an_undefined_name_in_the_text_stops_with_its_place(inputs: Inputs, project: Path) -> None:
    text = project / "report/text/trust.md.j2"
    text.write_text(text.read_text() + "{{ run.tempo }}\n")
    line = len(text.read_text().splitlines())
    with pytest.raises(KvstudyError, match=rf"report/text/trust\.md\.j2:{line}: .*tempo"):
        render(inputs)


def test_a_source_that_is_not_in_the_bibliography(inputs: Inputs, project: Path) -> None:
    shutil.copy(ROOT / "report/references.bib", project / "report/references.bib")
    with pytest.raises(KvstudyError, match=r"references\.bib has no entry 'someone2020'"):
        render(inputs)


def test_a_missing_figure_is_named(inputs: Inputs, project: Path) -> None:
    (inputs.figures / "f.pdf").unlink()
    main = render(inputs)
    with pytest.raises(KvstudyError, match=r"figures/tiny/f\.pdf: no such file.*kvstudy draw"):
        build_pdf(main, main.parent / "build", project / "out.pdf")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (cell("riak", 1), r"cells\.csv: riak/a is not part of the study 'tiny'"),
        (
            cell("odd", 1, parameters="r7_o7_t4"),
            r"cells\.csv: a/r7_o7_t4 is not planned at scale 1;",
        ),
    ],
)
def test_cells_of_another_study_or_scale_are_refused(inputs, project, row, message) -> None:
    write_csv(inputs.cells, CELLS.columns, [row])
    with pytest.raises(KvstudyError, match=message):
        render(inputs)


def test_a_summary_without_a_column_is_refused(inputs: Inputs, project: Path) -> None:
    write_csv(inputs.summary, SUMMARY.columns[:-1], [])
    with pytest.raises(
        KvstudyError,
        match=r"summary\.csv: no column max; the file is written by `kvstudy analyse`",
    ):
        render(inputs)


def gaps(text: str) -> str:
    """The section on what was not measured."""
    section = text.split("measurements {#gaps}")[1].split("\n# ")[0]
    return " ".join(section.replace("\\", "").split())


def test_control_cells_without_a_value_are_named(inputs: Inputs, project: Path) -> None:
    selected = [cell(store, n) for store in ("odd", "redis") for n in (1, 2)]
    rows = [
        cell("odd-again", 1, invalid="half of it failed"),
        cell("odd-again", 2),
        cell("client-ceiling", 1, status="failed", reason="no memory"),
        cell("client-ceiling", 2),
    ]
    write_csv(inputs.cells, CELLS.columns, [*selected, *rows])
    text = written(inputs, project)
    result = gaps(text)
    assert "Every planned cell" not in text
    assert "(again) (control), Workload A, repetition 1: invalid; half of it failed" in result
    assert "YCSB without a store (control), Workload A, repetition 1: failed; no memory" in result
    # The floor is unknown for its own reason, not for the ceiling's.
    assert "is unknown: half of it failed." in text


def test_a_run_without_control_cells_says_so(inputs: Inputs, project: Path) -> None:
    selected = [cell(store, n) for store in ("odd", "redis") for n in (1, 2)]
    rows = [cell("odd-again", n, status="not measured", reason="no logs") for n in (1, 2)]
    write_csv(inputs.cells, CELLS.columns, [*selected, *rows])
    text = written(inputs, project)
    assert "The control cells were not measured" in gaps(text)
    assert "Every planned cell of the stores was measured, and no cell is invalid." in text
    assert "was measured twice" not in text
    assert "so noise floor and client ceiling are unknown" in text


COMMAND = ["{program}", "--port", "{port}", "--flush", "a_b"]


@pytest.mark.parametrize(
    ("about", "shipped", "words"),
    [
        ({}, True, "a & b"),
        ({"command": COMMAND[:3]}, True, "started with ` {program} ` ` --port ` ` {port} `"),
        (
            {
                "command": COMMAND,
                "arguments": COMMAND[3:],
                "settings": {"flush_by": "a_b", "x": ""},
            },
            False,
            "by options: ` --flush ` ` a_b `; the server reports ` flush_by ` ` a_b ` and ` x ` "
            "` '' `",
        ),
        (
            {"command": COMMAND, "edited": True},
            False,
            "this differs from the command in today's store.yaml",
        ),
    ],
)
def test_servers_are_called_shipped_where_that_follows(inputs, project, about, shipped, words):
    environment = ENVIRONMENT | {"stores": {"odd": ENVIRONMENT["stores"]["odd"] | about}}
    inputs.environment.write_text(json.dumps(environment))
    text = " ".join(written(inputs, project).replace("\\", "").replace("\u200b", "").split())
    assert words in text
    assert ("servers run with their default settings" in text) == shipped


NATIVE = {"program": "odd", "command": ["odd"], "remedy": "buy it"}
PACKAGE = {
    **{"version": "1.0", "machine": "x86_64", "glibc": "2.36", "url": "https://odd.example/a.deb"},
    **{"sha256": 64 * "0", "license": "MIT"},
}


@pytest.mark.parametrize(
    ("packages", "provider", "commands"),
    [
        ([], "native", ["make servers study STUDY=tiny PROVIDER=native"]),
        (
            [PACKAGE],
            "native",
            ['make servers STORES="odd"', "make servers study STUDY=tiny PROVIDER=native"],
        ),
        ([], "docker", ["make study STUDY=tiny PROVIDER=docker"]),
    ],
)
def test_the_commands_install_the_servers_that_were_measured(
    inputs, project, packages, provider, commands
):
    """`make study` alone would leave out all stores but Redis and Memcached, or take Docker."""
    path = project / "envs/stores/odd/store.yaml"
    store = yaml.safe_load(path.read_text())
    store["native"] = NATIVE | {"packages": packages}
    path.write_text(yaml.safe_dump(store))
    rows = [cell("odd", n, provider=provider) for n in (1, 2)]
    rows += [cell("redis", n, status="not measured", reason=REASON, started="") for n in (1, 2)]
    write_csv(inputs.cells, CELLS.columns, rows)
    lines = written(inputs, project).splitlines()
    assert [line for line in lines if line.startswith("make ")] == commands
