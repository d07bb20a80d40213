"""What a reader takes out of a run: parts for a thesis of one's own, and the plain commands."""
