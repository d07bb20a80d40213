"""The command line of a log, its workload file, and its deviations from that file."""

import operator
import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain, count, takewhile
from pathlib import Path, PurePath, PurePosixPath

from kvstudy.logs.imports.text import decoded
from kvstudy.study.workload import WORKLOADS, load_workload, project_workloads
from kvstudy.study.ycsb_properties import (
    KNOWN,
    OF_CLASS,
    PROPERTIES,
    PROPORTIONS,
    SUM_TOLERANCE,
    Flag,
    proportions_of,
)

# PowerShell writes its own prefix before a line of the standard error, and repeats the line in the
# record of an error, in brackets.
MARK = re.compile(
    r"^(?![^\n]*(?:CategoryInfo|\(Command line: |:String\) \[))[^\n]*?\bCommand line: ",
    re.MULTILINE,
)
_POWERSHELL = re.compile(r"\S : Command line: $")
# What starts YCSB, as its launcher has it; and the launcher itself, which names the binding in
# place of its class. A line that begins with # is a comment.
CALL = re.compile(r"^(?!\s*#)[^\n]*?\b(?:site|com\.yahoo)\.ycsb\.Client\s+(-\S.*)$", re.MULTILINE)
LAUNCHER = re.compile(
    r"^(?!\s*#)(?:[^\n]*?[\s/\\])?ycsb(?:\.sh|\.bat)?\s+((?:load|run)\s+\S+\s+-\S.*)$", re.MULTILINE
)
# What a shell reads of a line: up to a redirection, a pipe or the next command, unless quoted.
_OF_SHELL = re.compile(r"""(?:[^"'|;&<>\\]|\\.|"[^"]*"|'[^']*')*""")
# What a shell would put in place of a name is not known here.
_OPEN = re.compile(r"\$[\w({]|`|%\w+%|<[\w -]+>|\{\w[^{}\s]*\}")
# A call goes on in the next line behind the mark of its shell: sh, PowerShell, cmd.
_CONTINUED = re.compile(r"[ \t]*(?:\\|(?<=[ \t])[`^])\n\s*(?:>\s+)?(?=\S)")
_LONG_CALL = re.compile(
    r"\bycsb(?:(?:\.sh|\.bat)?\s+(?:load|run)\b|\.Client\b)(?:.*(?:\\|[ \t][`^])\n)+.*"
)
# What can follow the command line. PowerShell breaks it at the width of its window, and nothing
# else does: a line that begins with [ is a result.
_AFTER = re.compile(r"^(YCSB Client|Loading workload|\[|\+|\s*$|\S.*:\d+ \S+:\d+\s*$)")
# Options, with the property or the phase that they stand for.
_PROPERTIES = {"-db": "db", "-threads": "threadcount", "-target": "target"}
_PHASES = {"-load": "load", "-t": "run"}
_WITH_VALUE = {"-P", "-p", "-l", "-cp", "-jvm-args", *_PROPERTIES}
_FLAGS = {"-s", *_PHASES}


@dataclass
class CommandLine:
    """A command line of YCSB.

    ``db`` is the class of the binding, or its name where YCSB's launcher was called.
    ``files`` are the workload files as they were given, on whatever system. ``properties``
    are those of -p, and those that other options stand for.
    """

    phase: str = "run"
    db: str = ""
    files: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)


def find_command(text: str) -> str | None:
    """Return YCSB's arguments as the log ``text`` has them; None without."""
    mark = MARK.search(text)
    if mark is None:
        text = joined_calls(text)
        calls = CALL.findall(text) or LAUNCHER.findall(text)
        if len(calls) != 1 or _OPEN.search(calls[0]):
            return None
        read = _OF_SHELL.match(calls[0])[0]
        # The 2 of 2>file is no argument.
        redirected = calls[0][len(read) :].startswith(("<", ">"))
        return (re.sub(r"\s\d$", "", read) if redirected else read).strip()
    first, *rest = text[mark.end() :].splitlines() or [""]
    if not _POWERSHELL.search(mark[0]):
        return first.strip()
    return "".join([first, *takewhile(lambda line: not _AFTER.match(line), rest)]).strip()


