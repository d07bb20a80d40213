"""The plain commands of a run, cell by cell, for a person who repeats one by hand."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from kvstudy.errors import DataError
from kvstudy.stores.container_network import BRIDGE_NAME, CONTAINER_ADDRESS
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.server import HOST
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import STORES
from kvstudy.study.model import Study
from kvstudy.study.raw import END_OF_DELAY, GAP, command_sections, is_complete
from kvstudy.study.workload import field_names

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)
# What bash still reads between double quotes.
READ_IN_QUOTES = re.compile(r'([\\"$`])')


@dataclass(frozen=True)
class Substitutions:
    """Replacements by ``$NAME``: ``folders`` text for text, ``ports`` whole numbers."""

    folders: dict[str, str]
    ports: dict[int, str]

    def line(self, line: str, of_server: tuple[str, ...] = ("",)) -> str:
        """A line of words, as ``shlex.join`` makes it, with > and & between them.

        Only words that begin with one of ``of_server`` have a port; in others, 10000 may be a
        number of keys.
        """
        words: list[str] = []
        for word in shlex.split(line):
            assigned = ASSIGNMENT.fullmatch(word)
            places = self if word.startswith(of_server) else replace(self, ports={})
            if word in (">", "&"):
                words.append(word)
            elif assigned and all("=" in before for before in words):
                # Before the command: its name must be outside of the quotes.
                words.append(f"{assigned[1]}={places.word(assigned[2])}")
            else:
                words.append(places.word(word))
        return " ".join(words)

    def word(self, word: str) -> str:
        """One word, quoted where bash needs it."""
        patterns = [re.escape(text) for text in sorted(self.folders, key=len, reverse=True)]
        patterns += [rf"(?<![\w.]){number}(?!\w)" for number in self.ports]
        names = self.folders | {str(number): name for number, name in self.ports.items()}
        # Every second piece is what a pattern matches.
        pieces = re.split(f"({'|'.join(patterns)})", word) if patterns else [word]
        if len(pieces) == 1:
            return shlex.quote(word)
        pieces[::2] = [READ_IN_QUOTES.sub(r"\\\1", piece) for piece in pieces[::2]]
        pieces[1::2] = [names[piece] for piece in pieces[1::2]]
        return f'"{"".join(pieces)}"'


CONTAINER = "kvstudy-by-hand"
# Where clients reach a container that is not on the host's network.
ADDRESSES = {
    "nat": "ADDRESS=$(ip -4 -o addr show dev "
    f"\"$(docker network inspect bridge --format '{BRIDGE_NAME}')\" | "
    "sed 's|.*inet \\([0-9.]*\\).*|\\1|')",
    "bridge": f"until ADDRESS=$(docker inspect --format '{CONTAINER_ADDRESS}' {CONTAINER}) && "
    '[ "$ADDRESS" ]; do sleep 1; done',
}
# From the server's port to that of the program that delays requests.
FURTHER = 1000
DATA = 'mkdir -p "$CELL/data"'
RULE = "# " + "-" * 70


@dataclass(frozen=True)
class Measured:
    """A cell with its manifest and the sections of its commands.sh."""

    cell: Cell
    manifest: dict
    sections: dict[str, list[str]]
    store: Store

    @property
    def server(self) -> dict:
        return self.manifest["server"]

    @property
    def external(self) -> bool:
        """Return whether kvstudy did not start the server."""
        return self.server["provider"] == "external"

    @property
    def directory(self) -> str:
        """Return the folder of the measurement, as named in its commands."""
        return f"results/{self.manifest['run']}/measuring/{self.cell.path}"

    @property
    def root(self) -> str:
        """The project's folder there; "" where no command shows."""
        lines = "\n".join(chain(*self.sections.values()))
        folder = re.search(rf"(/[^\s'\"=:]*?)/{re.escape(self.directory)}", lines)
        return folder[1] if folder else ""

    @property
    def port(self) -> int | None:
        """The server's port; None for YCSB without a store."""
        if delay := self.manifest.get("delay"):
            return delay["server"]
        words = self.manifest["phases"][self.cell.measured_phase]["command"]
        for name, template in self.store.ycsb.properties.items():
            pattern = re.escape(f"{name}={template}").replace(r"\{host\}", ".+")
            if r"\{port\}" in pattern:
                pattern = pattern.replace(r"\{port\}", r"(\d+)")
                for number in filter(None, (re.fullmatch(pattern, word) for word in words)):
                    return int(number[1])
        return None

    @property
    def network(self) -> dict[str, str]:
        """The ``kind`` of the container's network and its ``host``, where the study names it."""
        return self.server.get("network", {"kind": "", "host": HOST})

    @property
    def ports(self) -> dict[str, int]:
        """Further ports by the names of their variables."""
        return {
            f"PORT_{name.upper()}": number
            for name, number in self.server.get("ports", {}).items()
            if name not in self.store.side_ports
        }

    @cached_property
    def places(self) -> Substitutions:
        folders = {self.directory: "$CELL"}
        if self.root:
            folders |= {f"{self.root}/{self.directory}": "$CELL", self.root: "$KVSTUDY"}
        if "host" in self.server:
            # By hand, all of it is on one machine.
            folders |= {self.server["host"]: HOST, self.server["folder"]: "$CELL"}
        if self.network["kind"] in ADDRESSES:
            folders[self.network["host"]] = "$ADDRESS"
        command = self.server.get("command") or []
        if "--name" in command:
            folders[command[command.index("--name") + 1]] = CONTAINER
        # The user who measured, where a server must be told.
        if user := re.search(r"--user=\S+", " ".join(self.sections.get("server", []))):
            folders[user[0]] = "--user=$(id -un)"
        ports = {number: f"${name}" for name, number in self.ports.items()}
        if self.port and not self.external:
            for distance in self.store.side_ports.values():
                ports[self.port + distance] = f"$((PORT + {distance}))"
            ports[self.port] = "$PORT"
        if delay := self.manifest.get("delay"):
            ports[delay["port"]] = f"$((PORT + {FURTHER}))"
        return Substitutions(folders, ports)


