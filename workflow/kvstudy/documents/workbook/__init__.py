"""A run as a workbook for Excel and LibreOffice: the tables of its report, and every run."""
