"""What people read: tables, figures, the report and the files beside it."""
