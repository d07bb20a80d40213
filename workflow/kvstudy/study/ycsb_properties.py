"""YCSB's properties: what each means, and which values it takes.

They are those that CoreWorkload of YCSB 0.17.0, its generators and its Client read, and those of
kvstudy's own workload classes. YCSB ignores a property that it does not know, and of some values
it makes another one without a word; so all of them are checked before anything is measured.
"""

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kvstudy.study.base import MOST
from kvstudy.study.naming import did_you_mean

CORE = "site.ycsb.workloads.CoreWorkload"
# CoreWorkload with named fields, of kvstudy's bindings.
RECORD = "kvstudy.workload.RecordWorkload"
# Does the workload of a class that a property names, together with other clients.
TOGETHER = "kvstudy.workload.SynchronizedWorkload"
# A workload of this class runs one short test in rounds inside a cell. A *round* inserts all
# records into an empty table, reads in a fixed pattern and deletes some of the records. The first
# rounds warm up and do not count. The load phase is the inserting of the first round, the run phase
# everything else.
ROUNDS = "kvstudy.workload.RoundsWorkload"

PROPORTIONS = {
    "readproportion": "read",
    "updateproportion": "update",
    "insertproportion": "insert",
    "scanproportion": "scan",
    "readmodifywriteproportion": "read-modify-write",
}
# The table of each store, see verbs.py of those that have any.
TABLE = "usertable"
# How far the sum of the proportions may be from 1: thirds are rounded.
SUM_TOLERANCE = 0.01
# Characters of a value that a message repeats.
LONGEST_ECHO = 80
# A number as Java reads it too.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_UNIT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?(k|m|g|)(i?)(?:b|bytes?|)", re.IGNORECASE)
_WITH_TIME = re.compile(
    r"(\d{1,15}(?:\.\d{1,9})?) ?(?:(ms)|(s|sec|seconds?)|(m|min|minutes?)|(h|hours?))",
    re.IGNORECASE,
)
# Milliseconds of the units, in the order of the groups.
_TIMES = (1, 1000, 60_000, 3_600_000)
_YES = ("yes", "on", "y", "1", "t", "true")


def _number(text: str) -> float:
    """Return the number in ``text``; NaN for what is no finite one."""
    number = float(text) if len(text) < 400 and _NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


@dataclass(frozen=True)
class NumberForm:
    """The form of a number from ``least`` to ``most``."""

    least: float = 0
    most: float = 1

    def __str__(self) -> str:
        return f"number from {self.least:g} to {self.most:g}"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text`` and what to write; "" if nothing is."""
        percent = text.endswith("%") and not math.isnan(_number(text[:-1].strip()))
        number = _number(text[:-1].strip()) / 100 if percent else _number(text)
        if math.isnan(number):
            comma = text.replace(",", ".", 1)
            remedy = "give one" if math.isnan(_number(comma)) else f"write {comma}"
            return f"'{text}' is not a number; {remedy}"
        if percent:
            return f"'{text}' is not a number; write {number:g}"
        if number < self.least:
            return f"{text} is {_below(number)}; give a {self}"
        if number > self.most:
            meant = (
                f"; write {number / 100:g} for {number:g} %"
                if self.most == 1 and number <= 100
                else ""
            )
            return f"{text} is more than {self.most:g}{meant or f'; give a {self}'}"
        return ""


@dataclass(frozen=True)
class Whole:
    """The form of a whole number from ``least`` to ``most``.

    Of a time, ``milliseconds`` are those of its unit.
    """

    least: int = 0
    most: int = MOST
    milliseconds: int = 0

    def __str__(self) -> str:
        return f"whole number from {self.least}{f' to {self.most}' if self.most < MOST else ''}"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text`` and what to write; "" if nothing is."""
        number = _number(text)
        if math.isnan(number):
            meant = self._meant(re.sub(r"(?<=\d)[_ ,'](?=\d{3})", "", text))
            return f"'{text}' is not a number; {f'write {meant:.0f}' if meant else 'give one'}"
        if not re.fullmatch(r"[+-]?\d+", text):
            meant = f"write {number:.0f}" if number.is_integer() else f"give a {self}"
            return f"{text} is not a whole number in digits; {meant}"
        if number < self.least:
            return f"{text} is {_below(number)}; give a {self}"
        return f"{text} is more than {self.most}; give less" if number > self.most else ""

    def _meant(self, text: str) -> float:
        """The number that ``text`` says with a unit, 0 for another text."""
        if self.milliseconds and (match := _WITH_TIME.fullmatch(text)):
            unit = next(size for size, name in zip(_TIMES, match.groups()[1:], strict=True) if name)
            return float(match[1]) * unit / self.milliseconds
        if not (match := _WITH_UNIT.fullmatch(text)) or (self.milliseconds and match[2]):
            return 0
        power = " kmg".index(match[2].lower() or " ")
        return float(match[1]) * (1024 if match[3] else 1000) ** power


