"""Commands about this machine: tools, servers and stores."""

import json
import shutil
import sys
import textwrap
from pathlib import Path

import click

from kvstudy.commands.measure import STUDY
from kvstudy.commands.options import PROVIDER, configuration, study_to_measure
from kvstudy.errors import InputError, KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.measure import preflight
from kvstudy.measure.client import library_problem
from kvstudy.measure.controller import clone_lock
from kvstudy.measure.kernel import Tree
from kvstudy.measure.planning.progress import why_missing
from kvstudy.stores import docker_daemon, native, providers
from kvstudy.stores.definition import load_store, load_stores
from kvstudy.stores.install import Unavailable, install_packages, install_server
from kvstudy.stores.packages import add, fitting, packaged_stores
from kvstudy.stores.process import measuring_alone
from kvstudy.study.controls import measured_uses
from kvstudy.study.load import STORES, load_study, study_path
from kvstudy.study.naming import check_known
from kvstudy.study.workload import field_names

WIDTH = 88
# Program, what needs it, and how to get it.
TOOLS = [
    ("java", "YCSB", "install openjdk-17-jdk-headless"),
    ("setpriv", "servers that end with their cell", "install util-linux"),
    ("pandoc", "the report", "install pandoc"),
    ("latexmk", "the PDF", "install latexmk and TeX Live, see envs/system/"),
]
STATES = {True: "good", False: "not good", None: "unknown"}


@click.command("doctor")
@click.option("--machine", is_flag=True, help="Show sources of noise on this machine.")
@click.option(
    "--strict",
    is_flag=True,
    help="With --machine: exit with status 1 if a source of noise is found.",
)
def doctor(machine: bool, strict: bool) -> None:
    """Show which tools, YCSB bindings and stores are ready on this machine.

    The exit status is 1 if a tool that every study needs is missing.
    With --machine, shows possible sources of noise instead, and properties in which
    this machine may differ from others; the exit status is then 0, unless --strict is
    given and a source of noise is found.
    """
    if strict and not machine:
        raise click.UsageError("--strict belongs to --machine")
    problems = _machine() if machine else _ready()
    sys.exit(1 if problems and (strict or not machine) else 0)


def _machine() -> int:
    """Print all findings; returns how many are not good."""
    results = Path("results")
    findings = [*preflight.preflight(results), preflight.load_average(Tree(), results)]
    print(f"{'check':26}{'state':10}value")
    for finding in findings:
        head = f"{finding.title:26}{STATES[finding.good]:10}"
        # Some processors have many mitigations.
        line = head + sentence(finding.value)
        print(textwrap.fill(line, WIDTH, subsequent_indent=" " * len(head)))
        if finding.consequence:
            print(textwrap.indent(textwrap.fill(finding.consequence, WIDTH - 4), "    "))
    goods = [finding.good for finding in findings]
    worse, unseen = goods.count(False), goods.count(None)
    print()
    print(f"{len(findings)} checks: {worse} not good, {unseen} unknown")
    return worse


def _ready() -> int:
    """Print tools and stores; returns how many tools are missing that every study needs."""
    problems = 0
    for program, purpose, remedy in TOOLS:
        executable = shutil.which(program)
        problems += executable is None
        print(f"{program:9} {'ready' if executable else f'missing (for {purpose}): {remedy}'}")
    problem = library_problem()
    problems += problem is not None
    # Remedies are without quotes here.
    print(f"{'bindings':9} {(problem or 'ready').replace(chr(39), '')}")
    print(f"{'docker':9} {sentence(docker_daemon.daemon_problem() or 'ready')}")
    print()
    print(f"{'store':12}{'native':11}docker")
    reasons: dict[str, list[str]] = {}
    for path in sorted(STORES.glob("*/store.yaml")):
        store = load_store(path.parent)
        states = []
        for provider in ("native", "docker"):
            reason = sentence(providers.missing_requirement(store, provider) or "")
            states.append("missing" if reason else "no server" if store.embedded else "ready")
            if reason and store.title not in reasons.setdefault(reason, []):
                reasons[reason].append(store.title)
        print(f"{store.name:12}{states[0]:11}{states[1]}")
    print()
    for reason, titles in reasons.items():
        print(f"{', '.join(titles)}: {reason}")
    return problems


@click.group("servers")
def servers() -> None:
    """Install servers: vendors' releases into servers/, system packages with apt.

    \b
    Examples:
      kvstudy servers list
      kvstudy servers get aerospike riak
      kvstudy servers add ~/Downloads/riak_3.4.0-OTP26_amd64.deb
    """


