"""The report: text over the data, converted to LaTeX and built to a PDF."""
