"""Text and values as the report's Markdown has them: escaped, grouped, with units."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import jinja2
from jinja2.ext import InternationalizationExtension

from kvstudy.analyse.run import Run
from kvstudy.documents.report.transcript import TranscriptLine
from kvstudy.errors import DataError
from kvstudy.exhibits.claim_words import runs_words
from kvstudy.language.current import _, current, ngettext, pgettext, read_catalogue
from kvstudy.language.locale import decimal, list_of, long_date
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import change, grouped, latency, rate, share, whole
from kvstudy.render import templates
from kvstudy.render.latex import breakable
from kvstudy.study.bibliography import TEXTS
from kvstudy.study.exhibits import AnyFigure, AnyTable, Exhibit

NARROW = "\N{NARROW NO-BREAK SPACE}"


class Markup(str):
    """Text that already is Markdown; escaping leaves it alone."""

    __slots__ = ()


# Pandoc lets every ASCII symbol be escaped, so all of them are: no list of
# "special" ones to keep in step with pandoc's extensions.
_SYMBOL = re.compile(r"([!-/:-@\[-`{-~])")
# Of a section's heading.
_LABEL = re.compile(r"^#+ .*\{#([\w-]+)", re.M)


def for_markdown(text: str) -> Markup:
    """``text`` on one line, meaning only itself in Markdown.

    Long words (paths in a reason, say) get places to break, so that no string
    from the data runs over the margin.
    """
    if isinstance(text, Markup):
        return text
    # Not at no-break spaces, as split() does: they hold the groups of a number together.
    words = [breakable(word) for word in re.split(r"[ \t\r\n]+", text.strip(" \t\r\n"))]
    return Markup(_SYMBOL.sub(r"\\\1", " ".join(words)))


def code(text: str) -> Markup:
    """``text`` as code in running Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return Markup(f"{fence} {text} {fence}")


def command(words: Iterable[str]) -> Markup:
    """The ``words`` of a command as code, which may be broken between and in them."""
    # Behind the hyphens of an option nobody would look for its name.
    parts = (re.fullmatch("(-*)(.*)", word or "''", re.S).groups() for word in words)
    return Markup(" ".join(code(hyphens + breakable(rest, longest=8)) for hyphens, rest in parts))


def listed(items: Iterable[str]) -> Markup:
    """``a``, ``a and b``, ``a, b and c``."""
    texts = [for_markdown(item) for item in items]
    if not texts:
        raise ValueError("an empty list; ask for its length before")
    return Markup(list_of(texts))


def as_time(moment: datetime) -> Markup:
    """``20 November 2026, 19:46 (UTC)``."""
    zone = f" ({moment.tzname()})" if moment.tzinfo else ""
    return Markup(f"{long_date(moment)}, {moment:%H:%M}{zone}")


def plain(value: float) -> Markup:
    """``value`` with three significant digits."""
    return Markup(rate(value))


def with_unit(number: object, unit: str) -> Markup:
    return Markup(f"{number}{NARROW}{unit}")


def as_kops(value: float) -> Markup:
    """A throughput in ops/s, with its unit."""
    return with_unit(plain(value * 1e-3), "kops/s")


def as_range(low: float, high: float) -> Markup:
    """From one throughput to another."""
    return Markup(f"{plain(low * 1e-3)}\N{EN DASH}{as_kops(high)}")


def as_duration(seconds: float) -> Markup:
    """Seconds as seconds, minutes or hours and minutes."""
    if seconds < 100:
        return with_unit(plain(seconds), "s")
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours * 60 + minutes < 100:
        return with_unit(hours * 60 + minutes, "min")
    return Markup(f"{with_unit(hours, 'h')} {with_unit(minutes, 'min')}")


FILTERS = {
    "md": Markup,
    "code": code,
    "command": command,
    "listed": listed,
    # Each number once, in order: ``1, 2 and 4``.
    "numbers": lambda values: listed(map(whole, sorted(set(values)))),
    "significant": plain,
    "as_kops": as_kops,
    "as_latency": lambda value: Markup(latency(value)),
    "as_range": as_range,
    "as_percent": lambda share: Markup(decimal(f"{share * 100:.4g}{NARROW}%")),
    # Of a measured share.
    "as_rough_percent": lambda share: Markup(decimal(f"{share * 100:.1f}{NARROW}%")),
    # Of one that may be 0 or very small.
    "as_share": lambda value: Markup(share(value).replace(" ", NARROW)),
    "bytes": lambda count: with_unit(whole(count), ngettext("bytes", "bytes", round(count))),
    "as_duration": as_duration,
    "as_time": as_time,
    "rho": lambda value: Markup(decimal(f"{value:.2f}".replace("-", "\N{MINUS SIGN}"))),
    # The smallest only as a bound.
    "p_value": lambda value: Markup(decimal("< 0.01" if value < 0.01 else f"{value:.2f}")),
    "change": change,
    # Of a pair of stores that is undecided.
    "runs_words": lambda pair: runs_words(int(pair.n), pair.would_decide),
    # Whose page it is; the whole address is the link's.
    "host": lambda url: urlsplit(url).netloc.removeprefix("www."),
    "shortest": lambda value: Markup(decimal(f"{value:g}")),
    # As a command takes it, whatever the language.
    "plain": lambda value: Markup(f"{value:g}"),
    "translated": sentence,
}


