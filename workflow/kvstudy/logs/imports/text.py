"""Files as text, whichever program has written them."""

from __future__ import annotations

import codecs

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def encoding_of(data: bytes) -> str | None:
    """The encoding of ``data``; None when it is no text. What has no mark is taken for UTF-8.

    PowerShell's ``>`` writes UTF-16 with a mark, some programs leave the mark out.
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return encoding
    head = data[:4096]
    if b"\0" not in head:
        return "utf-8"
    # Every second byte of plain letters is 0 in UTF-16.
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[first::2].count(0) > 0.9 * len(head[first::2]):
            return encoding
    return None


def decoded(data: bytes) -> str | None:
    """``data`` as text with plain line ends; None when it is no text."""
    encoding = encoding_of(data)
    if encoding is None:
        return None
    text = data.decode(encoding, errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
