"""The review of an archive: its comparisons measured again on another machine, in minutes."""