def joined_calls(text: str) -> str:
    """Return ``text`` with each call of a launcher on one line, and as many lines as before."""

    def joined(match: re.Match) -> str:
        call = _CONTINUED.sub(" ", match[0])
        return call + "\n" * (match[0].count("\n") - call.count("\n"))

    return _LONG_CALL.sub(joined, text)


def read_command(arguments: str) -> CommandLine:
    """Parse the ``arguments`` of a call.

    YCSB prints them with blanks between and without quotes: a value goes on until
    the next option, so that it may have blanks itself. Backslashes are Windows's.
    """
    launched = re.match(r"(load|run)\s+(\S+)", arguments)
    phase, db = launched.groups() if launched else ("run", "")
    files, properties = [], {}
    for option, value in _options(arguments):
        if option in _PHASES:
            phase = _PHASES[option]
        elif option in _PROPERTIES:
            properties[_PROPERTIES[option]] = value
        elif option == "-P":
            files.append(value)
        elif option == "-p":
            name, _, text = value.partition("=")
            properties[name.strip()] = text.strip()
    return CommandLine(phase, properties.pop("db", db), files, properties)


def _options(arguments: str) -> list[tuple[str, str]]:
    options: list[tuple[str, str]] = []
    for word in arguments.split():
        word = word.replace("'", "").replace('"', "")
        if word in _FLAGS or word in _WITH_VALUE:
            options.append((word, ""))
        elif word[:2] in ("-P", "-p") and len(word) > 2:
            # The launcher glues some values to their option.
            options.append((word[:2], word[2:]))
        elif options and options[-1][0] in _WITH_VALUE:
            option, value = options[-1]
            options[-1] = (option, f"{value} {word}".strip())
    return options


# What YCSB takes when a property is not set.
DEFAULTS = {name: each.default for name, each in PROPERTIES.items() if each.default}
# Sizes have columns of their own; how latencies are written down is no part of a workload.
_NO_PART = frozenset(
    """
    recordcount operationcount insertcount maxexecutiontime measurementtype
    hdrhistogram.percentiles histogram.buckets timeseries.granularity
    reportlatencyforeacherror latencytrackederrors
    """.split()  # noqa: SIM905
)
# All that workloads read, those of kvstudy's own classes too; the rest is the binding's.
OF_WORKLOADS = KNOWN.union(*OF_CLASS.values())
PARTS = OF_WORKLOADS - _NO_PART
# What the records are like.
_SHAPE = frozenset(
    """
    table fieldcount fieldlength fieldlengthdistribution fieldlengthhistogram minfieldlength
    fieldnameprefix dataintegrity insertorder zeropadding insertstart workload
    """.split()  # noqa: SIM905
)
# And how they are loaded.
_LOAD = _SHAPE | {"target", "measurement.interval"}
_PROPERTY = re.compile(r"^\s*([A-Za-z][\w.]*)\s*[=:]\s*(.*?)\s*$", re.MULTILINE)


_OF_LOG = re.compile(r"Command line: |\bOVERALL\b| sec: \d+ operations")
# Properties of the workload files that are with the logs, by their paths below the folder.
WorkloadFiles = dict[PurePath, dict[str, str]]


def workload_files(folder: Path, names: set[str]) -> WorkloadFiles:
    """Return the workload files in ``folder`` and below that have one of the ``names``."""
    workloads = {}
    for path in sorted(folder.rglob("*")) if names else []:
        if path.name in names and path.is_file():
            text = decoded(path.read_bytes())
            properties = dict(_PROPERTY.findall(text or ""))
            # A log may be called after its workload.
            if properties.keys() & KNOWN or (properties and not _OF_LOG.search(text)):
                workloads[path.relative_to(folder)] = as_ycsb_reads(properties, {})
    return workloads


def nearest_files(name: str, files: WorkloadFiles, log: PurePath) -> list[dict[str, str]]:
    """Return the different files called ``name`` (-P) that are nearest to ``log``.

    Those in most of its folders, then those that are not below others.
    """
    by_distance: dict[tuple[int, int], list[dict[str, str]]] = defaultdict(list)
    for path, properties in files.items():
        if path.name == base_name(name):
            folders = path.parent.parts
            shared = len(list(takewhile(bool, map(operator.eq, folders, log.parent.parts))))
            nearest = by_distance[-shared, len(folders)]
            nearest += [properties] if properties not in nearest else []
    return by_distance[min(by_distance)] if by_distance else []


