"""Reasons and findings: stored as a code with values, read as a sentence in the reader's language.

What measuring, checking and judging find goes into the files of a run as ``code name=value ...``,
as a shell would write it, with ``;`` between several. ``SENTENCES`` has the sentence of each code;
its translations are in the catalogues. A text without a code (the error of a failed cell) is shown
as it is.
"""

import itertools
import re
import shlex
from collections.abc import Iterable

from kvstudy.language.current import N_, NN_, ORIGINAL, _, catalogues, current, ngettext
from kvstudy.language.locale import decimal, translated_place

SENTENCES: dict[str, str | tuple[str, str]] = {
    # Why a cell has no value.
    "no-logs": N_("no raw logs yet"),
    "not-imported": N_("not imported: no log"),
    "not-planned": N_("not planned"),
    "no-program": N_("no program {program} on this machine: {remedy}"),
    "on-host": N_("on {host}: {why}"),
    "own-host-only": N_("the server of {store} accepts only clients on its own host"),
    "embedded-hosts": N_("{store} runs inside the client, but hosts names a host for a server"),
    "external-arguments": N_(
        "a server that is already running cannot get {arguments}, which its option adds"
    ),
    "external-network": N_(
        "a server that is already running cannot be moved to the network {network}, which the "
        "study names"
    ),
    "no-binding": N_("kvstudy has no YCSB binding for {store}"),
    "not-measured": N_("not measured: {why}"),
    "invalid": N_("invalid: {why}"),
    "failed": N_("failed: {why}"),
    "of-repetitions": N_("{why} (repetition {repetitions})"),
    "no-target": N_("no target rate, because its trial cell {cell} is not valid ({why})"),
    "target-now": N_("a rate now exists: remove SHA256SUMS in {folder} to measure the cell"),
    "trial-gone": N_("its rate was set by {cell}, which has been removed or measured again since"),
    "rate-differs": N_("its rate is not {load} of the throughput of its trial cell {cell}"),
    "failures": N_(
        "{share} of {operation} operations failed ({statuses}), more than the {allowed} that the "
        "study allows"
    ),
    "misses": N_(
        "the server counted {missed} misses among the {reads} reads that YCSB reports as OK, "
        "more than the {allowed} that the study allows"
    ),
    "records-lost": N_(
        "the server holds {held} records after the run, but {stored} were stored and not "
        "deleted: {lost} are lost"
    ),
    "records-dropped": N_(
        "the server's counter {counter} rose by {rise}: it dropped records during the cell"
    ),
    "no-trials": NN_(
        "{n} of its trial cells was not measured ({first})",
        "{n} of its trial cells are not measured (the first: {first})",
    ),
    "enough-clients": NN_("{n} client is enough", "{n} clients were enough"),
    "clients-apart": N_(
        "its clients started {skew} ms apart, more than the {allowed} ms that count as simultaneous"
    ),
    "stood-still": N_(
        "nothing ran for {seconds} s: YCSB should print a line each second and printed none "
        "(the machine was suspended, the programs were stopped, or the clock was set)"
    ),
    # Why a server's counts were not compared with those of YCSB.
    "no-counters": N_("the store has no counters"),
    "counters-not-recorded": N_("the counters were not recorded"),
    "not-probed": N_("it has not been probed"),
    "imported-not-probed": N_("imported logs; the server was not probed"),
    "no-command": N_("the probe found no command that every operation sends"),
    "scan-length": N_("the number of commands of a scan depends on its length"),
    "no-probe": N_("no probe: {why}"),
    "other-client": N_("probed with another client ({client})"),
    "other-records": N_("probed with other records"),
    # Why there is no test for drift.
    "few-repeated": N_("too few repeated cells"),
    "no-times": N_("the times of measurement are not recorded"),
    # What limits a store.
    "ceiling": N_("{share} % of the client ceiling, YCSB without a store"),
    "in-call": N_(
        "start-up or client time dominates: the client's threads wait for the store only "
        "{share} % of the time"
    ),
    "client-cores": N_("the client uses {used} of its {allowed} cores"),
    "cpu-saturated": N_(
        "the machine's cores are {busy} % busy, {client} % of that with the client"
    ),
    # How well the law of scalability fits.
    "off-law": N_("the points deviate strongly from the law"),
    "contention-bound": N_("contention is at its bound of 1: throughput never rises"),
    "knee-beyond": N_("the peak at {knee} threads is above the largest measured count of {most}"),
    "knee-below": N_("the peak at {knee} threads is below the smallest measured count of {least}"),
    # Claims: what holds of the part that is shown, and of which of several it is.
    "in-floor": N_("within the noise floor"),
    "client-bound": N_("client-bound"),
    "unequal-updates": N_("unequal updates"),
    "short-cells": N_("cells shorter than 5 s"),
    "some-short-cells": N_("some parts with cells shorter than 5 s"),
    "unlike-extremes": N_("minima or maxima of cells of other sizes"),
    "some-unlike-extremes": N_("some minima or maxima of cells of other sizes"),
    "some-client-bound": N_("some parts client-bound"),
    "some-unequal-updates": N_("some parts with unequal updates"),
    "mean-of": N_("mean of {n}"),
    "smallest-of": N_("smallest of {n}"),
    "largest-of": N_("largest of {n}"),
    "source-machine": N_("a value of the source's machine"),
    "not-a-store": N_("not a store of the study"),
    "not-a-size": N_("not a size of the study"),
    "zero": N_("a ratio with a value of 0 is undefined"),
    "same-cell": N_("both sizes are the same cell at this scale"),
    "one-size": N_("one size only"),
    "one-thread-count": N_("one thread count only"),
    "no-common-repetition": N_("no repetition with both"),
    "no-repetition-of-all": N_("no repetition with all of them"),
    "no-value-of": N_("no {metric} of {operation}"),
    "not-above-threads": N_("not measured above {threads} threads"),
    # Figures.
    "no-common-size": N_("no common size"),
    "no-valid-value": N_("no valid value"),
    "without-sizes": N_("without {left_out} of {sizes} sizes that some store lacks"),
    "not-timed": N_("no latency of {operation}"),
    "few-timed": N_("too few operations for a 99th percentile: {operation}"),
    # What a machine does to measurements.
    "yes": N_("yes ({kind})"),
    "threads": NN_("{n} hardware thread", "{n} hardware threads"),
    "threads-of": N_("{threads} (numbers {numbers} of {online})"),
    "threads-limited": N_("{threads}, limited to the time of {quota}"),
    "busy-threads": NN_("{n} other thread running", "{n} other threads running"),
    "stolen": N_("{share} % since the machine started"),
    "throttled": N_("{n} times since the machine started"),
    "active": N_("{n} active ({names})"),
    "gib": N_("{size} GiB"),
    "swap-used": N_("{size} GiB, {used} MiB used"),
    "swap-unused": N_("{size} GiB, not used"),
    "governor": N_("{governor} ({driver})"),
    "disk-network": N_("{system}, over a network"),
    "disk-memory": N_("{system}, in memory"),
    "disk-virtual": N_("{system}, a virtual disk"),
    "disk-hidden": N_("{system}, its kind not visible"),
    "disk-rotating": N_("{system}, rotating"),
    "disk-solid": N_("{system}, solid state"),
    "open-files": N_("{soft}, may be raised to {hard}"),
    # What a machine consists of.
    "inside": N_("kvstudy ran in {system}"),
    "cores": N_("{cores} cores, {threads} hardware threads usable"),
    "cores-clock": N_("{cores} cores, {threads} hardware threads usable, {clock} MHz"),
    "swap": N_("{size} GiB swap"),
    "file-system": N_("{size} GiB, {system}"),
    "java-flags": N_("{collector} collector, heap of at most {heap} GiB"),
    "collector": N_("{collector} collector"),
    "heap": N_("heap of at most {heap} GiB"),
    "of-host": N_("{component} of {host}"),
    "round-trip": N_("round trip of {median} µs (quartiles {low} and {high})"),
    "hosts": N_("server on {server}, clients on {clients}"),
    # What the audit of a source checks, and what it notes.
    "in-calls": N_("share of the time in calls, from throughput, mean latency and threads"),
    "little-most": N_(
        "At this throughput, the mean latency over all operations is at most {most} µs, not {mean}"
    ),
    "by-runtime": N_("operations, from throughput and run time"),
    "by-runtime-of": N_("operations, from throughput and run time of {operation}"),
    "spread": N_("As if the {runs} run times had a coefficient of variation of {spread} %"),
    "not-less": N_("The run time implies at least {rate} ops/s, however much the runs varied"),
    "combined": N_("{metric} of {operation}: {how}"),
    "sum-of-counts": N_("sum of the operation counts"),
    "whole-numbers": N_("{operation}: {metric} as a mean of {runs} whole numbers"),
    "not-failed": N_(
        "operations that did not fail, when {percent} % of the {operations} failed ({place})"
    ),
    "both-added": N_("YCSB counts failed operations separately; both counts may have been added"),
    "not-above": N_("{operation}: {less} not above {more}"),
    "mean-of-workloads": N_("{metric}: mean of {n} workloads"),
    "scatter": NN_(
        "scatter of {counts} counts around the workloads' shares, as means of {n} run "
        "(chi-squared)",
        "scatter of {counts} counts about the workloads' shares, as means of {n} runs "
        "(chi-squared)",
    ),
    "p-value": N_("The p-value is {p}, or {single} if each count is from one run"),
    "p-value-whole": N_(
        "The p-value is {p}, or {single} if each count is from one run; all counts are whole "
        "numbers"
    ),
    "below": N_("below {bound}"),
    "by-threads": N_("throughput of N threads relative to N times that of one thread"),
    "disturbed": N_(
        "Worst at {worst} threads, exceeded at {above}: something else may have slowed the run "
        "with one thread"
    ),
    "range": N_("{first} to {last}"),
}
_NUMBER = re.compile(r"[-+]?\d+\.\d+(?:e[-+]\d+)?%?")


