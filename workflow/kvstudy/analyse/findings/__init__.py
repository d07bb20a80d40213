"""What the runs of a study say: statistics applied to its tidy tables."""
