"""``kvstudy translate``: the catalogues of a language."""

from __future__ import annotations

import click


@click.command("translate")
@click.argument("language")
@click.option("--check", is_flag=True, help="Only say what is missing; the status is then 1.")
def command(language: str, check: bool) -> None:
    """Bring the catalogues of LANGUAGE (a code, for example cs) up to date with the texts.

    Adds texts that are new, marks translations of changed texts as fuzzy, and drops those of
    texts that are gone. A language that there is not yet gets new catalogues. Lists what is
    left to translate.
    """
    from babel import Locale, UnknownLocaleError

    from kvstudy.errors import KvstudyError
    from kvstudy.translation import problems, update

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