def as_ycsb_reads(properties: dict[str, str], under: dict[str, str]) -> dict[str, str]:
    """Return the properties with the values that YCSB made of them.

    It takes any word but true for false, proportions for weights, and a hot share that is none for
    0. ``under`` are the properties that these are laid over.
    """
    read = dict(properties)
    for name, value in properties.items():
        form = PROPERTIES[name].form if name in PROPERTIES else None
        if isinstance(form, Flag):
            read[name] = str(value.casefold() == "true").lower()
        elif name.startswith("hotspot") and form and form.problem(value):
            read[name] = "0"
    try:
        shares = proportions_of(under | properties)
    except ValueError:
        # YCSB ended there.
        return read
    whole = sum(shares.values())
    if whole > 0 and abs(whole - 1) > SUM_TOLERANCE:
        read |= {name: f"{shares[of] / whole:.6g}" for name, of in PROPORTIONS.items()}
    return read


def study_name(name: str) -> str:
    """The workload file's name as kvstudy has them: ``a`` for ``C:\\ycsb\\workloada``."""
    stem = re.sub(r"\.(properties|txt|dat|conf)$", "", base_name(name).casefold())
    slug = _slug(re.sub(r"^workload[-_]?(?=.)", "", stem))
    return slug if re.match(r"[a-z]", slug) else f"w{slug}"


def differences(
    properties: dict[str, str], file: dict[str, str], of: str = "run"
) -> dict[str, str]:
    """The ``properties`` that make another workload of ``file``.

    ``of`` is run, load (those that a load obeys) or shape (those of the records).
    """
    parts = {"run": PARTS, "load": _LOAD, "shape": _SHAPE}[of]
    in_file = DEFAULTS | file
    return {
        name: value
        for name, value in sorted(properties.items())
        if name in parts and _comparable(name, value) != _comparable(name, in_file.get(name, ""))
    }


def _comparable(name: str, value: str) -> str | float:
    if name == "workload":
        # Its package was com.yahoo.ycsb before YCSB 0.16.
        return value.split(".")[-1]
    try:
        return float(value)
    except ValueError:
        return value.casefold()


def base_workload(name: str, sibling_texts: dict[str, str] | None, study: str) -> str | None:
    """Return the file under workloads/ that a log's run was made with; None when unknown.

    ``name`` is that of its workload file, ``sibling_texts`` its text if it is with the logs. One
    that is like none there is copied to it, without the properties of stores and drivers, which
    are no part of it.
    """
    known, slug = project_workloads(), study_name(name)
    if sibling_texts is None:
        return slug if slug in known else None
    name_here = f"{study}-{slug}"
    for workload in chain([slug, name_here], (f"{name_here}-{number}" for number in count(2))):
        if workload not in known:
            lines = [f"# {base_name(name)}, as it lay next to imported logs."]
            lines += [
                f"{key}={value.replace('com.yahoo.ycsb', 'site.ycsb')}"
                for key, value in sibling_texts.items()
                if key in OF_WORKLOADS and (key, value) != ("operationcount", "0")
            ]
            (WORKLOADS / workload).write_text("\n".join(lines) + "\n", encoding="utf-8")
            break
        file = load_workload(WORKLOADS / workload)
        # Each way: what one has and the other leaves to its default.
        if not differences(sibling_texts, file) and not differences(file, sibling_texts):
            break
    return workload


def slug_of(differing: dict[str, str]) -> str:
    """Return the suffix of a workload's name: ``uniform``, ``target-6000``."""
    words = []
    for name, value in differing.items():
        word = value if value.isalpha() and value not in ("true", "false") else f"{name}-{value}"
        words.append(_slug(word.casefold().split(".")[-1]))
    return "-".join(words)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def base_name(path: str) -> str:
    """The last part of a path of Unix or Windows; empty for a path that ends in a separator."""
    return "" if path.endswith(("/", "\\")) else PurePosixPath(path.replace("\\", "/")).name
