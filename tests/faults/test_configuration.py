"""Faults in what a user writes: study, configuration, workloads, stores, source, options."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kvstudy.errors import InputError

from tests.faults.scene import CELL, OTHER, edited, says

STUDY = "config/studies/small/study.yaml"
CONFIG = "config/config.yaml"
WORKLOAD = "workloads/a"
STORE = "envs/stores/pretend/store.yaml"
VERBS = "envs/stores/pretend/verbs.py"
SOURCE = Path("config/studies/haverinen2018")
PUBLISHED = str(SOURCE / "published.csv")
QUOTES = str(SOURCE / "quotes.yaml")
CLAIMS = str(SOURCE / "claims.yaml")
BIB = "report/references.bib"
# Ten levels of ten each.
BOMB = "".join(
    f"x{level}: &x{level} [{', '.join(['*x' + str(level - 1)] * 10)}]\n" for level in range(1, 10)
)

Edit = Callable[[bytes], bytes]


def to(old: str, new: str) -> Edit:
    """Put ``new`` in place of what the pattern finds first."""

    def change(content: bytes) -> bytes:
        after, count = re.subn(old, lambda _: new, content.decode(), count=1, flags=re.M)
        assert count, f"{old!r} is not there"
        return after.encode()

    return change


def more(text: str) -> Edit:
    return lambda content: content.rstrip() + b"\n" + text.encode()


def only(content: bytes) -> Edit:
    return lambda _: content


def until(keys: str) -> Edit:
    """Repetitions until all is decided."""
    return to("repetitions: 2", f"repetitions: {{{keys}}}")


# Name, file, what is wrong in it, what the user reads.
IN_STUDY: list[tuple[str, Edit, str]] = [
    ("a key twice", more("title: Another\n"), r"title.*(twice|second|already)"),
    ("no YAML", more("tables: [\n"), "not valid YAML"),
    ("a tab", more("\ttitle: x\n"), "not valid YAML"),
    ("nothing", only(b""), "must hold keys and values"),
    ("a list", only(b"- a\n- b\n"), "must hold keys and values"),
    ("not UTF-8", only(b"name: \xff\xfe\n"), "cannot be read|not valid YAML"),
    ("zero bytes", only(b"name: \x00\n"), "not valid YAML"),
    ("nested without end", only(b"name: " + b"[" * 20000), "nested more than 40 levels deep"),
    ("nested maps", only(b"name: " + b"{a: " * 20000), "nested more than 40 levels deep"),
    (
        "aliases of aliases",
        only(b"x0: &x0 [1, 1]\n" + BOMB.encode()),
        "more than 100000 values",
    ),
    ("an object of Python", more("seed: !!python/object/apply:os.getcwd []\n"), "not valid YAML"),
    ("an unknown key", more("repititions: 3\n"), r"repititions: unknown key; did you mean 'rep"),
    ("a missing key", to("^title: .*\n", ""), "title: is missing; add it"),
    ("another name", to("name: small", "name: large"), "the folder is 'small'"),
    ("a name with a space", to("name: small", "name: my study"), "name: "),
    ("no stores", to(r"stores: \[.*\]", "stores: []"), "stores: "),
    ("an unknown store", to("pretend, unbound", "pretand"), "unknown store 'pretand'; did you me"),
    ("a store twice", to("pretend, unbound", "pretend, pretend"), "stores.*pretend"),
    ("an unknown workload", to("a, c, insert", "a, z9"), "unknown workload 'z9'"),
    ("a workload twice", to("a, c, insert", "a, a"), r"workloads.*'?a'?"),
    ("no repetition", to("repetitions: 2", "repetitions: 0"), "repetitions: "),
    ("half a repetition", to("repetitions: 2", "repetitions: 1.5"), "repetitions: "),
    ("repetitions: yes", to("repetitions: 2", "repetitions: yes"), "repetitions: .*(yes|True)"),
    ("a million repetitions", to("repetitions: 2", "repetitions: 1000000"), "repetitions|cells"),
    ("as many as at most", until("from: 3, to: 3"), r"from \(3\) must be less than to \(3\)"),
    ("a look at one repetition", until("from: 1, to: 5"), r"repetitions\.from: must be 2 or more"),
    ("no end of repetitions", until("from: 3"), r"repetitions\.to: is missing"),
    ("a margin of 0", until("from: 3, to: 5, margin: 0"), "margin: must be greater than 0"),
    ("a margin of 10", until("from: 3, to: 5, margin: 10"), "margin: must be less than 1"),
    ("a margin of 10%", until("from: 3, to: 5, margin: 10%"), "margin: must be a number"),
    ("records of 0", to("records: 1000", "records: 0"), r"parameters\.records: "),
    ("records as a word", to("records: 1000", "records: many"), r"parameters\.records.*'many'"),
    ("too many records", to("records: 1000", "records: 3000000000"), "2.?147.?483.?647"),
    ("too many operations", to("operations: 2000", "operations: 3000000000"), "2.?147.?483.?647"),
    ("too many threads", to("threads: 2", "threads: 3000000000"), "threads"),
    ("records not a number", to("records: 1000", "records: .nan"), r"parameters\.records"),
    ("endless operations", to("operations: 2000", "operations: .inf"), r"parameters\.operations"),
    (
        "an unknown property",
        to("threads: 2}", "threads: 2, properties: {readpropotion: 1}}"),
        "readpropotion: unknown property; did you mean 'readproportion'",
    ),
    (
        "a share that is no number",
        to("threads: 2}", "threads: 2, properties: {readproportion: some}}"),
        "readproportion: 'some' is not a number",
    ),
    (
        "a share below nothing",
        to("threads: 2}", "threads: 2, properties: {readproportion: -1}}"),
        "readproportion: -1 is negative",
    ),
    (
        "a share that is not finite",
        to("threads: 2}", "threads: 2, properties: {readproportion: nan}}"),
        "readproportion: .*nan",
    ),
    ("two tables of a name", to("name: machine", "name: workload-a"), "tables.*workload-a"),
    ("an unknown kind of table", to("kind: machine", "kind: magic"), "tables"),
    ("an unknown kind of figure", to("kind: bars", "kind: magic"), "figures"),
    ("a table of no workload", to("workload: a, caption", "workload: z, caption"), "tables"),
    ("two shown sizes", more("open_loop: {loads: [2]}\n"), r"open_loop"),
    ("a noise floor of nobody", to("noise_floor: false", "noise_floor: redos"), "noise_floor"),
]
OTHER_FILES: list[tuple[str, str, Edit, str]] = [
    ("a typing error", WORKLOAD, to("readproportion", "readpropotion"), "did you mean 'readprop"),
    ("a line without =", WORKLOAD, more("readproportion\n"), "is not a line 'name=value'"),
    ("a negative share", WORKLOAD, to("readproportion=.*", "readproportion=-1"), "is negative"),
    ("not UTF-8", WORKLOAD, only(b"recordcount=\xff\n"), "workloads/a: cannot be read"),
    (
        "an unknown class",
        WORKLOAD,
        to("^workload=.*", "workload=site.Nothing"),
        # Before it is looked for: no file may change between a cell's repetitions.
        r"workload was site\.ycsb\..*, is now site\.Nothing",
    ),
    ("an unknown key", STORE, more("colour: red\n"), r"pretend/store\.yaml: colour: unknown key"),
    ("no YAML", STORE, more("options: {\n"), r"pretend/store\.yaml: not valid YAML"),
    ("a key twice", STORE, more("title: Twice\n"), r"pretend/store\.yaml: .*title"),
    ("no title", STORE, to("^title: .*\n", ""), r"pretend/store\.yaml: title: is missing"),
    ("ready at once", STORE, to("ready_seconds: 4", "ready_seconds: 0"), "ready_seconds"),
    ("ready never", STORE, to("ready_seconds: 4", "ready_seconds: .inf"), "ready_seconds"),
    ("no Python", VERBS, more("def (:\n"), r"pretend/verbs\.py"),
    ("a missing module", VERBS, to("^from kvstudy.stores", "from kvstudy.sthors"), r"verbs\.py"),
]
IN_CONFIG: list[tuple[str, Edit, str]] = [
    ("an unknown key", more("sclae: 1\n"), "sclae: unknown key; did you mean 'scale'"),
    ("a key twice", more("scale: 0.5\n"), "scale.*(twice|second|already)"),
    ("no YAML", more("stores: {\n"), r"config\.yaml: not valid YAML"),
    ("nothing", only(b""), "must hold keys and values"),
    ("an unknown study", to("^study: .*", "study: smal"), "unknown study 'smal'; did you mean"),
    ("a scale of 0", to("^scale: .*", "scale: 0"), "scale: "),
    ("a scale without end", to("^scale: .*", "scale: .inf"), "scale: "),
    ("a scale that is none", to("^scale: .*", "scale: .nan"), "scale: "),
    ("a giant scale", to("^scale: .*", "scale: 1.0e+9"), "2.?147.?483.?647|scale"),
    ("another provider", to("^provider: .*", "provider: podman"), "provider: "),
    ("a port too high", to("^port: .*", "port: 70000"), "port: "),
    ("a port below 0", to("^port: .*", "port: -5"), "port: "),
    ("cores that are none", to("^pin_cpus: .*", "pin_cpus: some"), "pin_cpus: must be true"),
]
OF_SOURCE: list[tuple[str, str, Edit, str]] = [
    ("nothing", PUBLISHED, only(b""), r"published\.csv: .*CSV"),
    ("only a header", PUBLISHED, only(b"a,b\n"), r"published\.csv: no column"),
    ("not UTF-8", PUBLISHED, only(b"\xff\xfe\x00"), r"published\.csv: .*save it as UTF-8"),
    ("a column less", PUBLISHED, to("store,", ""), r"published\.csv"),
    ("a mistyped store", PUBLISHED, to("mysql,a", "mysqll,a"), "line 2.*store.*did you mean 'mys"),
    ("a mistyped workload", PUBLISHED, to("mysql,a,", "mysql,aa,"), "line 2.*workload"),
    ("an unknown operation", PUBLISHED, to("overall", "overal"), "line 2.*operation"),
    ("an unknown metric", PUBLISHED, to("throughput", "thruput"), "line 2.*metric"),
    ("another unit", PUBLISHED, to("ops/s", "ms"), "line 2.*throughput in 'ms'; give it in 'ops/s"),
    ("another study", PUBLISHED, to("^haverinen2018", "haverinen2019"), "line 2.*study"),
    ("a word", PUBLISHED, to("3025", "fast"), "line 2.*value.*'fast' is no number"),
    ("no end", PUBLISHED, to("3025", "inf"), "line 2.*value.*inf"),
    ("a negative value", PUBLISHED, to("3025", "-3025"), "line 2.*value.*-3025"),
    ("threads below nothing", PUBLISHED, to("10000,1$", "10000,-1"), "line 2.*threads.*-1"),
    ("a value twice", PUBLISHED, lambda c: c + c.splitlines(True)[1], "a second throughput"),
    ("no entry of the source", BIB, to("haverinen2018", "haverinen"), "did you mean 'haverinen'"),
    ("an entry twice", BIB, lambda c: c * 2, r"references\.bib:\d+: 'jed.* twice; keep one"),
    ("an entry without end", BIB, more("@book{x, title={x"), r"references\.bib:\d+: .* no entry"),
    ("a comma less", BIB, more("@book{x, a={x} b={x}}"), r"references\.bib:\d+: cannot be read by"),
    ("no YAML", QUOTES, more("quotes: [\n"), r"quotes\.yaml: not valid YAML"),
    ("a key twice", QUOTES, more("setting: {runs: 2}\n"), r"quotes\.yaml: .*setting"),
    ("an unknown key", QUOTES, to("says:", "sais:"), r"quotes\.yaml: quotes\[0\].*sais"),
    ("a value that is lost", QUOTES, to("value: 48", "value: 48.10"), r"quotes\[0\]"),
    ("no address", QUOTES, to("mysql/c/overall/throughput", "mysql-c"), r"quotes\.yaml: quotes\["),
    ("division by 0", QUOTES, to(r"product: \[12, 4\]", "ratio: [12, 0]"), r"quotes\.yaml"),
    ("not in the tables", QUOTES, to("mysql/c/overall", "mysqll/c/overall"), "mysqll"),
    ("no YAML", CLAIMS, more("  - [\n"), r"claims\.yaml: not valid YAML"),
    (
        "an unknown kind",
        CLAIMS,
        to("kind: order", "kind: odour"),
        "unknown kind 'odour'",
    ),
    ("an unknown store", CLAIMS, to(r"\[mongodb, mysql\]", "[mongo, mysql]"), "unknown store 'mon"),
    ("an unknown workload", CLAIMS, to(r"\[a, b, c, update\]", "[a, z]"), "unknown workload 'z'"),
    ("an id twice", CLAIMS, to("id: H2", "id: H1"), "'H1' appears twice"),
    ("times that is none", CLAIMS, to("times: 0.5", "times: .nan"), r"claims\[1\].*times"),
    ("less than nothing", CLAIMS, to("times: 0.5", "times: -2"), r"claims\[1\].*times"),
]
EXTERNAL = ("--provider", "external", "--address")
OPTIONS: list[tuple[str, list[str], str]] = [
    ("a scale without end", ["--scale", "inf"], "scale"),
    ("a scale that is none", ["--scale", "nan"], "scale"),
    ("a scale of 0", ["--scale", "0"], "scale"),
    ("a scale below 0", ["--scale", "-1"], "scale"),
    ("a giant scale", ["--scale", "1e9"], "2.?147.?483.?647|scale"),
    ("a port below 0", ["--port", "-5"], "port"),
    ("a port too high", ["--port", "70000"], "port"),
    ("cores that are none", ["--pin-cpus", "a-b/c"], "pin"),
    ("cores that are not there", ["--pin-cpus", "900/901"], "cores|pin"),
    ("another provider", ["--provider", "podman"], "provider"),
    (
        "an address that is none",
        ["--mixed", "1", "--provider", "external", "--address", "x:y:z"],
        "address|host",
    ),
    ("no folder of YCSB", ["--ycsb-home", "nowhere"], "ycsb.home|binding"),
    ("a study that is not there", ["--study", "config/studies/smal/study.yaml"], "no such file"),
]


def ids(rows) -> list[str]:
    return [" ".join([Path(row[1]).name, row[0]]) if len(row) == 4 else row[0] for row in rows]


@pytest.fixture
def small(scene):
    """One cell of the study is there, which no fault may touch."""
    answer = scene.measure(OTHER)
    assert answer.code == 0, answer.text
    scene.guard(Path("results/small/raw", OTHER))
    return scene


def refused(scene, path: str, change: Edit, message: str) -> None:
    """Measuring says what is wrong and starts nothing; without the fault it goes on."""
    with edited(path, change):
        answer = scene.measure(CELL)
    says(answer, message)
    assert answer.code == 2, answer.text
    assert len(answer.text) < 5000
    assert not Path("results/small/raw", CELL).exists()
    assert scene.left() == []
    answer = scene.measure(CELL)
    assert answer.code == 0, answer.text
    assert (scene.results().loc[["pretend/a/1", "pretend/a/2"], "status"] == "measured").all()


@pytest.mark.parametrize(("name", "change", "message"), IN_STUDY, ids=ids(IN_STUDY))
def test_study(small, name, change, message):
    refused(small, STUDY, change, rf"(?s)study\.yaml.*({message})")


@pytest.mark.parametrize(("name", "path", "change", "message"), OTHER_FILES, ids=ids(OTHER_FILES))
def test_other_files(small, name, path, change, message):
    refused(small, path, change, message)


@pytest.mark.parametrize(("name", "options", "message"), OPTIONS, ids=ids(OPTIONS))
def test_options(small, name, options, message):
    answer = small.measure(CELL, *options)
    says(answer, message)
    assert answer.code == InputError.status, answer.text
    assert not Path("results/small/raw", CELL).exists()
    assert [path.name for path in Path("results").iterdir()] == ["small"]
    answer = small.measure(CELL)
    assert answer.code == 0, answer.text


@pytest.mark.parametrize(("name", "change", "message"), IN_CONFIG, ids=ids(IN_CONFIG))
def test_config(scene, name, change, message):
    with edited(CONFIG, change):
        answer = scene.kvstudy("plan", "--provider", "native")
    says(answer, message)
    assert answer.code == 2, answer.text
    answer = scene.kvstudy("plan", "small", "--provider", "native")
    assert answer.code == 0, answer.text


@pytest.mark.parametrize(("name", "path", "change", "message"), OF_SOURCE, ids=ids(OF_SOURCE))
def test_source(scene, name, path, change, message):
    def check():
        return scene.kvstudy("plan", SOURCE / "study.yaml", "--provider", "native")

    with edited(path, change):
        answer = check()
    says(answer, message)
    assert answer.code == 2, answer.text
    answer = check()
    assert answer.code == 0, answer.text
