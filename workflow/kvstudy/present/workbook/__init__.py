"""A run as a workbook for Excel and LibreOffice: ratios, averages, and every single run."""
