"""Studies and config files as they are read; what is wrong: one short message with file and key."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.tidy.probes import updating
from kvstudy.commands.schema import files
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import plan
from kvstudy.study.config import check_config
from kvstudy.study.load import load_study, study_path
from kvstudy.study.workload import SIZES, operations_of, properties_of

from tests.project import ROOT, edit, kvstudy

PATH = Path("config/studies/jedlicka2024/study.yaml")
TEXT = (ROOT / PATH).read_text(encoding="utf-8")
LINE = next(n for n, line in enumerate(TEXT.splitlines(), 1) if line.startswith("repetitions:"))
# Ten of ten of ten ... of a letter.
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(8)
)


def refused(text: str | bytes) -> str:
    PATH.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(KvstudyError) as error:
        load_study(PATH)
    message = str(error.value)
    assert message.startswith(f"{PATH}: ")
    assert len(message) < 2000
    return message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{TEXT}\nrepetitions: 4\n", f"key 'repetitions' appears twice, in lines {LINE} and"),
        ("a: {b: 1,\n b: 2}", "the key 'b' appears twice, in lines 1 and 2; keep one of them"),
        ("a: {b: 1, b: 2}", "the key 'b' appears twice, in lines 1 and 1; keep one of them"),
        (BOMB, "has more than 100000 values, with those of its aliases (*); write fewer (line 5)"),
        ("stores: &s {a: [*s]}", "its values are nested more than 40 levels deep; write them flat"),
        ("a: " + "[" * 50_000, "its values are nested more than 40 levels deep; write them flat"),
        ("a: " + "{b: " * 50 + "}" * 50, "more than 40 levels deep; write them flat (line 1)"),
        ("\n" * 4 + "a: 2024-13-41", "'2024-13-41' is no timestamp; put it into quotes (line 5"),
        ("a: !!int many", "'many' is no int; put it into quotes (line 1, column 4)"),
        ("a: " + "9" * 5000, "is no int; put it into quotes (line 1, column 4)"),
        ("a: !!python/object:os.system x", "not valid YAML: could not determine a constructor"),
        ('\ntitle: "a\\0b"', "has the control character '\\x00'; remove it (line 2)"),
        ('title: "\\ud800"', "invalid Unicode character escape code (line 1, column 11)"),
        ("title: a\0b", "not valid YAML: unacceptable character"),
        ("title: [", "not valid YAML: while parsing a flow node"),
        ("- x", "must hold keys and values, like 'title: ...'"),
        ("a: 1\n---\nb: 2\n", "expected a single document in the stream"),
        (TEXT.encode("utf-16"), "cannot be read"),
    ],
    ids=lambda value: None if len(value) < 40 else "",
)
def test_what_is_no_good_yaml_is_refused(project, text, message):
    assert message in refused(text)


def edited(key: str, value: object) -> str:
    """The study with another value of a key like ``tables.0.kind``."""
    part = study = yaml.safe_load(TEXT)
    *above, last = (int(name) if name.isdigit() else name for name in key.split("."))
    for name in above:
        part = part[name]
    part[last] = value
    return yaml.safe_dump(study, sort_keys=False)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "repetitions",
            True,
            "repetitions: must be a whole number, or keys and values, but is yes",
        ),
        (
            "repetitions",
            "3",
            "repetitions: must be a whole number, or keys and values, but is '3'",
        ),
        ("repetitions", 10**6, "repetitions: with 1000000 of them the study has 28000000 cells"),
        ("parameters.threads", [*range(1, 4000)], "repetitions: with 3 of them the study has"),
        ("parameters.records", True, "parameters.records: must be a whole number, or a list"),
        ("parameters.records", [5, -2], "parameters.records[1]: must be greater than 0, but"),
        *[
            (f"parameters.{size}", 2**31, f"parameters.{size}: must be 2147483647 or less, but is")
            for size in ("records", "operations", "threads")
        ],
        ("title", 5, "title: must be text, in quotation marks if it looks like a number, but"),
        ("stores", None, "stores: must be a list, like [a, b], but is empty"),
        ("noise_floor", 1, "noise_floor: must be true or false, or text"),
        ("noise_floor", "X", "noise_floor: must be a name of small letters, digits and hyphens"),
        ("tables.0.kind", "resultss", "tables[0]: kind: unknown kind 'resultss'; did you m"),
        ("tables.0", {"name": "x"}, "tables[0]: kind: is missing; add it"),
        # The kind of the table is the name of one of its keys.
        ("tables.0", {"kind": "store", "name": "x", "store": "a"}, "tables[0].caption: is mis"),
        ("name", "x" * 10**5, "name: must be text of 120 characters at most, but is 'xxx"),
        ("stores.0", "x" * 10**5, "stores[0]"),
        ("x" * 10**5, 1, ": unknown key"),
        ("parameters.properties", {"x" * 10**5: 1}, "parameters.properties.xxx"),
        ("title", {str(n): n for n in range(2_000)}, "title: must be text, in quotation marks"),
        ("stores.3", "memcache", "stores[3]: unknown store 'memcache'; did you mean 'memcached'?"),
        ("workloads.0", "inserts", "workloads[0]: unknown workload 'inserts'; did you mean 'ins"),
        ("parameters.shown", {"threads": 2}, "parameters.shown.threads: no cell has 2 threads; n"),
        ("workloads", [{"name": "a", "shown": {"records": 7}}], "workloads[0].shown: no cell of"),
        ("parameters.threads", [], "parameters.threads"),
        ("parameters.records", -1, "parameters.records"),
        (
            "parameters.properties",
            {"readproportion": "half"},
            "properties.readproportion: 'half' is not a",
        ),
        (
            "parameters.properties",
            {"fieldcuont": 5},
            "fieldcuont: unknown property; did you mean 'fieldc",
        ),
        ("tables.0.name", "runs", "tables: 'runs' is the name of one of the tables that the r"),
        ("tables.2.workload", "f", "tables[2].workload: unknown workload 'f'"),
        ("figures.0.name", "throughput", "appears twice; name each once"),
        ("figures.0.name", "ratios", "figures: 'ratios' is the name of one of the figures t"),
        ("figures.0.store", "mysql", "figures[0].store: unknown store 'mysql'"),
        ("stores.3", "redis", "stores: 'redis' appears twice; name each once, or give one"),
        ("workloads", [{"name": "x", "file": "aa"}], "workloads[0]: unknown workload 'aa'"),
        ("workloads", [{"name": "b", "file": "a"}], "'b' is the name of another file than 'a'"),
        ("workloads.0", {"name": "a", "properties": {"x": 5}}, "s[0].properties.x: unknown pro"),
        ("noise_floor", "rediss", "noise_floor: unknown store 'rediss'; did you mean 'redis'?"),
        ("stores.3", {"store": "redis", "name": "redis-again"}, "'redis-again' is the name of "),
        ("open_loop", {"loads": [0.5, 1.2]}, "open_loop.loads[1]: must be 1 or less, but is 1.2"),
        ("open_loop", {"loads": []}, "open_loop.loads: "),
        ("open_loop", {"loads": [0.5, 0.5]}, "open_loop.loads: a load appears twice"),
        ("open_loop", {"loads": [0.125]}, "open_loop.loads: give whole per cents"),
        ("open_loop", {"load": [0.5]}, "open_loop.load: unknown key"),
        ("open_loop", {"workloads": ["z"]}, "open_loop.workloads[0]: unknown workload 'z'"),
        ("open_loop", {"workloads": ["insert"]}, "workloads[0]: 'insert' has a load phase only"),
        ("open_loop", {"workloads": ["a", "a"]}, "open_loop.workloads: 'a' appears twice"),
        ("open_loop", "yes please", "open_loop: "),
        ("repetitions", -3, "repetitions: must be greater than 0, but is -3"),
        ("repetition", 3, "repetition: unknown key; did you mean 'repetitions'?"),
        ("name", "other", "name: is 'other', but the folder is 'jedlicka2024'; give both the sam"),
    ],
    ids=lambda value: None if len(repr(value)) < 40 else "",
)
def test_a_value_that_does_not_fit_is_named_in_plain_words(project, key, value, message):
    text = refused(edited(key, value))
    assert message in text
    for internal in ("constrained", "Input", "valid", "function-", "tagged-union", "list["):
        assert internal not in text


def test_a_key_that_is_missing_is_named(project):
    assert "title: is missing; add it" in refused(re.sub("^title: .*\n", "", TEXT, flags=re.M))


def test_many_cells_are_planned_at_once(project):
    PATH.write_text(edited("repetitions", 300))
    start = time.process_time()
    cells = plan(load_study(PATH))
    assert len(cells) == len({cell.path for cell in cells}) == 8400
    # It was a minute when each cell read its workload's file.
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("inf", "scale: must be greater than 0 and finite, but is inf"),
        ("nan", "scale: must be greater than 0 and finite, but is nan"),
        ("0", "scale: must be greater than 0 and finite, but is 0"),
        ("-1", "scale: must be greater than 0 and finite, but is -1"),
        ("0.12345678", "scale: 0.12345678 has more digits than the name of a run has; give 0.1234"),
        ("1e9", "scale: 1e+09 makes 100000000000000 of 100000, and YCSB counts to 2147483647"),
        ("2148", "YCSB counts to 2147483647; give 2147 at most"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(project, scale, message):
    for arguments in (["plan", "jedlicka2024"], ["measure", "x", f"--study={PATH}"]):
        with pytest.raises(KvstudyError) as error:
            kvstudy(*arguments, "--scale", scale)
        assert message in str(error.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"scale": float("inf")}, "scale: must be a finite number, but is inf"),
        ({"scale": float("nan")}, "scale: must be "),
        ({"scale": True}, "scale: must be a number, but is yes (true)"),
        ({"port": True}, "port: must be a number, but is yes (true)"),
        ({"provider": "x" * 10**6}, "provider: must be one of auto, native"),
        ({"scale": 0}, "scale: must be greater than 0, but is 0"),
        ({"provider": "podman"}, "provider: must be one of auto, native"),
        ({"provder": "native"}, "provder: unknown key; did you mean 'provider'"),
        ({"mixed_providers": True}, "mixed_providers: unknown key"),
        ({"pin_cpus": "0/1"}, "pin_cpus: must be true, false, or keys server and client with thei"),
        ({"pin_cpus": {"server": 0}}, "pin_cpus.client: is missing"),
        ({"pin_cpus": {"server": "0-", "client": 1}}, "pin_cpus.server: must be text of the form"),
        ({"pin_cpus": {"server": "0", "client": "1", "c": "1"}}, "pin_cpus.c: unknown key"),
        ({"study": None}, "study: must be text"),
    ],
)
def test_a_config_that_cannot_be_is_refused(config, message):
    with pytest.raises(KvstudyError) as error:
        check_config({"study": "jedlicka2024"} | config)
    assert f"config/config.yaml: {message}" in str(error.value)
    assert len(str(error.value)) < 500


def test_no_message_is_longer_than_anyone_reads():
    error = KvstudyError("f.yaml: a: 'x'\n" + "y" * 10**6 + "; mend it\n" + "z\x1b[31m\n" * 1000)
    text = str(error)
    assert len(text) < 5000
    assert text.startswith("f.yaml: a: 'x'\nyyy")
    assert "yyy; mend it\n" in text
    assert text.endswith("lines more")
    assert "\x1b" not in text


def test_an_unknown_study_in_the_config(project):
    with pytest.raises(KvstudyError, match="did you mean 'jedlicka2024'"):
        study_path("jedlicka2023")


@pytest.mark.parametrize(
    ("value", "option"),
    [
        (True, "true"),
        (False, "false"),
        # As `snakemake --config pin_cpus=true` hands it in.
        ("true", "true"),
        ({"server": "0-1", "client": "2,3"}, "0-1/2,3"),
        # A single number needs no quotes in YAML.
        ({"server": 0, "client": 1}, "0/1"),
    ],
)
def test_cores_of_the_config_as_an_option(value, option):
    assert check_config({"study": "s", "pin_cpus": value}).setting_of("x")["pin_cpus"] == option


def test_schemas_and_the_page_of_keys_are_those_of_the_models():
    for name, text in files().items():
        assert (ROOT / name).read_text() == text, f"{name}: run 'kvstudy schema'"


def test_properties_of_the_workload_win_over_the_studys_and_these_over_the_files(project):
    shares = {"insertproportion": 0.5, "readproportion": 0, "updateproportion": 0.5}
    selected = {"name": "b", "properties": {"insertproportion": 0, "updateproportion": 1}}
    selected["properties"]["writeallfields"] = False

    def change(data):
        data["parameters"]["properties"] = shares | {"writeallfields": True}
        data["parameters"]["clients"] = "auto"
        data |= {"workloads": ["a", selected], "tables": [], "figures": []}

    study = load_study(edit(PATH, change))
    a, b = (properties_of(study, use) for use in study.workloads)
    assert operations_of(a) == ["update", "insert"]
    assert operations_of(b) == ["update"]
    # Everything that asks goes by the same: the cells, ...
    cells = {cell.workload: dict(cell.properties) for cell in plan(study)}
    assert cells["b"] == {name: value for name, value in b.items() if name not in SIZES}
    # ... which of them several clients can run, and what an update is predicted to do.
    assert {cell.workload for cell in plan(study) if cell.clients == 2} == {"b"}
    assert updating(study) == {"b"}