def _below(number: float) -> str:
    return "negative" if number < 0 else "too small"


@dataclass(frozen=True)
class Flag:
    """The form of a property that is on or off."""

    def __str__(self) -> str:
        return "`true`, `false`"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text`` and what to write; "" if nothing is."""
        if text in ("true", "false"):
            return ""
        meant = "true" if text.casefold() in _YES else "false"
        read = "true" if text.casefold() == "true" else "false"
        return f"'{text}' is neither true nor false, and YCSB reads {read}; write {meant}"


@dataclass(frozen=True)
class Word:
    """The form of a property that is one of some words."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(f"`{word}`" for word in self.words)

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text`` and what was meant; "" if nothing is."""
        if text in self.words:
            return ""
        return f"unknown value '{text}'{did_you_mean(text.lower(), list(self.words))}"


@dataclass(frozen=True)
class Percentiles:
    """The form of a list of percentiles."""

    def __str__(self) -> str:
        return "numbers up to 100, with commas between"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text``; "" if nothing is."""
        numbers = [_number(part.strip()) for part in text.split(",")]
        fits = all(0 < number <= 100 for number in numbers)
        return "" if fits else f"'{text}' is no list of percentiles; give {self}"


@dataclass(frozen=True)
class JavaClass:
    """The form of the class of a workload."""

    def __str__(self) -> str:
        return "text"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text`` and what was meant; "" if nothing is."""
        if not re.fullmatch(r"[\w$]+(\.[\w$]+)*", text):
            return f"'{text}' is no Java class; give one, such as {CORE}"
        named = text.rpartition(".")[2].casefold()
        for known in OF_CLASS:
            if text != known and named == known.rpartition(".")[2].casefold():
                return f"unknown class '{text}'; did you mean '{known}'?"
        return ""


@dataclass(frozen=True)
class Text:
    """The form of a property that takes any text."""

    def __str__(self) -> str:
        return "text"

    def problem(self, text: str) -> str:
        """Return what is wrong with the value ``text``; "" if nothing is."""
        return "" if text else "is empty; give a value, or remove the line"


Form = NumberForm | Whole | Flag | Word | Percentiles | JavaClass | Text


@dataclass(frozen=True)
class Property:
    """A property of YCSB: what it means, its form, and what YCSB takes where it is not given."""

    meaning: str
    form: Form
    default: str = ""


_SHARE = NumberForm()
_HISTOGRAMS = ("hdrhistogram", "histogram", "hdrhistogram+histogram", "hdrhistogram+raw")
_RECORDERS = (*_HISTOGRAMS, "timeseries", "raw")
_REQUESTS = ("uniform", "zipfian", "latest", "hotspot", "sequential", "exponential")
PROPERTIES = {
    "workload": Property("Java class of the workload.", JavaClass(), CORE),
    "recordcount": Property("Records, where the study gives no number.", Whole()),
    "operationcount": Property("Operations likewise; 0: there is no run phase.", Whole()),
    "insertstart": Property("Number of the first record.", Whole(), "0"),
    "insertcount": Property("Records that the load inserts.", Whole()),
    "maxexecutiontime": Property(
        "Seconds after which a run ends; 0: none.", Whole(milliseconds=1000)
    ),
    "target": Property("Operations per second at most; 0: no limit.", Whole()),
    "table": Property("Name of the table.", Text(), TABLE),
    "fieldcount": Property("Fields of a record.", Whole(1, 9999), "10"),
    "fieldlength": Property("Bytes of a field, or the most of them.", Whole(1), "100"),
    "minfieldlength": Property("The fewest bytes of a field, if uniform.", Whole(1), "1"),
    "fieldlengthdistribution": Property(
        "How long fields are.", Word(("constant", "uniform", "zipfian", "histogram")), "constant"
    ),
    "fieldlengthhistogram": Property("File with the histogram of lengths.", Text(), "hist.txt"),
    "fieldnameprefix": Property("What the names of fields begin with.", Text(), "field"),
    "readallfields": Property("A read asks for all fields, not for one.", Flag(), "true"),
    "writeallfields": Property("An update writes all fields, not one.", Flag(), "false"),
    "dataintegrity": Property("What is read is compared with what was written.", Flag(), "false"),
    "readproportion": Property("Share of reads.", _SHARE, "0.95"),
    "updateproportion": Property("Share of updates.", _SHARE, "0.05"),
    "insertproportion": Property("Share of inserts.", _SHARE, "0.0"),
    "scanproportion": Property("Share of scans.", _SHARE, "0.0"),
    "readmodifywriteproportion": Property("Share of read-modify-writes.", _SHARE, "0.0"),
    "requestdistribution": Property("Which records are asked for.", Word(_REQUESTS), "uniform"),
    "hotspotdatafraction": Property("Share of the records that are hot.", _SHARE, "0.2"),
    "hotspotopnfraction": Property("Share of the operations on them.", _SHARE, "0.8"),
    "exponential.percentile": Property(
        "Per cent of the operations that are within exponential.frac.",
        NumberForm(0.01, 99.99),
        "95",
    ),
    # Of 0, and of 0 and 100 %, YCSB makes a distribution without end, or one of a single record.
    "exponential.frac": Property(
        "Share of the records, the latest first.", NumberForm(0.0001, 1), "0.8571428571"
    ),
    "zeropadding": Property("Fewest digits of a key.", Whole(), "1"),
    "insertorder": Property("Order of the keys.", Word(("hashed", "ordered")), "hashed"),
    "minscanlength": Property("Fewest records of a scan.", Whole(1), "1"),
    "maxscanlength": Property("Most records of a scan.", Whole(1), "1000"),
    "scanlengthdistribution": Property(
        "How long scans are.", Word(("uniform", "zipfian")), "uniform"
    ),
    "core_workload_insertion_retry_limit": Property(
        "How often an insert that failed is tried again.", Whole(), "0"
    ),
    "core_workload_insertion_retry_interval": Property(
        "Seconds between tries.", Whole(milliseconds=1000), "3"
    ),
    "measurementtype": Property(
        "How latencies are recorded.",
        Word(_RECORDERS),
        "hdrhistogram",
    ),
    "measurement.interval": Property(
        "From when a latency counts: the call, the intended time, or both.",
        Word(("op", "intended", "both")),
        "op",
    ),
    "hdrhistogram.percentiles": Property("Percentiles in the log.", Percentiles(), "95,99"),
    "histogram.buckets": Property("Milliseconds of a histogram.", Whole(1, milliseconds=1), "1000"),
    "timeseries.granularity": Property("Milliseconds of a step.", Whole(1, milliseconds=1), "1000"),
    "reportlatencyforeacherror": Property("Latencies of each kind of failure.", Flag(), "false"),
    "latencytrackederrors": Property("Of these kinds only, with commas between.", Text()),
}
# What a workload class reads next to CoreWorkload's properties.
ROUNDS_PROPERTIES = {
    "rounds.warmup": Property("Rounds that do not count.", Whole(), "3"),
    "rounds.measured": Property("Rounds that count.", Whole(1), "5"),
    "rounds.deletes": Property("Records that each round deletes.", Whole(1), "10000"),
}
# What of any other class is known: nothing.
OF_CLASS: dict[str, dict[str, Property]] = {
    CORE: {},
    RECORD: {
        "record.fields": Property("Names, kinds and sizes of the fields.", Text()),
        "record.keyprefix": Property("What keys begin with.", Text(), "user"),
    },
    ROUNDS: ROUNDS_PROPERTIES,
}
KNOWN = frozenset(PROPERTIES)
_EVERY = {name: value for of in (PROPERTIES, *OF_CLASS.values()) for name, value in of.items()}
# Properties of YCSB that each cell sets, and what stands for them.
_SET = {
    "threadcount": "give the study's key threads",
    **{name: f"give the study's key {name}" for name in ("threads", "records", "operations")},
    "measurement.raw.output_file": "give the study's key raw_latencies",
    **dict.fromkeys(
        ["db", "dotransactions", "exporter", "exportfile", "label", "status", "status.interval"],
        "leave it out",
    ),
    **dict.fromkeys(
        ["hdrhistogram.fileoutput", "hdrhistogram.output.path", "measurement.raw.no_summary"],
        "leave it out",
    ),
}
# What is before the dot of a property that is no binding's.
_OWN_PREFIXES = {name.partition(".")[0] for name in (*_EVERY, *_SET) if "." in name}
_OWN_PREFIXES |= {"together", *_REQUESTS}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}..."


def takes_blanks(name: str) -> bool:
    """Return true where Java takes blanks off the value; elsewhere they are a part of it."""
    return name in _EVERY and isinstance(_EVERY[name].form, NumberForm)


def property_problems(
    properties: Mapping[str, str], classes: Collection[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with each of the properties of one of the workload ``classes``.

    That is the property's name, and the problem with its remedy. Without classes they are those
    of a store, whose binding may have any, and which go over the workload's.
    """
    for name, value in properties.items():
        problem = _name_problem(name, classes)
        if not problem and name in _EVERY:
            problem = _EVERY[name].form.problem(value).replace(value, _shortened(value))
        if problem:
            yield name, problem