def reason(code: str, **values: object) -> str:
    """The text that files hold: the code, and what is in its sentence.

    Numbers are given as they shall be read, with a point; values may be reasons themselves.
    """
    return shlex.join([code, *(f"{name}={value}" for name, value in values.items())])


def several(reasons: Iterable[str]) -> str:
    """Reasons as one text of a file."""
    return "; ".join(reasons)


def sentence(text: str) -> str:
    """``text`` of a file in the current language; itself where nothing translates it."""
    if not text.strip():
        return text
    filled = []
    for code, values in coded(text):
        form = SENTENCES[code]
        sentence_text = _(form) if isinstance(form, str) else ngettext(*form, int(values["n"]))
        filled.append(
            sentence_text.format(**{name: _value(value) for name, value in values.items()})
        )
    if filled or current() == ORIGINAL:
        return "; ".join(filled) or text
    # A study's own words are in the catalogue next to it.
    translations = (catalogue.gettext(text) for catalogue in catalogues())
    return next((one for one in translations if one != text), None) or translated_place(text)


def coded(text: str) -> list[tuple[str, dict[str, str]]]:
    """Code and values of each reason in ``text``; nothing where a part of it is none."""
    if text.split(" ", 1)[0].rstrip(";") not in SENTENCES:
        return []
    codes = split_codes(text)
    known = all(code in SENTENCES and values.keys() == _names(code) for code, values in codes)
    return codes if known else []


def split_codes(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return each code in ``text`` with its values; nothing where a part of it is none."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    codes = []
    for separator, (code, *rest) in itertools.groupby(words, lambda word: word == ";"):
        if separator:
            continue
        values = dict(word.split("=", 1) for word in rest if "=" in word)
        if len(values) != len(rest):
            return []
        codes.append((code, values))
    return codes


def _names(code: str) -> set[str]:
    form = SENTENCES[code]
    return set(re.findall(r"\{(\w+)\}", form if isinstance(form, str) else form[1]))


def _value(text: str) -> str:
    return decimal(text) if _NUMBER.fullmatch(text) else sentence(text)