class Sentences(InternationalizationExtension):
    """The tag ``trans`` of the report's templates: a sentence in the reader's language.

    Translations are in the catalogue next to the templates. A sentence is Markdown; values in
    it are written as elsewhere. The line behind it ends, unlike that behind other tags.
    """

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        environment.newstyle_gettext = True
        environment.policies["ext.i18n.trimmed"] = True
        environment.globals |= {"gettext": _gettext, "ngettext": _ngettext}

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return source.replace("{% endtrans %}\n", "{% endtrans +%}\n")


def _gettext(text: str, **values: object) -> Markup:
    return _filled(_catalogue().gettext(text), values)


def _ngettext(one: str, several: str, number: int, **values: object) -> Markup:
    return _filled(_catalogue().ngettext(one, several, number), values)


def _catalogue() -> gettext.NullTranslations:
    return read_catalogue(TEXTS / f"{current()}.po")


def _filled(text: str, values: dict[str, object]) -> Markup:
    return Markup(text % {name: _finalize(value) for name, value in values.items()})


def fill(folder: Path, name: str, values: dict[str, object]) -> str:
    """The template ``name`` of the text in ``folder``, filled in. Errors as ``templates.fill``'s.

    Strings are escaped, whole numbers grouped. A bare float is an error: how many digits it
    deserves is for the text to say.
    """
    options = {"finalize": _finalize, "extensions": (Sentences,)}
    return templates.fill(folder / name, values | {"language": current()}, FILTERS, **options)


def _finalize(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return Markup(grouped(str(value)))
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, and names what is undefined
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(f"{value!r} ({kind}) is not text; use a filter that says how to print it")
    return for_markdown(value)


class Floats:
    """Floats of the report of ``run`` in the present language; its tables must be there."""

    def __init__(self, run: Run) -> None:
        self._source, self._tables = run.study.source, run.tables

    def table(self, table: AnyTable, note: str = "") -> Markup:
        _there(self._tables / f"{table.name}.tex", "kvstudy tabulate")
        return _div(f"#table:{table.name} .table", self._caption(table, note))

    def figure(self, figure: AnyFigure, note: str = "") -> Markup:
        return _div(f"#figure:{figure.name} .figure", self._caption(figure, note))

    def transcript(self, figure: AnyFigure, lines: list[TranscriptLine], note: str = "") -> Markup:
        """A listing: each line has its kind before it, for the filters."""
        listing = "\n".join(f"{line.kind}:{line.text}" for line in lines)
        # Longer than any row of tildes in a log.
        fence = "~" * 24
        content = f"{fence}\n{listing}\n{fence}\n\n{self._caption(figure, note)}"
        return _div(f"#figure:{figure.name} .transcript", content)

    def ref(self, item: Exhibit) -> Markup:
        """``Table 2``, as a link."""
        kind = "table" if isinstance(item, AnyTable) else "figure"
        return _ref(kind, f"{kind}:{item.name}")

    def section(self, label: str) -> Markup:
        """``Section 4``, as a link."""
        return _ref("section", label)

    @staticmethod
    def mark(name: str) -> Markup:
        """A place: ``contents``, ``page-break``; ``barrier``, which floats before it do not drift
        past; ``appendix``, from which on sections are appendices.
        """
        return _div(f".{name}")

    def references(self, title: str) -> Markup:
        return _div(".references", for_markdown(title))

    def _caption(self, item: Exhibit, note: str) -> Markup:
        caption = for_markdown(item.caption)
        if item.source and self._source:
            place = for_markdown(sentence(item.source))
            caption += _(" (modelled on {} of {}).").format(place, f"[@{self._source.key}]")
        else:
            caption += "."
        return Markup(f"{caption} {note}" if note else caption)


def _div(attributes: str, content: str = "") -> Markup:
    lines = [f"::: {{{attributes}}}", content, ":::"]
    # Pandoc takes a fence for text where the line before it is no blank one.
    return Markup("\n" + "\n".join(filter(None, lines)) + "\n")


def with_appendices(text: str) -> str:
    """Name sections behind the mark ``appendix`` appendices where the ``text`` refers to them.

    Only the whole text shows which they are; workloads have letters, too.
    """
    _, _, appendix = text.partition(str(Floats.mark("appendix")))
    for label in _LABEL.findall(appendix):
        text = text.replace(str(_ref("section", label)), str(_ref("appendix", label)))
    return text


def _ref(kind: str, label: str) -> Markup:
    # What is before the number, inside of a sentence.
    words = {
        "table": pgettext("reference", "Table"),
        "figure": pgettext("reference", "Figure"),
        "section": pgettext("reference", "Section"),
        "appendix": pgettext("reference", "Appendix"),
    }
    return Markup(f"[{for_markdown(words[kind])}](#{label}){{.ref}}")


def _there(path: Path, command: str) -> None:
    if not path.is_file():
        raise DataError(f"{path}: no such file; write it with '{command}'")