@servers.command("list")
def list_() -> None:
    """List the installed servers and the known packages."""
    for name, store in packaged_stores().items():
        print(f"{name}: {native.find_program(store) or 'not installed'}")
        for package in store.native.packages:
            here = ", for this machine" if package is fitting(store) else ""
            print(
                f"  {package.version} ({package.machine}, glibc {package.glibc} or later, "
                f"{package.license}{here})\n    {package.url}\n    sha256 {package.sha256}"
            )


@servers.command("add")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--accept-unknown", is_flag=True, help="Accept an unknown checksum.")
def add_(path: Path, accept_unknown: bool) -> None:
    """Add a downloaded server package (.deb, .tgz) or a release folder.

    The checksum of a package should be one that 'kvstudy servers list' shows; otherwise
    the command asks before it accepts the package. A package is unpacked to
    servers/<store>; a folder is linked there. Reports name the package and say whether its
    checksum is known.
    """

    def accept(question: str) -> bool:
        return accept_unknown or (sys.stdin.isatty() and click.confirm(question))

    with clone_lock(), measuring_alone("installing servers"):
        store, program = add(path, accept)
    print(f"{store.title} is ready: {program}")


@servers.command("get")
@click.argument("names", nargs=-1, metavar="[STORE]...")
@click.option("--study", help="Install the servers of this study.")
def get(names: tuple[str, ...], study: str | None) -> None:
    """Download and install the servers of one or more stores.

    Servers come from packages of the distribution (which need root or sudo), from an
    install script, or from vendors' packages, which are downloaded and verified.
    Without STORE, installs the servers of all stores, or with --study those of a study;
    a vendor's package is downloaded only if its store is named. Servers that this
    system does not support are skipped, and the reason is printed. The next call
    resumes an interrupted download. The command waits while a cell is being measured.
    """
    stores = {path.parent.name: load_store(path.parent) for path in STORES.glob("*/store.yaml")}
    for name in names:
        check_known("servers", "store", name, sorted(stores))
    requested = list(names) or sorted(stores)
    if study and not names:
        requested = [use.store for use in load_study(study_path(study)).stores]
    wanted = [stores[name] for name in dict.fromkeys(requested)]
    problems = [install_packages(wanted)]
    with clone_lock(), measuring_alone("installing servers"):
        for store in wanted:
            try:
                install_server(store, download=bool(names))
            except Unavailable as error:
                if names:
                    problems.append(str(error))
                else:
                    print(f"left out: {error}")
            except KvstudyError as error:
                problems.append(str(error))
    if text := "\n".join(filter(None, problems)):
        raise InputError(text)


@click.command("ready")
@click.argument("store")
@click.option("--address", required=True, help="host:port of the server.")
@click.option(
    "--fields", default="", help="Comma-separated field names of a record [default: YCSB's]."
)
def ready(store: str, address: str, fields: str) -> None:
    """Wait until a manually started server of STORE is ready for the load phase.

    Prints the server's version. If the store uses tables, creates the empty table
    that YCSB needs. Refuses a server that already holds records.
    """
    loaded = load_store(STORES / store)
    version = providers.make_ready(
        loaded, address, fields.split(",") if fields else field_names({})
    )
    print(f"{loaded.title} {version} at {address} is ready")


@click.command("gap")
@click.argument("store")
@click.option("--study", type=STUDY, required=True, help="Path of the study.yaml.")
@click.option("--provider", type=PROVIDER, default="auto", show_default=True)
@click.option("--raw", type=click.Path(path_type=Path), required=True, help="The run's raw logs.")
@click.option(
    "--output", type=click.Path(path_type=Path), required=True, help="The JSON file to write."
)
def gap(store: str, study: Path, provider: str, raw: Path, output: Path) -> None:
    """Record why STORE of a study cannot be measured on this machine.

    The workflow runs this command. The report shows the reason instead of numbers,
    even if it is rebuilt on another machine.
    """
    config = configuration()
    resolved = "native" if config.hosts.server else providers.resolve(provider, raw)
    loaded = study_to_measure(study)
    stores = load_stores(loaded, measured_uses(loaded))
    check_known(f"{study}: stores", "store", store, list(stores))
    reason = why_missing({store: stores[store]}, config, resolved).get(store)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"reason": reason or "not measured"}) + "\n", encoding="utf-8")
    print(f"{output}: {sentence(reason or '')}")
