"""``kvstudy translate``: the catalogues of a language, what they must hold and what is missing."""

import io
import re
from collections.abc import Iterable
from pathlib import Path

import click
from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from kvstudy.analyse.claims.file import load_claims
from kvstudy.errors import KvstudyError
from kvstudy.language.current import FOLDER
from kvstudy.language.locale import collecting
from kvstudy.stores.definition import load_store
from kvstudy.study.load import STORES, STUDIES, load_study
from kvstudy.study.properties import StoreProperties, published_properties
from kvstudy.study.published import QUOTES
from kvstudy.study.quotes import Quotes
from kvstudy.study.reading import read_yaml

PACKAGE = FOLDER.parent
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2), "NN_": (1, 2), "pgettext": ((1, "c"), 2)}
WIDTH = 96
# Babel writes the time of the writing, and names that nobody filled in; the same texts give
# the same file.
HEADER = re.compile(
    r'^"(Project-Id-Version|Report-Msgid-Bugs-To|POT-Creation-Date|PO-Revision-Date'
    r"|Last-Translator|Language-Team|Generated-By): .*\n",
    re.M,
)


@click.command("translate")
@click.argument("language")
@click.option("--check", is_flag=True, help="Only say what is missing; the status is then 1.")
def command(language: str, check: bool) -> None:
    """Bring the catalogues of LANGUAGE (a code, for example cs) up to date with the texts.

    Adds texts that are new, marks translations of changed texts as fuzzy, and drops those of
    texts that are gone. A language that there is not yet gets new catalogues. Lists what is
    left to translate.
    """
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        raise KvstudyError(
            f"{language}: not the code of a language; give one such as cs, de or sk"
        ) from None
    if not check:
        for path in update(language):
            click.echo(path)
    left = problems(language)
    for line in left:
        click.echo(line)
    if check and left:
        raise SystemExit(1)


def wanted() -> dict[Path, Catalog]:
    """What the catalogues of a language must hold, by their folders.

    One is the package's; each store has one beside store.yaml, and so have the studies whose
    report is translated: those with a catalogue of any language.
    """
    found = {FOLDER: package_texts()}
    for file in sorted(STORES.glob("*/store.yaml")):
        found[file.parent] = _catalogue(texts_of_store(file.parent))
    for folder in sorted({path.parent for path in STUDIES.glob("*/*.po")}):
        found[folder] = _catalogue(texts_of_study(folder))
    return {folder: each for folder, each in found.items() if len(each)}


def package_texts() -> Catalog:
    """The texts that stand in the code."""
    found = Catalog()
    for _file, _line, message, _comments, context in extract_from_dir(
        str(PACKAGE), keywords=KEYWORDS, method_map=[("**.py", "python")]
    ):
        found.add(message, context=context)
    return found


def texts_of_store(folder: Path) -> list[str]:
    """The texts of store.yaml and properties.yaml."""
    with collecting() as found:
        load_store(folder)
        if (folder / "properties.yaml").is_file():
            read_yaml(folder / "properties.yaml", StoreProperties)
    return list(found)


def texts_of_study(folder: Path) -> list[str]:
    """The texts of study.yaml, claims.yaml, quotes.yaml and properties.yaml."""
    files = [folder / "study.yaml"]
    with collecting() as found:
        study = load_study(folder / "study.yaml")
        if (folder / "claims.yaml").is_file():
            load_claims(folder / "claims.yaml", study)
            files.append(folder / "claims.yaml")
        if (folder / QUOTES).is_file():
            read_yaml(folder / QUOTES, Quotes)
            files.append(folder / QUOTES)
        if published_properties(study):
            files.append(folder / "properties.yaml")
    # Titles and captions that the study does not give itself are in the package's catalogue.
    own = " ".join(" ".join(file.read_text(encoding="utf-8").split()) for file in files)
    return [text for text in found if " ".join(text.split()) in own]


def problems(language: str) -> list[str]:
    """What is wrong with the catalogues of ``language``: one line each, with the file."""
    lines = []
    for folder, texts in wanted().items():
        path = folder / f"{language}.po"
        if not path.is_file():
            lines.append(f"{path}: is missing, with {len(texts)} texts")
            continue
        there = _read(path, language)
        for message in texts:
            found = there.get(message.id, message.context) if message.id else None
            shown = message.id if isinstance(message.id, str) else message.id[0]
            if not message.id:
                continue
            if found is None:
                lines.append(f"{path}: has no entry for: {shown}")
            elif found.fuzzy:
                lines.append(f"{path}: fuzzy, look at it: {shown}")
            elif not found.string or (not isinstance(found.string, str) and not all(found.string)):
                lines.append(f"{path}: not translated: {shown}")
            elif _places(message.id) != _places(found.string):
                lines.append(f"{path}: other places to fill in ({{}}) than: {shown}")
        for message in there:
            if message.id and texts.get(message.id, message.context) is None:
                shown = message.id if isinstance(message.id, str) else message.id[0]
                lines.append(f"{path}: no text of kvstudy any more: {shown}")
    return lines


def update(language: str) -> list[Path]:
    """Add what is missing to the catalogues of ``language``, and drop what is stale.

    A text that changed a little keeps its translation, marked fuzzy. A new language gets
    new files. Returns the files.
    """
    written = []
    for folder, texts in wanted().items():
        path = folder / f"{language}.po"
        there = _read(path, language) if path.is_file() else Catalog(locale=language)
        there.update(texts, update_header_comment=False)
        there.obsolete.clear()
        there.fuzzy = False
        name = "kvstudy" if folder == FOLDER else folder.as_posix()
        there.header_comment = f"# Translations of the texts of {name}."
        text = io.BytesIO()
        write_po(text, there, width=WIDTH, no_location=True)
        path.write_text(HEADER.sub("", text.getvalue().decode()), encoding="utf-8")
        written.append(path)
    return written


def _places(text: str | Iterable[str]) -> int | set[int]:
    """How many places a text has to fill in; the forms of a plural may leave out the number."""
    if isinstance(text, str):
        return len(re.findall(r"\{[^}]*\}", text))
    return max(_places(each) for each in text)


def _read(path: Path, language: str) -> Catalog:
    try:
        with path.open("rb") as file:
            return read_po(file, locale=language, abort_invalid=True)
    except ValueError as error:
        raise KvstudyError(f"{path}: not a catalogue: {error}; mend that line") from None


def _catalogue(texts: Iterable[str]) -> Catalog:
    found = Catalog()
    for text in texts:
        found.add(text)
    return found
