"""What a study's folder holds of its source: values, numbers of the text, claims, properties."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import suffix
from kvstudy.study.with_source import PUBLISHED, QUOTES

CLAIMS = "claims.yaml"
PROPERTIES = "properties.yaml"


@dataclass(frozen=True)
class Files:
    """Paths of the files; None for one that is not there."""

    values: Path | None
    quotes: Path | None
    claims: Path | None
    properties: Path | None

    @classmethod
    def beside(cls, study: Path) -> Files:
        """Those beside the study file; KvstudyError where nothing of a source is known."""
        paths = [study.with_name(name) for name in (PUBLISHED, QUOTES, CLAIMS, PROPERTIES)]
        found = cls(*(path if path.is_file() else None for path in paths))
        if not (found.values or found.quotes or found.claims):
            raise KvstudyError(
                f"{study.parent}: none of {PUBLISHED}, {QUOTES} and {CLAIMS} is there, so "
                "nothing of a source can be shown; add one of them, or use source=measured"
            )
        return found

    def found(self) -> list[str]:
        """The files that are there."""
        return [str(path) for path in astuple(self) if path]


def published_name(study: str, language: str) -> str:
    """What the run of the published values of ``study`` is called."""
    return f"{study}-published{suffix(language)}"
