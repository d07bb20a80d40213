# Tables, figures and text to the report.
