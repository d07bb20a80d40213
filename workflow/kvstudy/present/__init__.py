"""Outputs for people: tables, figures, the report and related files."""
