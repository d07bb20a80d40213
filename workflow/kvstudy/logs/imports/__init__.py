"""Logs that others measured, as the raw cells of a run."""
