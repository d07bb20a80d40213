"""The rules of five published checklists, each judged from the run's own files.

Sources: Heiser, *Systems Benchmarking Crimes*; Hoefler and Belli 2015; Raasveldt et al. 2018;
SIGPLAN's *Empirical Evaluation Checklist*; ACM's *Artifact Review and Badging* 1.1. Rules of
several sources that ask for the same stand together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from kvstudy.analyse.tidy.reviews import ReviewOutcome
from kvstudy.documents.report.facts import RunFacts
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import list_of
from kvstudy.stats.ratios import Decision

CORE_WORKLOADS = 6
ENOUGH_REPETITIONS = 3
# Residuals that would be rarer than this, were they normal.
RARE = 0.01


class RuleVerdict(StrEnum):
    """The judgement on a rule, worst first."""

    BROKEN = N_("broken")
    PART = N_("kept in part")
    KEPT = N_("kept")
    NOT_APPLICABLE = N_("not applicable")


class RuleFinding(NamedTuple):
    """The verdict with its reason. ``stated``: no file of the run shows it, its author says so."""

    verdict: RuleVerdict
    why: str
    stated: bool = False


class ChecklistRule(NamedTuple):
    """A rule in our words, and where the lists have it: Heiser's letters and numbers (H), those of
    Hoefler and Belli (HB), SIGPLAN (S), Raasveldt et al. (R), ACM (A).
    """

    text: str
    places: str
    check: Callable[[RunFacts], RuleFinding]
    # Depends on how the cells were measured, which imported logs do not say.
    procedure: bool = False


class Judged(NamedTuple):
    """A rule's text and places with its finding, in the current language."""

    text: str
    places: str
    finding: RuleFinding


def checklist(facts: RunFacts) -> dict[RuleVerdict, list[Judged]]:
    """Return all rules by their verdicts, worst first."""
    judged: dict[RuleVerdict, list[Judged]] = {verdict: [] for verdict in RuleVerdict}
    for rule in RULES:
        if facts.imports and rule.procedure:
            finding = RuleFinding(RuleVerdict.PART, _("the imported logs do not say"))
        else:
            finding = rule.check(facts)
        judged[finding.verdict].append(Judged(_(rule.text), rule.places, finding))
    return judged


def _always(verdict: RuleVerdict, why: str, stated: bool = False) -> Callable:
    """A check with the same finding in every report of kvstudy."""
    return lambda facts: RuleFinding(verdict, _(why), stated)


def _kept(why: str) -> Callable:
    return _always(RuleVerdict.KEPT, why)


def _kept_if(
    holds: Callable[[RunFacts], object],
    why: str,
    otherwise: str,
    verdict: RuleVerdict = RuleVerdict.PART,
) -> Callable:
    """A check that finds the rule kept where ``holds`` is true of the run, else ``verdict``."""
    return lambda facts: (
        RuleFinding(RuleVerdict.KEPT, _(why))
        if holds(facts)
        else RuleFinding(verdict, _(otherwise))
    )


def _baseline(facts: RunFacts) -> RuleFinding:
    if len(facts.measured_stores) < 2:
        return RuleFinding(
            RuleVerdict.BROKEN, _("one store was measured; name a second one under stores")
        )
    titles = {store.definition.name: store.title for store in facts.measured_stores}
    title = titles.get(facts.data.study.baseline) or next(iter(titles.values()))
    text = _("every ratio names its baseline; the first table has {}").format(title)
    return RuleFinding(RuleVerdict.KEPT, text)


def _competitors(facts: RunFacts) -> RuleFinding:
    changed = [store.title for store in facts.measured_stores if store.choices]
    text = _("stores run with their default settings; nobody tuned them")
    if changed:
        stores = list_of(changed)
        text = _("defaults but for the options of {}; nobody tuned the stores").format(stores)
    return RuleFinding(RuleVerdict.PART, text, stated=True)


def _subset(facts: RunFacts) -> RuleFinding:
    number = len(facts.data.study.workloads)
    if number >= CORE_WORKLOADS:
        return RuleFinding(RuleVerdict.KEPT, _("{} workloads were measured").format(number))
    if facts.data.study.source:
        return RuleFinding(RuleVerdict.KEPT, _("the workloads are the source's"), stated=True)
    text = ngettext(
        "{} workload without a reason; name one under choices, or add others",
        "{} workloads without a reason; name one under choices, or add others",
        number,
    )
    if facts.data.study.choices:
        text = N_("{} of YCSB's kinds of work; section on settings: why")
        return RuleFinding(RuleVerdict.PART, _(text).format(number), stated=True)
    return RuleFinding(RuleVerdict.PART, text.format(number))


