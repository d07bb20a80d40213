import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

from kvstudy.analyse.claims.file import load_claims
from kvstudy.errors import InputError
from kvstudy.language.current import FOLDER, forms_of, read_po_file
from kvstudy.language.locale import collecting
from kvstudy.stores.definition import load_store
from kvstudy.study.bibliography import TEXTS
from kvstudy.study.load import STORES, STUDIES, load_study
from kvstudy.study.properties import StoreProperties, published_properties
from kvstudy.study.published import CLAIMS, PROPERTIES, QUOTES, sibling_file
from kvstudy.study.quotes import Quotes
from kvstudy.study.reading import read_yaml

PACKAGE = FOLDER.parent
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2), "NN_": (1, 2), "pgettext": ((1, "c"), 2)}
# In a template, the tag trans is a call of gettext or ngettext.
TAGS = {"gettext": None, "_": None, "ngettext": (1, 2)}
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
@click.option(
    "--check",
    is_flag=True,
    help="Only list missing translations; the exit status is 1 if there are any.",
)
def translate(language: str, check: bool) -> None:
    """Update the message catalogues of LANGUAGE (a language code such as cs).

    Adds new texts, marks translations of changed texts as 'fuzzy' (to be reviewed), and
    removes obsolete ones. A new language gets new catalogues. Lists the texts that need
    translation.
    """
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        raise InputError(
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
    """Return the texts that the catalogues of a language need, by folder.

    One is the package's, one the report's; each store has one next to store.yaml, and so have
    the studies whose report is translated: those with a catalogue of any language.
    """
    stores = sorted(path.parent for path in STORES.glob("*/store.yaml"))
    studies = sorted({path.parent for path in STUDIES.glob("*/*.po")})
    texts = {folder: _texts_of_store(folder) for folder in stores}
    texts |= {folder: _texts_of_study(folder / "study.yaml") for folder in studies}
    catalogues = {FOLDER: package_texts(), TEXTS: report_texts()}
    for folder in filter(texts.get, texts):
        catalogues[folder] = Catalog()
        for text in texts[folder]:
            catalogues[folder].add(text)
    return catalogues


def package_texts() -> Catalog:
    """The texts that are in the code."""
    catalogue = Catalog()
    for _file, _line, message, _comments, context in extract_from_dir(
        str(PACKAGE), keywords=KEYWORDS, method_map=[("**.py", "python")]
    ):
        catalogue.add(message, context=context)
    return catalogue


def report_texts() -> Catalog:
    """Return the sentences of the report's templates, with the names of these."""
    catalogue = Catalog()
    options = {"newstyle_gettext": "true", "trimmed": "true", "silent": "false"}
    for file, line, message, comments, context in extract_from_dir(
        str(TEXTS),
        keywords=TAGS,
        method_map=[("**.j2", "jinja2.ext:babel_extract")],
        options_map={"**.j2": options},
        comment_tags=["translators:"],
        strip_comment_tags=True,
    ):
        catalogue.add(message, None, [(file, line)], auto_comments=comments, context=context)
    return catalogue


def _texts_of_store(folder: Path) -> Iterable[str]:
    with collecting() as texts:
        load_store(folder)
        if (folder / PROPERTIES).is_file():
            read_yaml(folder / PROPERTIES, StoreProperties)
    return texts


def _texts_of_study(path: Path) -> list[str]:
    claims, quotes, properties = (sibling_file(path, name) for name in (CLAIMS, QUOTES, PROPERTIES))
    with collecting() as texts:
        study = load_study(path)
        if claims:
            load_claims(claims, study)
        if quotes:
            read_yaml(quotes, Quotes)
        published_properties(study)
    # Titles and captions that the study does not give itself are in the package's catalogue.
    files = filter(None, (path, claims, quotes, properties))
    document = " ".join(" ".join(file.read_text(encoding="utf-8").split()) for file in files)
    return [text for text in texts if " ".join(text.split()) in document]


def problems(language: str) -> list[str]:
    """Return the problems of the catalogues of ``language``, one line each, with the file."""
    lines = []
    for folder, texts in wanted().items():
        path = folder / f"{language}.po"
        if not path.is_file():
            lines.append(f"{path}: is missing, with {len(texts)} texts")
            continue
        current = read_po_file(path, language)
        current.update(texts, no_fuzzy_matching=True)
        wrong = [(message, _problem(message)) for message in current]
        wrong += [(message, "no text of kvstudy any more") for message in current.obsolete.values()]
        for message, problem in wrong:
            # The head of a catalogue has no id.
            if message.id and problem:
                lines.append(f"{path}: {problem}: {forms_of(message.id)[0]}")
    return lines


def _problem(message: Message) -> str:
    if message.fuzzy:
        return "fuzzy, look at it"
    if not message.string or not all(forms_of(message.string)):
        return "not translated"
    differ = _places(message.id) != _places(message.string)
    return "other places to fill in ({}) than" if differ else ""


def update(language: str) -> list[Path]:
    """Add what is missing to the catalogues of ``language``, and drop what is stale.

    A text that changed a little keeps its translation, marked fuzzy. A new language gets
    new files. Returns the files.
    """
    written = []
    for folder, texts in wanted().items():
        path = folder / f"{language}.po"
        current = read_po_file(path, language) if path.is_file() else Catalog(locale=language)
        current.update(texts, update_header_comment=False)
        current.obsolete.clear()
        current.fuzzy = False
        name = "kvstudy" if folder == FOLDER else folder.as_posix()
        current.header_comment = f"# Translations of the texts of {name}."
        text = io.BytesIO()
        write_po(text, current, width=WIDTH, include_lineno=False)
        path.write_text(HEADER.sub("", text.getvalue().decode()), encoding="utf-8")
        written.append(path)
    return written


def _places(text: str | Sequence[str]) -> tuple[int, set[str]]:
    """Return number and names of the placeholders in a text; plural forms may omit some."""
    forms = forms_of(text)
    names = {name for form in forms for name in re.findall(r"%\((\w+)\)s", form)}
    return max(len(re.findall(r"\{[^}]*\}", form)) for form in forms), names