def commands_of_run(study: Study, scale: float, run: str, raw: Path) -> str:
    """The text of commands.txt for the measured cells below ``raw``.

    DataError for a cell whose commands or manifest cannot be read. Cells without logs are
    named at the end.
    """
    planned = plan(study, scale)
    complete = [cell for cell in planned if is_complete(raw / cell.path)]
    gaps = [cell for cell in complete if (raw / cell.path / GAP).is_file()]
    cells = [_read(raw / cell.path, cell) for cell in complete if cell not in gaps]
    # As they were measured, which need not be as they were planned.
    cells.sort(key=lambda each: (each.manifest["started"] or "", each.manifest["position"] or 0))
    left_out = [cell.path for cell in planned if cell not in complete or cell in gaps]
    blocks = [_head(run, cells)]
    blocks += [_block(number, each) for number, each in enumerate(cells, start=1)]
    if left_out:
        names = [f"#   {path}" for path in left_out]
        blocks.append([RULE, "# Not measured; cells.csv shows why:", *names])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _read(folder: Path, cell: Cell) -> Measured:
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        lines = (folder / "commands.sh").read_text(encoding="utf-8").splitlines()
        manifest["server"]["provider"], manifest["phases"][cell.measured_phase]["command"]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{folder}: its commands cannot be read ({error!r})") from None
    return Measured(cell, manifest, command_sections(lines), load_store(STORES / cell.folder))


def _head(run: str, cells: list[Measured]) -> list[str]:
    root = next((each.root for each in cells if each.root), "")
    port = next((each.port for each in cells if each.port), 6379)
    ports = {name: number for each in cells for name, number in each.ports.items()}
    return [
        f"# The commands of {run}, to repeat a cell by hand. In the order of measurement.",
        "#",
        "# They are for bash. Paste the lines up to the first cell once, then those of a cell.",
        "# The project must be set up there (make setup), which builds YCSB with its bindings.",
        "# Set a variable beforehand to use another folder or port. A port must be free.",
        "# kvstudy waits until the server answers and, where it has tables, makes an empty one.",
        "#",
        "# Measured with:",
        *(f"#   {line}" for line in _versions(cells)),
        "",
        "# The project's folder",
        f"KVSTUDY=${{KVSTUDY:-{shlex.quote(root) if root else '$PWD'}}}",
        "# Where servers keep their data, and YCSB its histograms",
        "WORK=${WORK:-$(mktemp -d)}",
        f"PORT=${{PORT:-{port}}}",
        *(f"{name}=${{{name}:-{number}}}" for name, number in ports.items()),
        'cd "$KVSTUDY" && PATH=$KVSTUDY/.venv/bin:$PATH',
        "# A server is a process group of its own; exclamation marks mean nothing.",
        "set -m +H",
    ]