def _name_problem(name: str, classes: Collection[str] | None) -> str:
    """Return what is wrong with the name; "" if nothing is.

    Names with a dot are those of bindings, unless they look like one of YCSB's; what a class
    reads that is neither YCSB's nor kvstudy's is not known here.
    """
    if classes is None and name in _EVERY:
        return "belongs to the workload, whose work would differ between stores; give it there"
    known = KNOWN.union(*(OF_CLASS.get(java, {name}) for java in classes or ()))
    if name in known:
        return ""
    if name in _SET:
        return f"is set by kvstudy itself; {_SET[name]}"
    prefix, dot, _ = name.partition(".")
    binding = classes is None or (bool(dot) and prefix not in _OWN_PREFIXES)
    typed = name[:100].lower()
    near = difflib.get_close_matches(typed, known, n=1, cutoff=0.8 if binding else 0.6)
    if binding and not near:
        return ""
    hint = f"did you mean '{near[0]}'?" if near else "YCSB would ignore it"
    return f"unknown property; {hint}"


def proportions_of(properties: Mapping[str, str]) -> dict[str, float]:
    """Return YCSB's proportions by operation, as they are given, or its defaults."""
    return {
        operation: float(properties.get(name, PROPERTIES[name].default))
        for name, operation in PROPORTIONS.items()
    }


