"""From raw logs to tidy data."""