def _versions(cells: list[Measured]) -> list[str]:
    servers, clients = [], []
    for each in cells:
        server, java, client = each.server, each.manifest["java"], each.manifest["client"]
        if server["provider"] != "none":
            program = server.get("image") or server.get("program") or "at an address"
            digest = f", {server['digest']}" if server.get("digest") else ""
            how = f"{server['provider']}: {program}{digest}"
            servers.append(f"{each.store.title} {server['version']} ({how})")
        clients.append(f"Java: {java['version']} ({java['runtime']})")
        if java["variables"]:
            clients.append(f"Java's variables were set: {', '.join(java['variables'])}")
        core = next((jar for jar in client["jars"] if jar.startswith("core-")), "YCSB")
        kind = "kvstudy's bindings" if client["kind"] == "kvstudy" else "YCSB's own bindings"
        clients.append(f"YCSB: {core} with {kind} (kvstudy {each.manifest['kvstudy']})")
    return list(dict.fromkeys(servers + clients))


def _block(number: int, each: Measured) -> list[str]:
    cell, manifest = each.cell, each.manifest
    server = "without a server"
    if each.server["provider"] != "none":
        server = f"{each.store.title} {each.server['version']}, {each.server['provider']}"
    lines = [RULE, f"# {number}. {cell.path}", f"# {server}; measured {manifest['started']}"]
    if cell.sets_rate:
        lines.append("# a trial cell: its throughput sets the rates of the cells at fixed rates")
    elif cell.load is not None:
        lines.append(f"# at a fixed rate, {cell.load} % of the throughput of its trial cell")
    lines += [
        f"CELL=$WORK/{cell.path}; {DATA}",
        f"export CLASSPATH={each.places.word(manifest['client']['classpath'])}",
        *_server(each),
    ]
    if each.port is not None:
        address = each.server.get("address") or f"{each.network['host']}:{each.port}"
        command = ["kvstudy", "ready", cell.folder, "--address", address]
        fields = field_names(dict(cell.properties))
        if fields != field_names({}):
            command += ["--fields", ",".join(fields)]
        lines += ["# ready", each.places.line(shlex.join(command))]
    properties = each.store.ycsb.properties.items()
    of_server = tuple(f"{name}=" for name, value in properties if "{port}" in value)
    for name, commands in each.sections.items():
        if name == "delay":
            lines += ["# each request waits on its way to the server"]
            lines += [*map(each.places.line, commands), "DELAY=$!; sleep 2"]
        phase, number, _ = name.partition("-")
        if phase in cell.phases:
            lines.append(f"# {name}{': next to the next command' if number else ''}")
            lines += [each.places.line(line, of_server) for line in commands]
            lines += ['CLIENTS="$CLIENTS $!"'] if number else []
    if any("-" in name for name in each.sections):
        lines.append("wait $CLIENTS; CLIENTS=")
    if "delay" in each.sections:
        lines.append("kill $DELAY")
    return [*lines, *_stop(each)]


def _server(each: Measured) -> list[str]:
    # What the server becomes when root starts it.
    user = each.store.native.user if each.server["provider"] == "native" else None
    lines, kind = ["# server"], each.network["kind"]
    lines += [ADDRESSES[kind]] if kind == "nat" else []
    again = False
    for line in each.sections.get("server", []):
        if line.startswith("#"):
            again = not each.external and "until it succeeds" in line
            lines += [] if again else [line]
        elif again:
            lines.append(f"until {each.places.line(line)}; do sleep 1; done")
        elif line.endswith(" &"):
            command = each.places.line(line.removesuffix(" &"))
            if user:
                become = f"setpriv --reuid {user} --regid $(id -gn {user}) --clear-groups --"
                lines.append(
                    f'AS=$([ "$(id -u)" != 0 ] || echo "{become}")  # it refuses to run as root'
                )
                # Variables of the command are before it.
                variables = re.match(r'(?:\w+=(?:"[^"]*"|\S*) )*', command)[0]
                command = f"{variables}$AS {command.removeprefix(variables)}"
            lines += [f'{command} < /dev/null > "$CELL/server.log" 2>&1 &', "SERVER=$!"]
            lines += [ADDRESSES[kind]] if kind == "bridge" else []
        elif (shown := each.places.line(line)) != DATA:
            lines.append(shown)
    return lines


def _stop(each: Measured) -> list[str]:
    lines = ["# stop"]
    for line in each.sections.get("stop", []):
        if line == END_OF_DELAY:
            # It has ended after the phase.
            continue
        if line.startswith("kill "):
            signal = shlex.split(line)[1]
            lines.append(f'kill {signal} -- "-$SERVER"; wait "$SERVER"')
        elif line.startswith("#"):
            lines.append(line)
        else:
            lines += [each.places.line(line), 'wait "$SERVER"']
    return [*lines, 'rm -rf "$CELL/data"']
