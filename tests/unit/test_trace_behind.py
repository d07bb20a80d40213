"""What a table is said to be made of is all that it is made of."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from kvstudy.analyse.tidy.summary import per_repetition
from kvstudy.documents.tables import write_tables
from kvstudy.share.trace.provenance import cells_of
from kvstudy.study.cells import plan, shown
from kvstudy.study.controls import CEILING
from kvstudy.study.kinds import FIGURES, TABLES
from kvstudy.study.load import load_study

from . import small_results as small

ROOT = Path(__file__).parents[2]
STUDIES = sorted(ROOT.glob("config/studies/*/study.yaml"))
MORE = [
    {"name": "faster", "kind": "comparison", "baseline": "memcached", "store": "redis"},
    {"name": "places", "kind": "ranking", "lines": [{"title": "A", "workload": "a"}]},
    {"name": "only-redis", "kind": "store", "store": "redis"},
]


@pytest.fixture(scope="module")
def of():
    tables = small.study().model_dump()["tables"]
    selected = [table for table in tables if table["kind"] == "results"]
    return small.study(tables=selected + [{"caption": "C"} | table for table in MORE])


def written(of, folder: Path, faults: dict) -> dict[str, bytes]:
    folder.mkdir()
    cells = small.cells(faults)
    run = small.run(
        study=of,
        results=small.results(faults, source=False),
        analysis=small.analysis(faults),
        probes=small.probes(),
        environment={"components": [], "stores": {}},
        swept=small.swept(of),
        values=per_repetition(small.measurements(cells), cells, of.workload_names),
    )
    write_tables(run, folder)
    return {path.stem: path.read_bytes() for path in folder.glob("*.csv")}


def test_other_cells_make_no_difference_to_a_table(of, tmp_path):
    """Each table again with all cells gone that are not behind it."""
    whole = written(of, tmp_path / "whole", {})
    planned, one = plan(of), shown(of)
    # Tables that are made of the same cells are written together.
    names: dict[frozenset, list[str]] = {}
    for table in of.tables:
        inside = {tuple(path.split("/")[:2]) for path in cells_of(table, of, planned, one)}
        gone = frozenset(product(small.TITLES, ("a", "c"))) - inside
        names.setdefault(gone, []).append(table.name)
    for number, (gone, tables) in enumerate(names.items()):
        left_out = {(*key, n): ("not measured", "left out", "") for key in gone for n in (1, 2)}
        again = written(of, tmp_path / str(number), left_out)
        for name in tables:
            assert name == "operations" or again[name] == whole[name], name
    assert sum(len(tables) for gone, tables in names.items() if gone) > 2


@pytest.mark.parametrize("file", STUDIES, ids=lambda path: path.parent.name)
def test_all_tables_and_figures_of_all_studies_have_cells_behind_them(file, monkeypatch):
    monkeypatch.chdir(ROOT)
    study = load_study(file)
    planned, one = plan(study), shown(study)
    known = {cell.path for cell in planned}
    for part in [*study.tables, *study.figures]:
        cells = cells_of(part, study, planned, one)
        assert set(cells) <= known
        without = getattr(part, "kind", "") in ("properties", "audit", "audited", "operations")
        assert bool(cells) != without, part.name


def test_every_kind_is_in_some_study():
    """So the test before looks at all of them, but for those that no study has."""
    kinds = {*TABLES.for_studies, *FIGURES.for_studies}
    result = set()
    for file in STUDIES:
        study = load_study(file)
        result |= {part.kind for part in [*study.tables, *study.figures]}
    assert kinds - result <= {"comparison", "trimmed", "store", "time"}


def test_controls_are_behind_what_needs_them(of):
    planned, one = plan(of), shown(of)

    def stores(name: str) -> set[str]:
        (table,) = [table for table in of.tables if table.name == name]
        return {path.split("/")[0] for path in cells_of(table, of, planned, one)}

    assert stores("bottleneck") >= {CEILING.name}
    # Riak's cells show something of the spread of those two.
    assert stores("faster") == {"memcached", "redis", "redis-again", "riak"}
    assert stores("one") == {"redis", "riak", "memcached"}
