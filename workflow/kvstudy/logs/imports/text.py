"""The text of a file as its program printed it: encodings, and what terminals and loggers add."""

from __future__ import annotations

import codecs
import re

# What begins a file that has to be unpacked or saved as text first.
_PACKED = {
    b"\x1f\x8b": "is compressed (gzip); unpack it",
    b"PK\x03\x04": "is an archive or an office document; unpack it, or save it as text",
    b"BZh": "is compressed (bzip2); unpack it",
    b"\xfd7zXZ": "is compressed (xz); unpack it",
    b"\x28\xb5\x2f\xfd": "is compressed (zstd); unpack it",
    b"7z\xbc\xaf": "is an archive (7z); unpack it",
    b"%PDF": "is a PDF, which keeps no lines; give the text that it was made from",
    b"{\\rtf": "is RTF; save it as plain text",
}
# Terminals write blanks as steps to the right, and colours, titles and modes as sequences.
_STEPS = re.compile(r"\x1b\[(\d*)C")
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[P^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
_PLAIN = re.compile(rb"Command line: |\[OVERALL\]|YCSB Client| sec: \d+ operations")
_TAKEN_BACK = re.compile(r"[^\n\x08]\x08")
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")


def encoding_of(data: bytes) -> str | None:
    """Return the encoding of ``data``; None when it is no text. Without a mark it is UTF-8.

    PowerShell's ``>`` writes UTF-16 with a mark, some programs leave the mark out.
    """
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # A file that was emptied while a program wrote to it begins with zeros.
    head = data.lstrip(b"\0")[:4096] if data.startswith(b"\0\0") else data[:4096]
    if b"\0" not in head:
        return "utf-8"
    # Every second byte of plain letters is 0 in UTF-16.
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[first::2].count(0) > 0.9 * len(head[first::2]):
            return encoding
    return None


def decoded(data: bytes) -> str | None:
    """Return ``data`` as text with plain line ends; None when it is no text."""
    if (encoding := encoding_of(data)) is None:
        return None
    text = data.decode(encoding, errors="replace").strip("\0")
    # Some programs end lines with more than one carriage return.
    return re.sub(r"\r+\n|\r", "\n", text)


def packed(data: bytes) -> str | None:
    """Return how to get at the text of ``data`` where it has to be unpacked or converted first."""
    return next((remedy for magic, remedy in _PACKED.items() if data.startswith(magic)), None)


def is_mixed(data: bytes) -> bool:
    """Return whether ``data`` is UTF-16 with lines of YCSB in another encoding."""
    return encoding_of(data) not in (None, "utf-8", "utf-8-sig") and bool(_PLAIN.search(data))


def without_controls(text: str) -> str:
    """Return ``text`` without colours, cursor steps and what was deleted in a terminal."""
    if not _CONTROL.search(text):
        return text
    text = _STEPS.sub(lambda match: " " * int(match[1] or 1), text)
    text = _SEQUENCE.sub("", text)
    while _TAKEN_BACK.search(text):
        text = _TAKEN_BACK.sub("", text)
    return _CONTROL.sub("", text)
