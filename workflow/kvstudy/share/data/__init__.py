"""The data of a run for further questions: pandas frames, CSV and Parquet with a schema."""
