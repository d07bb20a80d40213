"""The campaign of faults: what each test needs, and the table of what came of all of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.cells import small
from tests.faults.finished import copy, finished
from tests.faults.scene import Scene, at_most

__all__ = ["copy", "finished", "small"]

# In the order of the table; each is a file test_<kind>.py, and servers have a second one.
KINDS = (
    *("server", "client", "controller", "place"),
    *("configuration", "archive", "report", "import"),
)
# For one test, also on a busy machine.
SECONDS = 120
TABLE = re.compile(r"(<!-- table of the campaign -->\n).*?(<!-- end of the table -->)", re.S)


@pytest.fixture
def scene(pretend_study, monkeypatch, record_property):
    """The study ``small`` with pretended store and client; counts what a fault left behind."""
    it = Scene(Path.cwd(), monkeypatch)
    with at_most(SECONDS):
        yield it
    left, lost = it.left(), it.lost()
    record_property("left", len(left))
    record_property("lost", len(lost))
    it.end(left)
    assert left == [], "still running"
    assert lost == [], "cells that the fault was none of are not as they were"


def pytest_addoption(parser):
    parser.addoption("--table", type=Path, help="Write the table of results into this page.")
    parser.addoption("--inputs", type=float, default=1, help="Factor on the fuzzer's inputs.")
    parser.addoption(
        "--every", type=int, default=1, help="Of each test's rows, take one in so many."
    )


def pytest_collection_modifyitems(config, items):
    """Leave out rows of data, as ``--every`` says; each test keeps its first one."""
    every, seen = config.getoption("--every"), Counter()
    kept = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        if seen[test] % every == 0:
            kept.append(item)
        seen[test] += 1
    items[:] = kept


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(config.getoption("--table")))


class Tally:
    """Counts what all tests report, also those of other processes, and writes the table."""

    def __init__(self, page: Path | None) -> None:
        self.page = page
        self.bad: set[str] = set()
        self.skipped: set[str] = set()
        self.faults: dict[str, Counter] = {kind: Counter() for kind in KINDS}
        self.fuzzed: dict[str, tuple[int, int]] = {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.bad.add(report.nodeid)
        if report.skipped:
            self.skipped.add(report.nodeid)
        if report.when != "teardown" or report.nodeid in self.skipped:
            return
        noted = dict(report.user_properties)
        kind = Path(report.nodeid.split("::")[0]).stem.removeprefix("test_")
        kind = {"real_servers": "server"}.get(kind, kind)
        if "parser" in noted:
            inputs, unexpected = self.fuzzed.get(noted["parser"], (0, 0))
            of_all = inputs + noted["inputs"], unexpected + noted["unexpected"]
            self.fuzzed[noted["parser"]] = of_all
        elif kind in self.faults:
            counts = self.faults[kind]
            counts["injected"] += 1
            counts["handled"] += report.nodeid not in self.bad
            counts["lost"] += noted.get("lost", 0)
            counts["left"] += noted.get("left", 0)

    def pytest_sessionfinish(self):
        if self.page:
            text = self.page.read_text(encoding="utf-8")
            text = TABLE.sub(lambda result: f"{result[1]}\n{self.table()}\n{result[2]}", text)
            self.page.write_text(text, encoding="utf-8")

    def table(self) -> str:
        columns = ("injected", "handled", "lost", "left")
        rows = [
            (kind, *(counts[name] for name in columns))
            for kind, counts in self.faults.items()
            if counts
        ]
        rows.append(("all", *(sum(row[at] for row in rows) for at in range(1, 5))))
        parsers = [(name, *counts) for name, counts in sorted(self.fuzzed.items())]
        parsers.append(("all", *(sum(row[at] for row in parsers) for at in (1, 2))))
        header = ("kind", "faults injected", "handled as stated", "cells lost", "processes left")
        return "\n".join(
            [
                *_lines(header, rows),
                "",
                *_lines(("parser", "inputs", "unexpected errors"), parsers),
            ]
        )

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(self.table())


def _lines(header, rows):
    """A table of Markdown whose first column is text and all others are counts."""
    texts = [[row[0], *(f"{count:,}".replace(",", " ") for count in row[1:])] for row in rows]
    rule = ["---", *["---:"] * (len(header) - 1)]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *texts)]
