"""What the runs of a study say: statistics applied to its tidy tables.

Each module named here has a ``TABLE``, and ``make(run, made)`` gives its rows: ``run`` is the
``analyse.run.Run``, ``made`` has the tables that stand before it in the list.
"""

# The tables of a run's analysis; beside them it has drift.json.
TABLES = (
    *("intervals", "floor", "pairs", "percentiles", "spectrum", "boxes", "steadiness", "order"),
    *("bottleneck", "trimmed", "open_rates", "open_percentiles", "agreement", "validity", "rounds"),
)
