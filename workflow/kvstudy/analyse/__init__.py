"""From raw logs to what they say: tidy tables, statistics, verdicts on claims."""
