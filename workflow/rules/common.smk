# What the rules share: what jobs are told, captions, and the files that many rules read.

import json
import os
from glob import glob
from pathlib import Path

from snakemake.io import apply_wildcards

from kvstudy.analyse.findings.files import TABLES as ANALYSED
from kvstudy.code_files import code_of
from kvstudy.study.controls import clients_of_trial
from kvstudy.workflow_plan import described, label

# A job notices by the first when Snakemake was killed, and stops; by the second it knows how
# to measure, which is no parameter of what was measured already.
if workflow.remote_exec:
    # On a node of a cluster, where the variable came from another host.
    os.environ.update(KVSTUDY_CONTROLLER=str(os.getpid()))
os.environ.setdefault("KVSTUDY_CONTROLLER", str(os.getpid()))
os.environ.update(KVSTUDY_CONFIG=PLAN.config.model_dump_json())
# For the captions of 'snakemake --report'.
config["described"] = described(PLAN.study, PLAN.run, PLAN.config.scale, PLAN.published)


def tidy(*names):
    """Tables that `kvstudy parse` and `kvstudy analyse` make."""
    return [f"results/{{run}}/{name}.csv" for name in names]


def texts(*names):
    """Files of what people read, in the language of the run."""
    return [f"results/{{run}}{PLAN.subfolder}/{name}" for name in names]


def tables(*forms):
    """The study's tables; those of published values are not known before they are made."""
    if PLAN.published:
        return texts("tables")
    return texts(*(f"tables/{name}.{form}" for name in TABLES for form in forms))


def figures(*forms):
    """The study's figures, likewise."""
    folder = f"figures/{{run}}{PLAN.subfolder}"
    if PLAN.published:
        return [folder]
    return [f"{folder}/{name}.{form}" for name in FIGURES for form in forms]


def document(form):
    """The report that people read."""
    return f"report/{{run}}{PLAN.suffix}.{form}"


def log_of(command, sub=None):
    """The log of a step; what people read has one for each language."""
    return f"results/{{run}}/logs{PLAN.subfolder if sub is None else sub}/{command}.log"


def in_report(path, caption, category, **labels):
    """The file as a result of 'snakemake --report'."""
    return report(path, caption=f"../report/{caption}.rst", category=category, labels=labels)


def captioned(paths, parts, kind, ending):
    """The files; those with this ending are results of 'snakemake --report'."""
    captions = {part.name: label(part.caption) for part in parts}
    return [
        (
            # The form may have a dot: .vl.json.
            in_report(path, kind.lower(), f"{kind}s", **{kind: name, "Shows": captions[name]})
            if path.endswith(ending) and (name := Path(path).name.split(".")[0])
            else path
        )
        for path in paths
    ]


def cells(planned):
    """What shows that these cells were measured."""
    return [f"results/{PLAN.run}/raw/{cell.path}/SHA256SUMS" for cell in planned]


def wanted(wildcards):
    """The cells that the run is to have, as far as that is known.

    Of a study that is measured until all is decided, those of one repetition more are asked for
    each time that the last look left something open.
    """
    until = PLAN.study.until
    if not until or PLAN.nothing_measured:
        return PLAN.wanted
    for number in range(until.first, until.last + 1):
        output = checkpoints.look.get(looked=number).output[0]
        with output.open() as file:
            if json.load(file)["stop"]:
                break
    return first_repetitions(number)


def first_repetitions(number):
    """The wanted cells of so many repetitions; trial cells have repetitions of their own."""
    return [
        cell
        for cell in PLAN.wanted
        if cell.repetition <= number or clients_of_trial(cell.store) is not None
    ]


def missing(wildcards):
    """What shows that those of them were measured that are not there yet."""
    return cells(cell for cell in wanted(wildcards) if cell not in MEASURED)


def probes(stores):
    return [f"results/{PLAN.run}/probes/{store}/SHA256SUMS" for store in stores]


def cell_of(wildcards):
    """The planned cell that a job measures."""
    return as_workflow_error(
        PLAN.cell, "{store}/{workload}/{parameters}/rep{repetition}".format(**wildcards)
    )


def order(wildcards):
    """The priority of a cell: the first one of the plan has the highest."""
    if workflow.remote_exec:
        # A failed cell does not stop its block; Snakemake does not hand that on to the node.
        workflow.execution_settings.keep_going = True
    return 1 + len(PLAN.cells) - PLAN.positions[cell_of(wildcards).path]


def is_partial(wildcards):
    return not PLAN.published and wildcards.run.endswith("-partial")


def made(run):
    """All that the rules make of a run; whatever of it was removed is made again."""
    # Of a source without claims or values, and of cells that others measured.
    idle = {"judge_claims": not CLAIMS, "audit_source": not PLAN.audited}
    idle |= {"write_commands": PLAN.study.imported}
    used = [rule for rule in workflow.rules if not idle.get(rule.name)]
    patterns = [str(path) for rule in used for path in rule.output if "{run" in path]
    return [apply_wildcards(path, {"run": run}) for path in patterns]


MEASURED = set(PLAN.measured)
GAPS = [f"results/{PLAN.run}/gaps/{store}.json" for store in PLAN.gaps]
# Empty for a study whose source published no values, or makes no claims.
PUBLISHED = PLAN.study_files("published.csv")
CLAIMS = PLAN.study_files("claims.yaml")
# What is made of the source's claims and of its audit.
JUDGED = tidy("claims") if CLAIMS else []
AUDIT = tidy("audit") if PLAN.audited else []
# What all that shows values reads.
STUDY = [PLAN.study_file, *PLAN.of_stores("store.yaml"), *PUBLISHED, *AUDIT]
TABLES = [table.name for table in PLAN.study.tables]
FIGURES = [figure.name for figure in PLAN.study.drawn_figures]
FIGURE_FORMS = ["pdf", "svg", "png", "csv"]
# Of the cells at fixed rates, apart from all others.
OPEN_LOOP = tidy(
    *(f"open-loop/{name}" for name in ("cells", "measurements", "series", "histograms", "targets"))
)
ANALYSIS = ["results/{run}/analysis/drift.json"] + tidy(*(f"analysis/{name}" for name in ANALYSED))
# What tables are made of, for the report and for the workbook; what the stores are, and what the
# source says of it, is read where a table asks for it.
TABLES_READ = [
    *PLAN.study_files("properties.yaml"),
    *PLAN.of_stores("properties.yaml"),
    *tidy("measurements", "summary", "cells", "probes"),
    "results/{run}/environment.json",
    *ANALYSIS,
    *JUDGED,
]
