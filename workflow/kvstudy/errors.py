"""The one exception that a user is meant to read."""


class KvstudyError(Exception):
    """A problem that the user can mend.

    The message names the file, key or cell, says what is wrong and what to do.
    The command line prints it without a traceback and exits with 1.
    """
