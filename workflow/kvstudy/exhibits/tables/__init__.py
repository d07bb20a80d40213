"""The tables of the report, as CSV and as LaTeX."""
