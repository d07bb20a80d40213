"""Measure key-value stores with YCSB and turn the logs into a report.

For scripts and notebooks: ``kvstudy.load(run)``, see ``kvstudy.share.data.frames``.
"""

import gc
import importlib

__version__ = "0.1.0"

# Our processes are short and keep most of what they make: looking for cycles among it after every
# 700 objects, as Python does, takes a tenth of their time.
gc.set_threshold(100_000)


def __getattr__(name: str) -> object:
    # Steps of the pipeline ask for the version alone; pandas takes longer than most of them.
    if name == "load":
        return importlib.import_module("kvstudy.share.data.frames").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
