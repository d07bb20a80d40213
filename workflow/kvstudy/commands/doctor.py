import shutil
import sys
import textwrap
from pathlib import Path

import click

from kvstudy.language.reasons import sentence

WIDTH = 88

# Program, what needs it, and how to get it.
TOOLS = [
    ("java", "YCSB", "install openjdk-17-jdk-headless"),
    ("setpriv", "servers that end with their cell", "install util-linux"),
    ("pandoc", "the report", "install pandoc"),
    ("latexmk", "the PDF", "install latexmk and TeX Live, see envs/system/"),
]


STATES = {True: "good", False: "not good", None: "open"}


@click.command("doctor")
@click.option("--machine", is_flag=True, help="Show what this machine does to measurements.")
@click.option("--strict", is_flag=True, help="With --machine: status 1 when something is not good.")
def command(machine: bool, strict: bool) -> None:
    """Show what is ready on this machine: tools, YCSB, stores by provider.

    Exit status 1 when a tool is missing that every study needs.
    With --machine: what makes measurements on this machine noisy, or not
    comparable with those of others; exit status 0 unless --strict is given.
    """
    if strict and not machine:
        raise click.UsageError("--strict belongs to --machine")
    problems = _machine() if machine else _ready()
    sys.exit(1 if problems and (strict or not machine) else 0)


def _machine() -> int:
    """Print all findings; returns how many are not good."""
    from kvstudy.measure.kernel import Tree
    from kvstudy.measure.preflight import load_average, preflight

    results = Path("results")
    findings = [*preflight(results), load_average(Tree(), results)]
    print(f"{'looked at':26}{'state':10}found")
    for finding in findings:
        print(f"{finding.title:26}{STATES[finding.good]:10}{sentence(finding.value)}")
        if finding.consequence:
            print(textwrap.indent(textwrap.fill(finding.consequence, WIDTH - 4), "    "))
    goods = [finding.good for finding in findings]
    worse, unseen = goods.count(False), goods.count(None)
    print()
    print(f"{len(findings)} looked at: {worse} not good, {unseen} open (cannot be seen from here)")
    return worse


def _ready() -> int:
    """Print tools and stores; returns how many tools are missing that every study needs."""
    from kvstudy.measure.client import library_problem
    from kvstudy.stores import docker, providers
    from kvstudy.stores.definition import load_store
    from kvstudy.study.load import STORES

    problems = 0
    for program, purpose, remedy in TOOLS:
        found = shutil.which(program)
        problems += found is None
        print(f"{program:9} {'ready' if found else f'missing (for {purpose}): {remedy}'}")
    problem = library_problem()
    problems += problem is not None
    # Remedies stand without quotes here.
    print(f"{'bindings':9} {(problem or 'ready').replace(chr(39), '')}")
    print(f"{'docker':9} {sentence(docker.daemon_problem() or 'ready')}")
    print()
    print(f"{'store':12}{'native':11}docker")
    reasons: dict[str, list[str]] = {}
    for path in sorted(STORES.glob("*/store.yaml")):
        store = load_store(path.parent)
        states = []
        for provider in ("native", "docker"):
            reason = sentence(providers.missing(store, provider) or "")
            states.append("missing" if reason else "no server" if store.embedded else "ready")
            if reason and store.title not in reasons.setdefault(reason, []):
                reasons[reason].append(store.title)
        print(f"{store.name:12}{states[0]:11}{states[1]}")
    print()
    for reason, titles in reasons.items():
        print(f"{', '.join(titles)}: {reason}")
    return problems
