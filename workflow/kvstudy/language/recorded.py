"""Sentences that measuring wrote into the files of a run, in the current language.

Files of a run have no language: what stands in them is English. ``PATTERNS`` are the
sentences in which something varies, with ``{}`` for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kvstudy.language.current import N_, NN_, ORIGINAL, _, catalogues, current, ngettext

PATTERNS = [
    # Where something stands in a source.
    N_("Table {}"),
    N_("Tables {} and {}"),
    N_("Tables {} to {}"),
    N_("Figure {}"),
    N_("Figures {} and {}"),
    N_("Figures {} to {}"),
    N_("Section {}"),
    N_("Page {}"),
    # Why a cell has no value (measure, tidy).
    N_("no program {} on this machine: {}"),
    N_("kvstudy has no YCSB binding for {} yet"),
    N_("there are no raw logs of it yet"),
    N_("failed"),
    N_("void"),
    N_("{} of {} operations failed ({}), more than the {} that the study allows"),
    N_(
        "the server counted {} misses among the {} reads that YCSB calls OK, "
        "more than the {} that the study allows"
    ),
    N_("no probe: {}"),
    N_("probed through another client ({})"),
    N_("the probe found no command that comes with every operation"),
    N_("{} runs of repeated cells; a drift needs at least three"),
    N_("void: {}"),
    # What limits a store (stats.littles_law, analysis.bottleneck).
    N_("start-up or client time dominates: its threads are inside calls only {}% of the time"),
    N_("{}% of what the client reaches without a store"),
    N_("a second client raises the total by {}%"),
    N_("the client uses {} of the {} cores that it may use"),
    N_("client and server use {} of {} cores, and the client {} of them"),
    # What a machine does to measurements (measure.preflight).
    N_("yes"),
    N_("no"),
    N_("none"),
    N_("one"),
    N_("not visible"),
    N_("yes ({})"),
    NN_("{} hardware thread", "{} hardware threads"),
    NN_("{} other thread running", "{} other threads running"),
    N_("{} active ({})"),
    N_("{} % since the machine started"),
    N_("{}, a virtual disk"),
    N_("{}, its kind not visible"),
    N_("{}, rotating"),
    N_("{}, solid state"),
    # Why a figure lacks a mark (figures).
    N_("without {} of {} sizes, which not every store has"),
    N_("no {} was timed"),
    # What of several parts of a claim is shown, and how many have which verdict.
    N_("mean of {}"),
    N_("smallest of {}"),
    N_("largest of {}"),
    N_("{} reproduced"),
    N_("{} direction only"),
    N_("{} inconclusive"),
    N_("{} contradicted"),
    N_("{} not comparable"),
    N_("{} not measured"),
]


def recorded(text: str) -> str:
    """``text`` from a file, in the current language; itself where nobody translated it."""
    if current() == ORIGINAL or not text:
        return text
    for catalogue in catalogues():
        if (found := catalogue.gettext(text)) != text:
            return found
    for expression, pattern in _expressions():
        if match := expression.fullmatch(text):
            if isinstance(pattern, tuple):
                number = match[1].replace("\N{NARROW NO-BREAK SPACE}", "")
                form = ngettext(*pattern, int(number) if number.isdecimal() else 0)
            else:
                form = _(pattern)
            return form.format(*(recorded(part) for part in match.groups()))
    return text


def is_known(text: str) -> bool:
    """Whether the package's catalogue has a pattern for ``text``."""
    return any(expression.fullmatch(text) for expression, _pattern in _expressions())


@lru_cache
def _expressions() -> list[tuple[re.Pattern[str], str | tuple[str, str]]]:
    """The patterns, those with the most words first: the others fit too much."""
    forms = [
        (form, pattern)
        for pattern in PATTERNS
        for form in (pattern if isinstance(pattern, tuple) else [pattern])
    ]
    forms.sort(key=lambda each: -len(each[0].replace("{}", "")))
    return [
        (re.compile("(.+?)".join(re.escape(part) for part in form.split("{}"))), pattern)
        for form, pattern in forms
    ]
