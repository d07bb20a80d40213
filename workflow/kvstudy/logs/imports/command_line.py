"""The line that YCSB prints of how it was called: ``Command line: -db ... -P ... -p ... -t``."""

import re
from dataclasses import dataclass, field

# PowerShell writes its own prefix before a line of the standard error.
MARK = re.compile(r"^[^\n]*?\bCommand line: ", re.MULTILINE)
# What starts YCSB, as its launcher and scripts have it; and the launcher itself, which names
# the binding in place of its class. A line that begins with # is a comment.
_CALL = re.compile(r"^(?!\s*#)[^\n]*?\b(?:site|com\.yahoo)\.ycsb\.Client\s+(\S.*)$", re.MULTILINE)
LAUNCHER = re.compile(
    r"^(?!\s*#)(?:[^\n]*?[\s/\\])?ycsb(?:\.sh|\.bat)?\s+((?:load|run)\s+\S+\s+-\S.*)$", re.MULTILINE
)
# What a shell reads of a line: up to a redirection, a pipe or the next command, unless quoted.
_OF_SHELL = re.compile(r"""(?:[^"'|;&<>\\]|\\.|"[^"]*"|'[^']*')*""")
_VERSION = re.compile(r"^YCSB Client (\d\S*)", re.MULTILINE)
# What can follow the command line. PowerShell breaks it at the width of its window.
_AFTER = re.compile(r"^(YCSB Client|Loading workload|\+|\s*$|\S.*:\d+ \S+:\d+\s*$)")
_WITH_VALUE = {"-P", "-p", "-db", "-threads", "-target", "-l", "-cp", "-jvm-args"}
_FLAGS = {"-t", "-load", "-s"}


@dataclass
class CommandLine:
    """How YCSB was called.

    ``db`` is the class of the binding, or its name where YCSB's launcher was called.
    ``files`` are the workload files as they were given, on whatever system. ``properties``
    are those of -p, and the target rate; ``threads`` is None when YCSB's default (1) was left.
    """

    phase: str = "run"
    db: str = ""
    threads: int | None = None
    files: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)


def find_command(text: str) -> str | None:
    """YCSB's arguments as ``text`` (a log, or the script that made it) has them; None without."""
    mark = MARK.search(text)
    if mark is None:
        text = re.sub(r"\\\n\s*", " ", text)
        calls = next((found for each in (_CALL, LAUNCHER) if (found := each.findall(text))), [])
        return _without_shell(calls[0]) if len(calls) == 1 else None
    first, *rest = text[mark.end() :].splitlines() or [""]
    for line in rest:
        if _AFTER.match(line):
            break
        first += line
    return first.strip()


def _without_shell(line: str) -> str:
    read = _OF_SHELL.match(line)[0]
    # The 2 of 2>file is no argument.
    return (re.sub(r"\s\d$", "", read) if line[len(read) :][:1] in ("<", ">") else read).strip()


def ycsb_version(text: str) -> str:
    """The version that YCSB says of itself in ``text``; empty when it does not."""
    found = _VERSION.search(text)
    return found[1] if found else ""


def read_command(arguments: str) -> CommandLine:
    """What ``arguments`` say.

    YCSB prints them with blanks between and without quotes: a value goes on until
    the next option, so that it may have blanks itself. Backslashes are Windows's.
    """
    found = CommandLine()
    if launched := re.match(r"(load|run)\s+(\S+)", arguments):
        found.phase, found.db = launched.groups()
    for option, value in _options(arguments):
        if option == "-load":
            found.phase = "load"
        elif option == "-t":
            found.phase = "run"
        elif option == "-db":
            found.db = value
        elif option == "-threads":
            found.properties["threadcount"] = value
        elif option == "-target":
            found.properties["target"] = value
        elif option == "-P":
            found.files.append(value)
        elif option == "-p":
            name, _, text = value.partition("=")
            found.properties[name.strip()] = text.strip()
    if re.fullmatch(r"\d{1,9}", threads := found.properties.pop("threadcount", "")):
        found.threads = int(threads)
    found.db = found.db or found.properties.pop("db", "")
    return found


def _options(arguments: str) -> list[tuple[str, str]]:
    options: list[tuple[str, str]] = []
    for word in arguments.split():
        word = word.replace("'", "").replace('"', "")
        if word in _FLAGS or word in _WITH_VALUE:
            options.append((word, ""))
        elif word[:2] in ("-P", "-p") and len(word) > 2:
            # The launcher glues some values to their option.
            options.append((word[:2], word[2:]))
        elif options and options[-1][0] in _WITH_VALUE:
            option, value = options[-1]
            options[-1] = (option, f"{value} {word}".strip())
    return options
