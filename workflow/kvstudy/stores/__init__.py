"""The systems under test and how their servers come to run."""
