"""What Snakemake is told to do for a configuration."""

from pathlib import Path

import pytest
from kvstudy.commands.measure import completed
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import reason
from kvstudy.workflow_plan import final_messages, plan_run

from tests.project import STUDY, edit

SMALL = {"study": "small", "provider": "native"}


def test_stores_with_a_server_are_measured_and_others_are_gaps(pretend_study):
    plan = plan_run(SMALL)
    assert plan.run == "small"
    assert {cell.store for cell in plan.wanted} == {"pretend"}
    assert (plan.gaps, plan.wanted_probes, plan.measured) == (["unbound"], ["pretend"], [])
    first = plan.cells[0]
    assert (plan.positions[first.path], plan.cell(first.path)) == (1, first)
    with pytest.raises(KvstudyError, match="pretend/a/other/rep1: no cell of the study"):
        plan.cell("pretend/a/other/rep1")


def test_nothing_is_asked_for_where_nothing_may_be_measured(pretend_study):
    plan = plan_run(SMALL | {"measure": False, "scale": 0.5})
    assert plan.run == "small-scale0.5"
    assert (plan.wanted, plan.gaps, plan.wanted_probes) == ([], [], [])
    assert plan.cells
    assert plan.nothing_measured


def test_published_values_have_no_cells_and_a_run_of_their_own(project):
    plan = plan_run({"study": "haverinen2018", "source": "published", "language": "cs"})
    assert plan.run == "haverinen2018-published-cs"
    assert (plan.cells, plan.subfolder, plan.suffix) == ([], "", "")
    assert plan.published


def test_imported_logs_must_be_there(pretend_study):
    edit(STUDY, imported={"folder": "logs"}, noise_floor=False)
    with pytest.raises(KvstudyError, match="imported: no logs of it in results/small"):
        plan_run(SMALL)


def test_a_cell_is_measured_as_the_configuration_says_unless_an_option_says_it(
    pretend_study, monkeypatch
):
    external = {"servers": {"pretend": "host:1"}, "delete_all_data": True}
    plan = plan_run(SMALL | {"provider": "external", "external": external, "pin_cpus": True})
    monkeypatch.setenv("KVSTUDY_CONFIG", plan.config.model_dump_json())
    result = completed({"port": 7, "address": None, "provider": None}, "pretend")
    assert (result["provider"], result["address"], result["delete_all_data"]) == (
        "external",
        "host:1",
        True,
    )
    assert (result["port"], result["pin_cpus"]) == (7, "true")
    assert completed({}, "other")["address"] == ""
    monkeypatch.delenv("KVSTUDY_CONFIG")
    assert completed({}, "pretend")["provider"] == "auto"


def test_a_run_ends_with_its_answers_its_report_and_what_is_missing(pretend_study):
    run = plan_run(SMALL)
    assert final_messages(run) == []
    text, report = Path("results/small/report/small.md"), Path("report/small.pdf")
    for path in (text, report):
        path.parent.mkdir(parents=True, exist_ok=True)
    report.touch()
    text.write_text(
        ":::::: glance\n- **A:** Redis is 1\\.2 times \n*faster* (n = 3; "
        "[Section](#a){.ref}),\nor so.\n\n- So.\n- And so.\n\n**Caveats:**\n\n- No more.\n"
    )
    assert set(run.missing) == {"unbound"}
    run.missing = {"pretend": reason("no-program", program="oddd", remedy="install it")}
    assert final_messages(run) == [
        "- A: Redis is 1.2 times faster (n = 3), or so.",
        "- So.",
        "- And so.",
        "Report: report/small.pdf; data, tables and workbook: results/small/",
        "Not measured: Pretend: no program oddd on this machine: install it.",
    ]
