"""The exceptions that a user is meant to read."""

import re

# Values of any length stand in messages; nobody reads more of one than this.
LONGEST_LINE, MOST_LINES = 1500, 100
# What moves the cursor of a terminal, or cannot be written to a file.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class KvstudyError(Exception):
    """A problem that the user can mend.

    The message names the file, key or cell, says what is wrong and what to do.
    The command line prints it without a traceback and exits with 1.
    """

    def __init__(self, message: str = "") -> None:
        lines = message.split("\n", MOST_LINES)
        if len(lines) > MOST_LINES:
            lines[MOST_LINES] = f"... and {lines[MOST_LINES].count(chr(10)) + 1} lines more"
        # The file stands at the start, the remedy at the end.
        half = LONGEST_LINE // 2
        text = "\n".join(
            line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"
            for line in lines
        )
        super().__init__(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


class RunError(KvstudyError):
    """A problem that every cell of the run would meet: the first one ends the run."""
