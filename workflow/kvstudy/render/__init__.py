"""Formats: LaTeX, HTML, Matplotlib, Vega-Lite. No module knows a kind of table or figure."""
