"""The files that people read of runs: report, page, workbook, comparison, exports."""