def _sizes(facts: RunFacts) -> RuleFinding:
    cells = facts.data.planned.values()
    sizes = [{getattr(cell, name) for cell in cells} for name in ("records", "threads")]
    varied = [
        name for name, of in zip((_("records"), _("threads")), sizes, strict=True) if len(of) > 1
    ]
    if len(varied) == len(sizes):
        return RuleFinding(RuleVerdict.KEPT, _("several numbers of records and of threads"))
    if varied:
        return RuleFinding(RuleVerdict.PART, _("only the number of {} varies").format(varied[0]))
    return RuleFinding(
        RuleVerdict.BROKEN,
        _("one number of records and one of threads; give lists under parameters"),
    )


def _watched(facts: RunFacts) -> bool:
    """Return whether the resources of the server were recorded."""
    return bool(facts.data.analysis.bottleneck["server_cpu"].notna().any())


def _variability(facts: RunFacts) -> RuleFinding:
    if facts.data.study.repetitions >= ENOUGH_REPETITIONS:
        return RuleFinding(
            RuleVerdict.KEPT, _("ratios have 95 % intervals, corrected for many pairs")
        )
    if facts.data.study.repetitions > 1:
        return RuleFinding(RuleVerdict.PART, _("two repetitions have wide intervals"))
    return RuleFinding(RuleVerdict.BROKEN, _("one repetition has no spread; set repetitions to 5"))


def _trials(facts: RunFacts) -> RuleFinding:
    pairs = facts.data.headline_analysis.pairs
    undecided = int((pairs["decision"] == Decision.UNDECIDED).sum())
    if facts.data.study.repetitions == 1:
        return RuleFinding(
            RuleVerdict.BROKEN, _("one repetition decides nothing; set repetitions to 5")
        )
    if not undecided:
        return RuleFinding(RuleVerdict.KEPT, _("every comparison is decided"))
    text = _(
        "{undecided} of {pairs} comparisons are undecided; a stopping rule measures on: "
        "repetitions: {{from: 3, to: 12}}"
    )
    if facts.data.study.until:
        text = _("{undecided} of {pairs} comparisons are undecided; a stopping rule ends the run")
    return RuleFinding(RuleVerdict.PART, text.format(undecided=undecided, pairs=len(pairs)))


def _normality(facts: RunFacts) -> RuleFinding:
    table = facts.data.analysis.normality
    if table.empty or table["p"].isna().all():
        return RuleFinding(RuleVerdict.NOT_APPLICABLE, _("too few runs for a test"))
    p = float(table["p"].iloc[0])
    if p >= RARE:
        text = _("the residuals of the logarithms do not contradict it (Shapiro and Wilk, p = {})")
        return RuleFinding(RuleVerdict.KEPT, text.format(f"{p:.2g}"))
    text = _("checked and rejected (Shapiro and Wilk, p = {}): intervals may be too narrow")
    return RuleFinding(RuleVerdict.PART, text.format(f"{p:.1g}"))


def _effects(facts: RunFacts) -> RuleFinding:
    return RuleFinding(
        RuleVerdict.PART,
        _("CPU, memory, disk and network were recorded; cost of losing data and energy were not")
        if _watched(facts)
        else _("only what YCSB reports is known"),
    )


def _models(facts: RunFacts) -> RuleFinding:
    if facts.data.analysis.separation_models.empty:
        return RuleFinding(RuleVerdict.NOT_APPLICABLE, _("nothing was calibrated"))
    return RuleFinding(
        RuleVerdict.PART,
        _("the difference to the source was fitted to the same means that its errors are of"),
    )


def _platform(facts: RunFacts) -> RuleFinding:
    if facts.imports:
        return RuleFinding(
            RuleVerdict.PART, _("the logs do not name their machine; give it when you import them")
        )
    if facts.machine["mixed"]:
        return RuleFinding(
            RuleVerdict.PART, _("recorded, but not all cells had the same conditions")
        )
    return RuleFinding(
        RuleVerdict.KEPT, _("recorded at each cell: hardware, system, versions, settings")
    )


def _complete(facts: RunFacts) -> RuleFinding:
    if facts.without_value:
        text = _("{} of {} planned cells have no valid value; the reasons are given")
        return RuleFinding(RuleVerdict.PART, text.format(facts.without_value, len(facts.cells)))
    return RuleFinding(RuleVerdict.KEPT, _("every planned cell has a valid value"))


def _alike(facts: RunFacts) -> RuleFinding:
    if len(facts.storage) > 1:
        return RuleFinding(
            RuleVerdict.PART,
            _("some stores keep their data in memory and others on disk; the report says which"),
        )
    if facts.data.other_sizes:
        return RuleFinding(
            RuleVerdict.PART, _("some stores have their own sizes; the report says which")
        )
    return RuleFinding(RuleVerdict.KEPT, _("stores of one kind, the same workload and sizes"))


