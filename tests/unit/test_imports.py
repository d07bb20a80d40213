"""The package's modules import what there is, and never one another in circles."""

import importlib.util
from graphlib import CycleError, TopologicalSorter

from tests.import_graph import MODULES, graph, names_in, tree_of
from tests.project import ROOT

NOTEBOOK = ROOT / "workflow/notebooks/analysis.ipynb"


def test_all_that_is_imported_is_there():
    """Also what is imported inside functions, and by the notebook, which runs last of all."""
    files = [*MODULES.values(), NOTEBOOK]
    imported = {one for path in files for one in names_in(tree_of(path))}
    assert len(imported) > 400
    missing = [
        f"{module}: {name}"
        for module, name in sorted(imported)
        if not hasattr(importlib.import_module(module), name)
        and importlib.util.find_spec(f"{module}.{name}") is None
    ]
    assert not missing


def test_no_modules_import_one_another_in_circles():
    imports = graph()
    circle = []
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == []


def test_the_analysis_writes_codes_and_no_sentences():
    """What is analysed, judged and audited becomes a text in ``exhibits`` and later."""
    writers = {"_", "ngettext", "pgettext", "sentence", "decimal", "decimal_mark"}
    sentences = {
        module
        for module, path in MODULES.items()
        if module.startswith(("kvstudy.analyse.", "kvstudy.stats."))
        and writers & {name for _, name in names_in(tree_of(path))}
    }
    assert sentences == set()
