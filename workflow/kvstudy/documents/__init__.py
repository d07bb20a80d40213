"""What people read of runs: report, page, workbook, comparison, exported files."""
