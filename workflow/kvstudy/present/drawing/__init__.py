"""The figures of the report, as PDF, SVG and CSV."""
