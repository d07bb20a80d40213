"""Consistency checks of a source's printed numbers: its tables, and its text against them."""
