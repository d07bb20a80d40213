"""The words of a study: what is measured, as data."""
