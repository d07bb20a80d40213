"""Measure key-value stores with YCSB and turn the logs into a report."""

import gc

__version__ = "0.1.0"

# Our processes are short and keep most of what they make: looking for cycles among it after every
# 700 objects, as Python does, takes a tenth of their time.
gc.set_threshold(100_000)