def joint_problems(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield which values do not fit each other: a property that is given, and what is wrong.

    Each value fits by itself. What another class than YCSB's and RecordWorkload makes of them is
    not known here.
    """
    java = properties.get("workload", CORE)
    if java not in (CORE, RECORD):
        return
    given = [name for name in PROPORTIONS if name in properties]
    shares = proportions_of(properties)
    if (
        given
        and properties.get("operationcount") != "0"
        and round(abs(sum(shares.values()) - 1), 9) > SUM_TOLERANCE
    ):
        parts = [
            f"{name} {properties.get(name, PROPERTIES[name].default)}"
            + ("" if name in properties else " (YCSB's default)")
            for name, operation in PROPORTIONS.items()
            if shares[operation]
        ]
        yield (
            max(given, key=lambda name: float(properties[name])),
            f"the proportions add up to {sum(shares.values()):g}, not to 1: "
            f"{', '.join(parts) or 'all are 0'}; let them add up to 1",
        )
    values = {name: property.default for name, property in PROPERTIES.items()} | dict(properties)
    lengths = values["fieldlengthdistribution"]
    for least, most, applies in (
        ("minscanlength", "maxscanlength", True),
        ("minfieldlength", "fieldlength", lengths == "uniform" and java == CORE),
    ):
        if applies and int(values[least]) > int(values[most]):
            name = least if least in properties else most
            yield name, f"{least} {values[least]} is more than {most} {values[most]}; exchange them"
    if values["requestdistribution"] == "hotspot":
        data, operations = (float(values[f"hotspot{part}fraction"]) for part in ("data", "opn"))
        # YCSB divides by the number of the records that it then draws from.
        if (data == 0 and operations > 0) or (data == 1 and operations < 1):
            yield (
                "hotspotdatafraction",
                f"{values['hotspotdatafraction']} leaves {'no' if data == 0 else 'only'} hot "
                f"records, and hotspotopnfraction is {values['hotspotopnfraction']}; give a share "
                "between 0 and 1",
            )
    if java == RECORD and lengths == "histogram":
        yield (
            "fieldlengthdistribution",
            f"'histogram' is none of {RECORD}'s; give constant, uniform or zipfian",
        )
    if java == CORE and values["dataintegrity"] == "true" and lengths != "constant":
        yield (
            "dataintegrity",
            f"needs fields of one length, and fieldlengthdistribution is {lengths}; give constant",
        )


def cell_problems(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what a cell cannot be measured with, though YCSB could: a property, and the problem."""
    if properties.get("insertcount"):
        yield "insertcount", "a cell loads all of the study's records; remove it"
    if int(properties.get("insertstart", 0)):
        yield "insertstart", "a cell loads the study's records from the first on; remove it"
    if properties.get("table", TABLE) != TABLE:
        yield "table", f"the stores' table is {TABLE}; remove it"
    if properties.get("fieldlengthdistribution") == "histogram":
        file = properties.get("fieldlengthhistogram", PROPERTIES["fieldlengthhistogram"].default)
        if not Path(file).is_file():
            yield "fieldlengthdistribution", f"histogram needs the file {file}, which is not there"
