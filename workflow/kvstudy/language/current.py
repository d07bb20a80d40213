"""The language that this process writes in, and its translations.

English is in the code and in the studies; a further language is a catalogue
``<language>.po`` in this folder, and one next to each study and store.
"""

import contextlib
import gettext
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from kvstudy.errors import InputError

FOLDER = Path(__file__).parent
# The language of the texts themselves; it has no catalogue.
ORIGINAL = "en"

_language = ORIGINAL


def languages() -> list[str]:
    """Codes of the languages that there are, English among them."""
    return sorted([ORIGINAL, *(path.stem for path in FOLDER.glob("*.po"))])


def check_language(language: str, where: str) -> str:
    """``language``; InputError, which begins with ``where``, for one that there is not."""
    if language not in languages():
        raise InputError(
            f"{where}: unknown language '{language}'; there are {', '.join(languages())}, and "
            "CONTRIBUTING.md shows how to add one"
        )
    return language


def use(language: str) -> None:
    """From now on this process writes ``language``; InputError for an unknown one."""
    global _language
    _language = check_language(language, "--language")


@contextlib.contextmanager
def using(language: str) -> Iterator[None]:
    """Write ``language`` within the block."""
    before = _language
    use(language)
    try:
        yield
    finally:
        use(before)


def current() -> str:
    """The code of the language, for example cs."""
    return _language


def subfolder(language: str) -> str:
    """Return the subfolder of a run for texts in another language, such as ``/cs``."""
    return "" if language == ORIGINAL else f"/{language}"


def suffix(language: str) -> str:
    """Return the suffix of a report's name in another language, such as ``-cs``."""
    return "" if language == ORIGINAL else f"-{language}"


def _(text: str) -> str:
    """``text`` in the current language."""
    # An empty one would be the head of the catalogue.
    return _own().gettext(text) if text else text


def pgettext(context: str, text: str) -> str:
    """As ``_``, for a word that has several translations; ``context`` shows which."""
    return _own().pgettext(context, text)


def ngettext(one: str, several: str, number: int) -> str:
    """The form that belongs to ``number``; English has two, other languages may have more."""
    return _own().ngettext(one, several, number)


def N_(text: str) -> str:
    """``text`` as it is, marked for the catalogue: it is translated where it is shown."""
    return text


def NN_(one: str, several: str) -> tuple[str, str]:
    """As ``N_``, for the two forms of ``ngettext``."""
    return one, several


def catalogues() -> list[gettext.NullTranslations]:
    """The catalogues of the current language that were read so far; the package's comes first."""
    read = [catalogue for path, catalogue in _READ.items() if path.stem == _language]
    return [*dict.fromkeys([_own(), *read])]


def _own() -> gettext.NullTranslations:
    if _language == ORIGINAL:
        return _ENGLISH
    return read_catalogue(FOLDER / f"{_language}.po")


def read_catalogue(path: Path) -> gettext.NullTranslations:
    """The translations in a .po file but fuzzy and empty ones; English where there is no file.

    InputError for a file that is not a catalogue.
    """
    if path not in _READ:
        if not path.is_file():
            return _ENGLISH
        from babel.messages.mofile import write_mo

        compiled = io.BytesIO()
        write_mo(compiled, read_po_file(path, path.stem))
        compiled.seek(0)
        _READ[path] = gettext.GNUTranslations(compiled)
    return _READ[path]


def read_po_file(path: Path, language: str):
    """Babel's catalogue of all entries of a .po file; InputError for a file that is none."""
    # Only other languages than English need the library, which takes a while to load.
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            return read_po(file, locale=language, abort_invalid=True)
    except (PoFileError, ValueError, OSError) as error:
        raise InputError(f"{path}: not a catalogue: {error}; mend that line") from None


def translation_note(language: str, *folders: Path) -> str:
    """Return what to say of a translation that has only begun; "" of a complete one.

    ``folders`` are those of the catalogues.
    """
    paths = [folder / f"{language}.po" for folder in folders]
    catalogues = [read_po_file(path, language) for path in paths if path.is_file()]
    messages = [message for catalogue in catalogues for message in catalogue if message.id]
    left = sum(message.fuzzy or not all(forms_of(message.string)) for message in messages)
    if not left:
        return ""
    return (
        f"{language}: {left} of {len(messages)} texts are not translated yet and stay English; "
        f"'kvstudy translate {language} --check' lists them"
    )


def forms_of(text: str | Sequence[str]) -> Sequence[str]:
    """Return the forms of a text: one, or those of a plural."""
    return [text] if isinstance(text, str) else text


_READ: dict[Path, gettext.NullTranslations] = {}
_ENGLISH = gettext.NullTranslations()
