"""How often Hypothesis tries, and that no test leaves figures open."""

import sys

import pytest
from hypothesis import settings

# The same examples everywhere, and no failure because a machine is busy.
settings.register_profile("kvstudy", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("kvstudy")


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    if drawing := sys.modules.get("matplotlib.pyplot"):
        drawing.close("all")
