"""A run as a workbook for Excel and LibreOffice: averages, and every single run."""
