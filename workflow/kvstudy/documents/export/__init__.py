"""Exports of a run: parts for a thesis, and shell commands."""