def _warm(facts: RunFacts) -> RuleFinding:
    course = facts.course
    doubtful = course.short + course.unsteady
    if not course.runs:
        return RuleFinding(RuleVerdict.PART, _("the operations of each second are not known"))
    if not doubtful:
        return RuleFinding(RuleVerdict.KEPT, _("every run was steady"))
    text = _("{} of {} runs were unsteady or too short to judge; give them more operations")
    verdict = RuleVerdict.BROKEN if doubtful == course.runs else RuleVerdict.PART
    return RuleFinding(verdict, text.format(doubtful, course.runs))


def _correct(facts: RunFacts) -> RuleFinding:
    if facts.validity.invalid:
        text = _("{} invalid cells were found and left out; the other ones were checked")
        return RuleFinding(RuleVerdict.KEPT, text.format(facts.validity.invalid))
    return RuleFinding(
        RuleVerdict.KEPT,
        _(
            "failed and missed operations are counted; where a server counts, both agree or are "
            "named"
        ),
    )


def _quiet(facts: RunFacts) -> RuleFinding:
    background = facts.machine["background"]
    if background is None:
        return RuleFinding(RuleVerdict.PART, _("background load is not known"))
    if background["above"]:
        text = _("background load was high in {} of {} cells; close what else runs")
        return RuleFinding(RuleVerdict.PART, text.format(background["above"], background["cells"]))
    return RuleFinding(RuleVerdict.KEPT, _("background load was low in all cells"))


def _reviewed(facts: RunFacts) -> RuleFinding:
    counts = sum((record.counts for record in facts.reviews), Counter())
    confirmed, refuted = counts[ReviewOutcome.CONFIRMED], counts[ReviewOutcome.NOT_CONFIRMED]
    if not confirmed + refuted:
        text = _("up to others; kvstudy review ARCHIVE does it in a quarter of an hour")
        return RuleFinding(RuleVerdict.NOT_APPLICABLE, text)
    text = _("reviews confirmed {} comparisons and did not confirm {}")
    verdict = (
        RuleVerdict.BROKEN
        if refuted > confirmed
        else RuleVerdict.PART
        if refuted
        else RuleVerdict.KEPT
    )
    return RuleFinding(verdict, text.format(confirmed, refuted), stated=True)


