"""The duration of a study before it is measured, and its progress."""
