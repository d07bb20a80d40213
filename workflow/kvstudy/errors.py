"""The exceptions that a user reads, by who can mend them.

Any other exception is a fault of kvstudy itself (exit status ``INTERNAL``).
"""

import re

# Messages may quote values of any length; longer ones are shortened.
LONGEST_LINE, MOST_LINES = 1500, 100
# Characters that move a terminal's cursor or cannot be encoded.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


# Exit status of an unexpected exception, as in BSD's sysexits.h.
INTERNAL = 70


class KvstudyError(Exception):
    """A problem to report; code raises one of the types below.

    The message names the file, key or cell, what is wrong, and the remedy. The command line
    prints it without a traceback and exits with ``status``.
    """

    status = 1

    def __init__(self, message: str = "") -> None:
        lines = message.split("\n", MOST_LINES)
        if len(lines) > MOST_LINES:
            lines[MOST_LINES] = f"... and {lines[MOST_LINES].count(chr(10)) + 1} lines more"
        # A message begins with the file and ends with the remedy.
        half = LONGEST_LINE // 2
        text = "\n".join(
            line if len(line) <= LONGEST_LINE else f"{line[:half]} ... {line[-half:]}"
            for line in lines
        )
        super().__init__(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


class InputError(KvstudyError):
    """Wrong input: an argument, the configuration, a study, a claim, or a file to import."""

    # As click's for wrong arguments.
    status = 2


class EnvironmentFault(KvstudyError):
    """Something around kvstudy is missing or fails: a program, a server, a host, the disk."""

    status = 3


class RunError(EnvironmentFault):
    """A fault that every cell of the run would meet: the first one ends the run."""


class InvalidMeasurement(KvstudyError):
    """A measurement that was made and cannot count."""

    status = 4


class DataError(KvstudyError):
    """A log, a table or an archive that is missing, damaged, or contradicts itself."""

    status = 5