RULES = [
    ChecklistRule(
        N_("Claims are explicit, and no wider than the evidence"),
        "S 1, 2",
        _kept(N_("each answer names workload, ratio and interval, and follows from the logs")),
    ),
    ChecklistRule(
        N_("Limitations are acknowledged"), "S 3", _kept(N_("the first page has the caveats"))
    ),
    ChecklistRule(
        N_("The baseline is proper, and there is more than oneself"),
        "H D1, D2; HB 1; S 4",
        _baseline,
    ),
    ChecklistRule(
        N_("Competitors are configured fairly"), "H D3; S 5; R", _competitors, procedure=True
    ),
    ChecklistRule(
        N_("Gains are over the state of the art"),
        "H D4",
        _always(
            RuleVerdict.PART,
            N_("versions are given; whether newer ones are faster was not measured"),
        ),
    ),
    ChecklistRule(N_("No subset of a benchmark without a reason"), "H A2; HB 2; S 7; R", _subset),
    ChecklistRule(N_("Several data sets and design parameters"), "H A3; S 16; R", _sizes),
    ChecklistRule(
        N_("What gets worse is shown, too"),
        "H A1",
        _kept(N_("every store is shown under every workload, the slow ones as well")),
    ),
    ChecklistRule(
        N_("Micro-benchmarks are not called performance"),
        "H B1; S 8",
        _always(
            RuleVerdict.PART,
            N_("YCSB is synthetic; that its work resembles yours is not shown"),
            stated=True,
        ),
    ),
    ChecklistRule(
        N_("Throughput is given with the load that it costs"),
        "H B2",
        _kept_if(
            _watched,
            N_("CPU time of client and server per operation is given"),
            N_("CPU time is not known; only throughput and latency are"),
        ),
    ),
    ChecklistRule(
        N_("Ratios have the right base, and normalised numbers geometric means"),
        "H B3, B5; HB 4",
        _kept(N_("ratios of geometric means to a named baseline")),
    ),
    ChecklistRule(
        N_("Rates are summarised by harmonic means"),
        "HB 3",
        _always(
            RuleVerdict.PART,
            N_(
                "means of throughput are geometric, not harmonic, so that no ratio depends on the "
                "baseline; every run's value is given"
            ),
        ),
    ),
    ChecklistRule(
        N_("Variation and statistical significance are given"),
        "H B4; HB 5, 7; S 11; R",
        _variability,
    ),
    ChecklistRule(N_("There are enough trials"), "S 9; R", _trials),
    ChecklistRule(N_("Normality is checked, not assumed"), "HB 6", _normality),
    ChecklistRule(
        N_("Percentiles where a mean says too little"),
        "HB 8; R",
        _kept_if(
            lambda facts: not facts.data.analysis.percentiles.empty,
            N_("percentiles up to the largest latency, from histograms"),
            N_("there are no histograms of latency: means and YCSB's own"),
        ),
    ),
    ChecklistRule(
        N_("The load does not wait for the responses"),
        "S 17",
        _kept_if(
            lambda facts: facts.data.study.open_loop,
            N_("latencies are also measured at fixed rates"),
            N_("each thread waits for its response; open_loop: true measures at fixed rates, too"),
            RuleVerdict.BROKEN,
        ),
    ),
    ChecklistRule(
        N_("Metrics are direct"),
        "S 12",
        _kept(N_("throughput and latency as the client sees them")),
    ),
    ChecklistRule(N_("All important effects are measured"), "S 13", _effects, procedure=True),
    ChecklistRule(
        N_("Simulated systems are validated"),
        "H C1",
        lambda facts: RuleFinding(RuleVerdict.NOT_APPLICABLE, _("the servers are real")),
        procedure=True,
    ),
    ChecklistRule(
        N_("The benchmark fits the question"),
        "H C2; S 6; R",
        _always(RuleVerdict.KEPT, N_("the study's author chose the workloads"), stated=True),
    ),
    ChecklistRule(N_("Calibration and validation have data of their own"), "H C3; S 18", _models),
    ChecklistRule(
        N_("Platform, settings and varying factors are documented"),
        "H E1; HB 9; S 14; R",
        _platform,
    ),
    ChecklistRule(
        N_("The platform is reasonable"),
        "S 15",
        _kept_if(
            lambda facts: not facts.one_machine,
            N_("client and server have machines of their own"),
            N_("client and server share a machine; hosts in the profile separate them"),
        ),
    ),
    ChecklistRule(
        N_("Results of the parts are given"),
        "H E2; HB 12",
        _kept(N_("each cell is in an appendix, each value in a CSV file")),
    ),
    ChecklistRule(
        N_("Absolute numbers, not only relative ones"),
        "H E3; HB 1",
        _kept(N_("the first table has both")),
    ),
    ChecklistRule(
        N_("Code, parameters and data are available"),
        "R; A",
        _always(
            RuleVerdict.PART,
            N_("the archive has all; whether it is deposited with a DOI is up to the author"),
            stated=True,
        ),
    ),
    ChecklistRule(
        N_("The artifact is documented, complete and can be run"),
        "A",
        _kept(N_("an archive has raw logs and workflow, verifies itself and rebuilds this report")),
    ),
    ChecklistRule(N_("Everything planned is reported"), "S 19; A", _complete),
    ChecklistRule(N_("Others obtained the same"), "A", _reviewed),
    ChecklistRule(N_("Like is compared with like"), "R; S 5", _alike),
    ChecklistRule(
        N_("Cold and hot runs are told apart"),
        "R",
        _always(
            RuleVerdict.PART,
            N_("every run is on a fresh server just after loading; cold starts were not measured"),
        ),
        procedure=True,
    ),
    ChecklistRule(N_("Warm-up is left out"), "R", _warm),
    ChecklistRule(
        N_("Preprocessing is the same and not in the time"),
        "R",
        _kept(N_("YCSB loads every store in the same way, before the measured phase")),
        procedure=True,
    ),
    ChecklistRule(N_("Results are correct"), "R", _correct),
    ChecklistRule(
        N_("How time was taken and summarised is described"),
        "HB 10",
        _kept(N_("in the sections on method and decision rules")),
    ),
    ChecklistRule(
        N_("Upper bounds are shown"),
        "HB 11",
        _kept_if(
            lambda facts: facts.ceiling_control,
            N_("the client's own limit was measured"),
            N_("the client's own limit was not measured; client_ceiling: true does"),
        ),
    ),
    ChecklistRule(
        N_("Figures do not mislead: axes, lines, ratios"),
        "HB 12; S 20, 21",
        _kept(N_("bars start at zero or show their break; ratios have logarithmic axes")),
    ),
    ChecklistRule(
        N_("Precision fits the spread, summaries fit the data"),
        "S 10, 22",
        _kept(N_("sentences on the first page are made from the decisions")),
    ),
    ChecklistRule(N_("Nothing else runs"), "H; R", _quiet),
]
