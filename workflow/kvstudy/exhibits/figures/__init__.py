"""The kinds of figures of a report, a module for each."""
