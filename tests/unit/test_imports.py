import importlib.util
import re

from tests.project import ROOT

IMPORT = re.compile(r'^[ "]*from (kvstudy[\w.]*) import (\w+)', re.M)


def test_all_that_is_imported_is_there():
    """Also what is imported inside functions, and by the notebook, which runs last of all."""
    files = [*ROOT.glob("workflow/kvstudy/**/*.py"), ROOT / "workflow/notebooks/analysis.ipynb"]
    imported = {line for path in files for line in IMPORT.findall(path.read_text())}
    assert len(imported) > 400
    missing = [
        f"{module}: {name}"
        for module, name in sorted(imported)
        if not hasattr(importlib.import_module(module), name)
        and importlib.util.find_spec(f"{module}.{name}") is None
    ]
    assert not missing
