"""``kvstudy doctor``"""

from __future__ import annotations

import shutil
import sys

import click

# Program, what needs it, and how to get it.
TOOLS = [
    ("java", "YCSB", "install openjdk-17-jdk-headless"),
    ("setpriv", "servers that end with their cell", "install util-linux"),
    ("pandoc", "the report", "install pandoc"),
    ("latexmk", "the PDF", "install latexmk and TeX Live, see envs/system/"),
]


@click.command("doctor")
def command() -> None:
    """Show what is ready on this machine: tools, YCSB, stores by provider.

    Exit status 1 when a tool is missing that every study needs.
    """
    from kvstudy.measure.client import LIBRARY
    from kvstudy.stores import docker, providers
    from kvstudy.stores.definition import load_store
    from kvstudy.study.load import STORES

    problems = 0
    for program, purpose, remedy in TOOLS:
        found = shutil.which(program)
        problems += found is None
        print(f"{program:9} {'ready' if found else f'missing (for {purpose}): {remedy}'}")
    built = any(LIBRARY.glob("kvstudy*.jar"))
    problems += not built
    print(f"{'bindings':9} {'ready' if built else f'missing: {LIBRARY}; run make setup'}")
    print(f"{'docker':9} {docker.daemon_problem() or 'ready'}")
    print()
    print(f"{'store':12}" + "".join(f"{provider:11}" for provider in ("native", "docker")).rstrip())
    reasons: dict[str, list[str]] = {}
    for path in sorted(STORES.glob("*/store.yaml")):
        store = load_store(path.parent)
        states = []
        for provider in ("native", "docker"):
            reason = providers.missing(store, provider)
            states.append("missing" if reason else "no server" if store.in_process else "ready")
            if reason and store.title not in reasons.setdefault(reason, []):
                reasons[reason].append(store.title)
        print(f"{store.name:12}" + "".join(f"{state:11}" for state in states).rstrip())
    print()
    for reason, titles in reasons.items():
        print(f"{', '.join(titles)}: {reason}")
    sys.exit(1 if problems else 0)
