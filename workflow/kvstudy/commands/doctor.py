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

    stores = [load_store(path.parent) for path in sorted(STORES.glob("*/store.yaml"))]
    rows = [("store", *providers.PROVIDERS)]
    reasons = []
    for store in stores:
        states = []
        for provider in providers.PROVIDERS:
            reason = providers.missing(store, provider)
            states.append("missing" if reason else "ready")
            if reason and (store.title, reason) not in reasons:
                reasons.append((store.title, reason))
        rows.append((store.name, *states))
    for name, *states in rows:
        print(f"{name:12}" + "".join(f"{state:10}" for state in states).rstrip())
    print()
    for title, reason in reasons:
        print(f"{title}: {reason}")
    sys.exit(1 if problems else 0)
