"""Measure key-value stores with YCSB and turn the logs into a report."""

__version__ = "0.1.0"
