"""One thing that was looked at on the machine, and what it does to measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvstudy.language.current import N_

NOT_VISIBLE = N_("not visible")


@dataclass(frozen=True)
class Finding:
    """What was looked at (``key``, ``title``), what was found, and what follows from it.

    ``good`` is None when nothing could be read. ``consequence`` is a sentence,
    empty when the finding is good. ``number`` puts values that change in order.
    """

    key: str
    title: str
    value: str
    good: bool | None
    consequence: str = ""
    number: float | None = None


def judged(
    key: str, title: str, value: str, consequence: str, good: bool, number: float | None = None
) -> Finding:
    """A finding whose ``consequence`` holds only if it is not good."""
    return Finding(key, title, value, good, "" if good else consequence, number)


def hidden(key: str, title: str, consequence: str) -> Finding:
    """What cannot be read is said so, never guessed."""
    return Finding(key, title, NOT_VISIBLE, None, consequence)


@dataclass(frozen=True)
class Mount:
    """Where a file system is mounted; ``numbers`` are those of its device, such as ``8:1``."""

    place: str
    numbers: str
    system: str
    options: tuple[str, ...]


class Tree:
    """The files below ``root`` by which the kernel tells of the machine; tests have their own."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def text(self, name: str) -> str | None:
        """The file's text without spaces around it; None when it cannot be read."""
        try:
            return (self.root / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """The whole number that the file holds; None when it holds none."""
        try:
            return int(self.text(name) or "")
        except ValueError:
            return None

    def names(self, pattern: str) -> list[str]:
        """Names of the files that fit the pattern, as ``text`` takes them."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern))

    def is_folder(self, name: str) -> bool:
        return (self.root / name).is_dir()

    def values(self, pattern: str) -> list[str]:
        """The different texts of all files that fit the pattern, sorted."""
        return sorted({text for name in self.names(pattern) if (text := self.text(name))})

    def mounts(self) -> list[Mount]:
        """All mounts in the order in which they were made."""
        found = []
        for line in (self.text("proc/self/mountinfo") or "").splitlines():
            before, _, after = line.partition(" - ")
            places, kinds = before.split(), after.split()
            if len(places) > 4 and len(kinds) > 2:
                options = tuple(kinds[-1].split(","))
                place = places[4].replace("\\040", " ")
                found.append(Mount(place, places[2], kinds[0], options))
        return found

    def fields(self, name: str) -> dict[str, str]:
        """``key: value`` lines, the first of each key."""
        found: dict[str, str] = {}
        for line in (self.text(name) or "").splitlines():
            key, colon, value = line.partition(":")
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found
