"""What the runs of a study say: statistics applied to its tidy tables."""

# The tables of a run's analysis; beside them it has drift.json.
TABLES = (
    *("intervals", "pairs", "percentiles", "spectrum", "boxes", "steadiness", "order", "floor"),
    *("bottleneck", "trimmed", "open_rates", "open_percentiles", "agreement", "validity", "rounds"),
)
