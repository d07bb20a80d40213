"""Shell lines with variables where they name the places of one machine."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)
# What bash still reads between double quotes.
READ_IN_QUOTES = re.compile(r'([\\"$`])')


@dataclass(frozen=True)
class Places:
    """What stands for what: ``folders`` text for text, ``ports`` whole numbers, as ``$NAME``."""

    folders: dict[str, str]
    ports: dict[int, str]

    def line(self, line: str, with_ports: bool = True) -> str:
        """A line of words, as ``shlex.join`` makes it, with > and & between them."""
        words = shlex.split(line)
        shown: list[str] = []
        for word in words:
            assigned = ASSIGNMENT.fullmatch(word)
            if word in (">", "&"):
                shown.append(word)
            elif assigned and all("=" in before for before in shown):
                # Before the command: its name must stand outside of the quotes.
                shown.append(f"{assigned[1]}={self.word(assigned[2], with_ports)}")
            else:
                shown.append(self.word(word, with_ports))
        return " ".join(shown)

    def word(self, word: str, with_ports: bool = True) -> str:
        """One word, quoted where bash needs it."""
        parts = [re.escape(text) for text in sorted(self.folders, key=len, reverse=True)]
        if with_ports:
            parts += [rf"(?<![\w.]){number}(?!\w)" for number in self.ports]
        if not parts or not (found := list(re.finditer("|".join(parts), word))):
            return shlex.quote(word)
        text, end = "", 0
        for match in found:
            text += _between_quotes(word[end : match.start()]) + self._name(match[0])
            end = match.end()
        return f'"{text}{_between_quotes(word[end:])}"'

    def _name(self, text: str) -> str:
        return self.folders[text] if text in self.folders else self.ports[int(text)]


def _between_quotes(text: str) -> str:
    return READ_IN_QUOTES.sub(r"\\\1", text)
