"""Tables and figures of a run: their rows, and what is shown of them, in no format."""
