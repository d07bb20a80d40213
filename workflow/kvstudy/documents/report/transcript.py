"""The commands and the output of one cell, as a listing that fits a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from kvstudy.errors import DataError, InputError
from kvstudy.language.current import NN_, ngettext
from kvstudy.study.raw import command_sections

# Characters of a line; the listing's type size in report.tex.j2 is made for it.
COLUMNS = 114
# Most lines of one listing: what a page holds below its caption.
LINES = 72
STATUS_KEPT, LOG_KEPT = 1, 12
# What is said of lines that are not shown.
SOME_LINES = NN_("{} line omitted", "{} lines left out")
EQUAL_LINES = NN_("{} equal line omitted", "{} equal lines left out")
STATUS_LINES = NN_("{} status line omitted", "{} status lines left out")
SIDE_LINES = NN_(
    "{} line on garbage collection or clean-up omitted",
    "{} lines on garbage collection or clean-up left out",
)

# The folder in which the cell was measured, on whatever machine.
FOLDER = re.compile(r"(?:/[^\s'\"=:]+/)?results/[^\s'\"/]+/measuring(?:/[^\s'\"/]+){3}/rep\d+")
# YCSB's `-s`: "2024-04-30 12:00:01:123 1 sec: 4321 operations; ..."
STATUS = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[:.,]\d+ \d+ sec: ")
# YCSB's results that no table has.
SIDE = re.compile(r"^\[(?:TOTAL_GC[^\]]*|CLEANUP)\], ")


class TranscriptLine(NamedTuple):
    """One line of the listing.

    ``kind`` is command, output, note (ours), continued or more: the latter two
    go on with a command or an output line that was too long for one line.
    """

    kind: str
    text: str


def transcript(cell: Path, part: str) -> list[TranscriptLine]:
    """The listing of ``part`` (server, load or run) of the cell in the directory ``cell``.

    It has at most LINES lines: the middle goes, since commands and results are at the ends.
    """
    lines = _commands(cell, part)
    if part == "server":
        lines += wrapped(_without_middle(_output(cell / "server.log"), LOG_KEPT, LOG_KEPT))
        lines += _commands(cell, "stop")
    else:
        for stream in ("err", "out"):
            lines += wrapped(_thinned(_output(cell / f"{part}.{stream}")))
    return _without_middle(lines, LINES // 2, LINES - LINES // 2 - 1)


def _commands(cell: Path, part: str) -> list[TranscriptLine]:
    """The commands of a section of the cell's commands.sh."""
    path = cell / "commands.sh"
    commands = command_sections(_read(path)).get(part, [])
    lines = [shell_lines(command) for command in commands if not command.startswith("#")]
    if not lines:
        raise InputError(
            f"{path}: has no command below '# {part}'; measure the cell again, "
            "or remove the figure from the study"
        )
    return list(chain(*lines))


def shell_lines(command: str) -> list[TranscriptLine]:
    """``command`` broken so that it can still be pasted into a shell."""
    lines: list[str] = [""]
    for word in _words(command):
        room = COLUMNS - len("$ ") - len(" \\")
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines[-1] += " \\"
            lines.append("    " + word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
        while len(lines[-1]) > room + 1:
            # Only a line that starts at the margin continues a word.
            lines[-1:] = [lines[-1][:room] + "\\", lines[-1][room:]]
    return [
        TranscriptLine("continued" if place else "command", text)
        for place, text in enumerate(lines)
    ]


def _words(command: str) -> list[str]:
    """The words of ``command``, an option together with its value, quotes kept whole."""
    words: list[str] = []
    for word in re.findall(r"(?:'[^']*'|\"[^\"]*\"|\S)+", command):
        # Options of the Java virtual machine have no value behind them.
        option = words and re.match(r"-[^X ]\S*$", words[-1])
        words.append(f"{words.pop()} {word}" if option and not word.startswith("-") else word)
    return words


def wrapped(lines: Iterable[TranscriptLine]) -> list[TranscriptLine]:
    """Output wrapped at COLUMNS; the parts after the first are marked as such."""
    pieces: list[TranscriptLine] = []
    for line in lines:
        text = line.text.expandtabs(8).rstrip()
        pieces.append(TranscriptLine(line.kind, text[:COLUMNS]))
        rest, width = text[COLUMNS:], COLUMNS - 2
        pieces += [
            TranscriptLine("more", rest[start : start + width])
            for start in range(0, len(rest), width)
        ]
    return pieces


def _thinned(lines: list[TranscriptLine]) -> list[TranscriptLine]:
    """Without inner status lines, results that no table has and repeated lines; notes say so."""
    thin: list[TranscriptLine] = []
    for kind, group in groupby(lines, key=_kind):
        if kind is STATUS:
            thin += _without_middle([*group], STATUS_KEPT, STATUS_KEPT, STATUS_LINES)
            continue
        if kind is SIDE:
            thin += _without_middle([*group], 0, 0, SIDE_LINES)
            continue
        for line, same in groupby(group):
            thin.append(line)
            if times := len(list(same)) - 1:
                thin.append(_note(times, EQUAL_LINES))
    return thin


def _kind(line: TranscriptLine) -> re.Pattern[str] | None:
    return next((kind for kind in (STATUS, SIDE) if kind.match(line.text)), None)


def _without_middle(
    lines: list, first: int, last: int, words: tuple[str, str] = SOME_LINES
) -> list:
    """The ``first`` and the ``last`` lines, and a note on those between."""
    left_out = len(lines) - first - last
    if left_out < 2:
        return lines
    return [*lines[:first], _note(left_out, words), *lines[len(lines) - last :]]


def _note(number: int, words: tuple[str, str]) -> TranscriptLine:
    return TranscriptLine("note", f"[{ngettext(*words, number).format(number)}]")


def _output(path: Path) -> list[TranscriptLine]:
    return [TranscriptLine("output", text) for text in _read(path)]


def _read(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="backslashreplace")
        return FOLDER.sub("$CELL", text).splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; measure it again") from None
