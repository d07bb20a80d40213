"""From a file's bytes to runs: what loggers, shells, editors and spreadsheets make of YCSB's logs.

Real logs are changed as such programs change them. What is read must be the same to the last
digit; what cannot be read for certain is refused by name.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.parts import Output, read_parts
from kvstudy.logs.imports.workloads import CommandLine, find_command, read_command
from kvstudy.logs.ycsb.log import YcsbLog, parse
from kvstudy.logs.ycsb.status import run_start

from tests import project as tested
from tests.foreign_logs import JSON_FORMS, PREFIXES, clock, in_json, interleaved, prefixed
from tests.project import ROOT

DATA = ROOT / "tests/data"
# Both outputs in one file, with status lines; without, and the call of 4 threads; of PowerShell.
RUN = (DATA / "imports/redis/run_a_1.txt").read_text()
OTHER = (DATA / "imports/redis/run_a_2.txt").read_text().replace("-threads 4", "-threads 8")
LOAD = (DATA / "imports/redis/load_a_1.txt").read_text()
POWERSHELL = (DATA / "imports/windows/redis-c-run1.log").read_text("utf-16")
LOGS = {"run": RUN, "load": LOAD, "powershell": POWERSHELL}
RESULTS = RUN[RUN.index("[OVERALL]") :]
ROWS = [line.split(", ") for line in RESULTS.splitlines()]

Meaning = tuple[YcsbLog | None, CommandLine | None, object]


def meaning(text: str) -> Meaning:
    """What kvstudy takes from the log of one run."""
    arguments = find_command(text)
    try:
        log = parse(text, "log")
    except KvstudyError:
        log = None
    return log, arguments and read_command(arguments), run_start(text)


def read(content: str | bytes) -> Output:
    data = content.encode() if isinstance(content, str) else content
    return read_parts(Path("x.log"), data)


def runs(content: str | bytes) -> list[Meaning]:
    output = read(content)
    assert output.kind == "results"
    assert [part.problem for part in output.parts if part.problem] == []
    assert output.unread == ""
    return [meaning(part.text) for part in output.parts]


def refusal(content: str | bytes) -> str:
    """Why the file, or its only run, cannot be read."""
    try:
        output = read(content)
    except KvstudyError as error:
        return str(error)
    (part,) = output.parts
    if part.problem:
        return part.problem
    with pytest.raises(KvstudyError) as raised:
        parse(part.text, "log")
    return str(raised.value)


@pytest.mark.parametrize("path", sorted((DATA / "ycsb").glob("*.*")), ids=lambda path: path.name)
def test_a_real_log_is_taken_as_it_is(path):
    output = read_parts(Path(path.name), path.read_bytes())
    (part,) = output.parts
    assert (part.is_file, part.changes, part.problem, output.unread) == (True, (), "", "")


# --- what is before each line


@pytest.mark.parametrize("before", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_a_prefix_of_all_lines_is_left_out(text, before):
    around = f"Attaching to ycsb-1\n{prefixed(before, text)}ycsb-1 exited with code 0\n"
    assert runs(around) == [meaning(text)]
    (part,) = read(around).parts
    assert not part.is_file


def test_the_lines_of_other_programs_are_left_out():
    server = "* Ready to accept connections\n" * 40
    text = interleaved(
        [prefixed("ycsb-1   | ", RUN), prefixed("redis-1  | ", server)], random.Random(7)
    )
    assert runs(text) == [meaning(RUN)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ycsb-redis-1  | ", "ycsb-mongodb-1  | "),
        ("ycsb-1  | ", "ycsb-2  | "),
        ("redis-6.2: ", "redis-7.2: "),
        (lambda i: f"a.txt:{i + 1}:", lambda i: f"b.txt:{i + 1}:"),
        (
            lambda i: f"[pod/a-1/y] 2026-03-02T{clock(i)}.{i:09d}Z ",
            lambda i: f"[pod/a-2/y] 2026-03-02T{clock(i)}.{i:09d}Z ",
        ),
    ],
)
def test_several_programs_are_taken_apart(first, second):
    text = interleaved([prefixed(first, RUN), prefixed(second, OTHER)], random.Random(7))
    assert sorted(runs(text), key=repr) == sorted([meaning(RUN), meaning(OTHER)], key=repr)


def test_a_program_that_died_does_not_take_anothers_results():
    dead = OTHER[: OTHER.index("[OVERALL]")] + "java.lang.OutOfMemoryError\n"
    result = runs(
        interleaved([prefixed("y-1 | ", RUN), prefixed("y-2 | ", dead)], random.Random(7))
    )
    assert {(log and log.throughput, of.properties["threadcount"]) for log, of, _ in result} == {
        (meaning(RUN)[0].throughput, "4"),
        (None, "8"),
    }


@pytest.mark.parametrize("half", ["Mar 02 09:07:{:02d} ", "[stderr] "])
def test_a_prefix_of_the_standard_error_alone(half):
    errors, results = RUN[: RUN.index("[OVERALL]")], RESULTS
    assert runs(prefixed(half.format, errors) + results) == [meaning(RUN)]


# --- terminals, loggers, encodings


def as_json(text: str, **more: str) -> str:
    lines = text.splitlines(keepends=True)
    entries = [
        {"log": line, "stream": "stderr" if i < 6 else "stdout", "time": f"2026-03-02T{clock(i)}Z"}
        for i, line in enumerate(lines)
    ]
    return "".join(json.dumps(entry | more) + "\n" for entry in entries)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "".join(f"\x1b[0m{line}\x1b[0m\n" for line in text.splitlines()),
        lambda text: prefixed("\x1b[36mycsb-1  |\x1b[0m ", text),
        lambda text: f"Script started on 2026\n\x1b[?2004h$ ./r\x08run.sh\r\n{text}Script done\n",
        lambda text: f"\x1b]0;me@kv: ~\x07me@kv:~$ ./run.sh\n{text}",
        lambda text: text.replace("-threads 4", "-threads\x1b[1C4"),
        lambda text: f"Fetching 10%\rFetching 90%\r{text}",
        lambda text: f"nohup: ignoring input\n+ ulimit -n 65536\n{text}\nreal\t0m7.394s\n",
        lambda text: f"# Results\n\nMy run:\n\n```\n{text}```\n\nNice.\n",
        lambda text: f"##[group]Run ./bench.sh\n##[endgroup]\n{text}",
        as_json,
        lambda text: as_json(text, _PID="4711", _HOSTNAME="kv"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.replace("\n", "  \n"),
    ],
)
@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_what_terminals_and_loggers_add_is_left_out(text, change):
    assert runs(change(text)) == [meaning(text)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings_and_line_ends(encoding, end):
    text = prefixed("ycsb-1 | ", RUN).replace("\n", end)
    assert runs(text.encode(encoding)) == [meaning(RUN)]


def test_zeros_before_a_log_are_those_of_a_file_that_was_emptied():
    assert runs(bytes(5000) + RUN.encode()) == [meaning(RUN)]


def test_a_last_line_without_its_end_is_whole_where_its_number_says_so():
    assert runs(RUN.rstrip("\n")) == [meaning(RUN)]
    assert "cut off" in refusal(RUN.rstrip("\n")[:-1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (RUN.replace("\n", ""), "the line ends are missing"),
        (RUN.replace("\n", " "), "the line ends are missing"),
        (RESULTS.replace("\n", "<br/>"), "the line ends are missing"),
        ("".join(line + line for line in RUN.splitlines(True)), "each line is twice"),
        (RUN.replace("[OVERALL], Run", "Done.[OVERALL], Run"), "'Done.' is before YCSB's own"),
        (RUN.encode("utf-32"), "different encodings"),
        (RUN.encode().replace(b"Operations", b"Oper\0ations"), "different encodings"),
        (LOAD.encode() + RUN.encode("utf-16-le"), "different encodings"),
        (LOAD.encode("utf-16") + RUN.encode(), "different encodings"),
        (as_json(RUN, pod="a") + as_json(OTHER, pod="b"), "lines of 2 sources (pod: a, b)"),
        (RUN.replace("[", "【").replace("]", "】"), "line 19: '【OVERALL】, RunTime(ms), 7394'"),
        (
            "Throughput(ops/sec): 30511\n",
            "line 1: 'Throughput(ops/sec): 30511' has numbers of YCSB",
        ),
        (
            "READ   - Takes(s): 2.0, Count: 20013, OPS: 9903.9, Avg(us): 191, Min(us): 47\n",
            "is the output of go-ycsb, which is not read",
        ),
        (
            "2026-01-01 10:00:00 10 sec: 9 operations; [READ: Count=9 Max=1.00 Min=0.10]\n"
            "Run runtime(sec): 2.02\nRun throughput(ops/sec): 19794.9\n",
            "is the output of YCSB-cpp, which is not read",
        ),
        ("# Transaction throughput (KTPS)\nredis\tworkloada\t4\t30.5\n", "the output of YCSB-C,"),
        (RESULTS.replace("(ms), 7394", "(ms), 7394.115696"), "of a program that writes in YCSB's"),
        (RESULTS.replace("Return=OK", "Return="), "of a program that writes in YCSB's form"),
    ],
)
def test_what_cannot_be_read_is_named(content, message):
    assert message in refusal(content)


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"\x1f\x8b\x08", "gzip"),
        (b"PK\x03\x04", "office"),
        (b"%PDF-1.7", "PDF"),
        (b"{\\rtf1", "plain text"),
    ],
)
def test_a_packed_file_is_to_be_unpacked(data, remedy):
    assert remedy in read(data).ignored["x.log"]


def test_results_in_another_form_beside_readable_ones_are_named():
    output = read(f"{RUN}\n【OVERALL】, RunTime(ms), 1234\n")
    assert len(output.parts) == 1
    assert output.unread.startswith("line 51: 'RunTime(ms), 1234' is of a result")
    assert read(f"{RUN}\nRunTime(ms): 7394\n").unread == ""


# --- the command line


@pytest.mark.parametrize(
    "last", ["-threads 8", "-p fieldlength=4000", "-p mongodb.writeConcern=safe -t"]
)
def test_results_directly_below_end_the_command_line(last):
    """As YCSB before 0.5 has them in its standard output."""
    arguments = f"-db com.yahoo.ycsb.db.RedisClient -P workloads/workloada {last}"
    for below in (RESULTS, f"Connected to redis.\n{RESULTS}"):
        (result,) = runs(f"YCSB Client 0.1\nCommand line: {arguments}\n{below}")
        assert result == (meaning(RESULTS)[0], read_command(arguments), None)


def test_powershell_repeats_the_command_line_in_its_record_of_an_error():
    at = POWERSHELL.index("YCSB Client")
    record = (
        "    + CategoryInfo          : NotSpecified: (Command line: -...threads 4:String) [], R\n"
        "    + FullyQualifiedErrorId : NativeCommandError\n \n"
    )
    assert runs(POWERSHELL[:at] + record + POWERSHELL[at:]) == [meaning(POWERSHELL)]


@pytest.mark.parametrize("width", [72, 80, 100, 120, 132, 200, 212])
def test_a_command_line_that_a_window_broke_or_cut_is_no_command_line(width):
    pieces = [
        line[i : i + width] for line in RUN.split("\n") for i in range(0, len(line) or 1, width)
    ]
    assert "the command line goes on in the next line" in refusal("\n".join(pieces))
    if width < 200:
        cut = "".join(line[:width].rstrip() + "\n" for line in RUN.splitlines())
        assert "the command line is cut off" in refusal(cut)


@pytest.mark.parametrize("threads", ["$T", "${threads}", "%THREADS%", "<n>", "`nproc`"])
def test_a_call_with_a_name_in_place_of_a_value_says_nothing(threads):
    call = f"$ ./bin/ycsb run redis -P workloads/workloada -threads {threads}\n"
    assert runs(call + RESULTS) == [meaning(RESULTS)]
    assert meaning(RESULTS)[1] is None


# --- several calls in one file


def shown(content: str) -> list[tuple[str | None, float | None]]:
    """Of each run, threads by its call and throughput."""
    result = []
    for log, command, _ in runs(content):
        threads = command.properties["threadcount"] if command else None
        result.append((threads, log and log.throughput))
    return result


def numbered(number: int) -> str:
    """Results of another run: ``number`` ms longer."""
    rate = 100_000 / (7394 + number) * 1000
    text = RESULTS.replace("RunTime(ms), 7394", f"RunTime(ms), {7394 + number}")
    return re.sub(r"Throughput\(ops/sec\), .*", f"Throughput(ops/sec), {rate}", text)


def rate(number: int) -> float:
    return 100_000 / (7394 + number) * 1000


def called(threads: int, form: str) -> str:
    options = f"-P workloads/workloada -p recordcount=2000 -threads {threads}"
    return {
        "shell": f"$ ./bin/ycsb run redis {options}\n",
        "trace": f"+ ./bin/ycsb run redis {options} 2>err.txt\n",
        "launcher": f"java -cp lib/* site.ycsb.Client -t -db site.ycsb.db.RedisClient {options}\n",
        "old": f"YCSB Client 0.1\nCommand line: -t -db com.yahoo.ycsb.BasicDB {options}\n",
        "ycsb": f"Command line: -t -db site.ycsb.BasicDB {options}\nYCSB Client 0.17.0\n\n",
        "all": f"$ ./bin/ycsb run redis {options}\n"
        f"java -cp lib/* site.ycsb.Client -t -db site.ycsb.db.RedisClient {options}\n"
        f"Command line: -t -db site.ycsb.db.RedisClient {options}\nYCSB Client 0.17.0\n\n",
    }[form]


DIED = "java.net.ConnectException: Connection refused\n\tat site.ycsb.Client.main(Client.java:1)\n"


@pytest.mark.parametrize("form", ["shell", "trace", "launcher", "old", "ycsb", "all"])
@pytest.mark.parametrize("before", ["", "ycsb-1  | ", "> "])
def test_results_belong_to_the_call_above_them(form, before):
    """Of four calls one died; another printed results twice; the last one died, too."""
    calls = [called(threads, form) for threads in (1, 2, 4, 8, 16)]
    text = [calls[0], numbered(1), calls[1], DIED, calls[2], numbered(2), numbered(3)]
    text += [calls[3], numbered(4), calls[4], DIED]
    assert shown(prefixed(before, "".join(text))) == [
        *(("1", rate(1)), ("2", None), ("4", rate(2)), (None, rate(3))),
        *(("8", rate(4)), ("16", None)),
    ]


def test_random_files_of_calls():
    """Of 300 files; whoever died, no results are those of another call."""
    chosen = random.Random(29)
    for _ in range(300):
        forms = chosen.choice([["shell"], ["old"], ["ycsb"], ["all"], ["launcher"], ["trace"]])
        text, expected = "", []
        for number in range(chosen.randint(1, 6)):
            threads = chosen.choice([1, 2, 4, 8, 16])
            text += called(threads, chosen.choice(forms))
            died = chosen.random() < 0.3
            text += DIED if died else numbered(number)
            text += chosen.choice(["", "\n", "--- next ---\n"])
            expected.append((str(threads), None if died else rate(number)))
        if any(result for _, result in expected):
            before = chosen.choice(list(PREFIXES.values()))
            assert shown(prefixed(before, text)) == expected


def test_a_call_that_only_stands_there_is_no_run():
    call = called(2, "shell")
    output = read(f"Load it:\n\n{call}\nThen run it:\n\n{called(4, 'shell')}{RESULTS}")
    assert [part.name for part in output.parts] == ["x.log#2"]
    assert output.ignored == {"x.log#1": "a call of YCSB without its output below"}


def test_results_that_are_shown_again_count_once():
    summary = "".join(line for line in RESULTS.splitlines(True) if "OVERALL" in line)
    output = read(f"{RUN}== grep OVERALL\n{summary}")
    assert [part.name for part in output.parts] == ["x.log#1"]
    assert output.ignored == {"x.log#2": "has results of x.log#1 once more"}


def test_the_standard_output_may_stand_before_the_standard_error():
    at = RUN.index("[OVERALL]")
    assert runs(RUN[at:] + RUN[:at]) == [meaning(RUN)]
    # Status lines of another run.
    result = runs(numbered(0).replace("100000", "1") + OTHER[: OTHER.index("[OVERALL]")])
    assert len(result) in (1, 2)
    other = RUN[:at].replace(" 100000 operations", " 99000 operations")
    assert shown(RUN[at:] + other) == [(None, meaning(RUN)[0].throughput), ("4", None)]


@pytest.mark.parametrize("name", ["redis-json.json", "redis-jsonarray.json"])
def test_json_with_text_around_and_twice(name):
    text = (DATA / "ycsb" / name).read_text()
    log = parse(text, name)
    first, second = called(4, "ycsb"), called(8, "ycsb")
    whole = f"{first}{text}\n{second}{text.replace('MaxLatency', 'MinLatency', 0)}\n$ exit\n"
    assert [result[0] for result in runs(whole)] == [log, log]
    assert [result[0] for result in runs(prefixed("ycsb-1  | ", f"{first}{text}\n"))] == [log]
    as_one = json.dumps(json.loads(text)) if name == "redis-jsonarray.json" else text
    assert [result[0] for result in runs(as_one)] == [log]


# --- results above their calls


def halves(number: int, threads: int, operations: int = 100_000) -> tuple[str, str]:
    """Standard output and standard error of a run, with status lines."""
    status = f"2026-03-02 09:00:07:394 7 sec: {operations} operations; 13524 current ops/sec; \n"
    return numbered(number), called(threads, "ycsb") + status


def test_results_may_stand_above_each_call():
    """As of a script that writes standard output first; a call that died has none."""
    first, second = "".join(halves(1, 1)), "".join(halves(2, 2))
    expected = [("1", rate(1)), ("2", rate(2))]
    assert shown(first + second) == expected
    died = called(4, "ycsb") + DIED
    assert shown(first + died + second) == [expected[0], ("4", None), expected[1]]
    assert shown(died + first + second) == [("4", None), *expected]
    assert shown(first + second + died) == [*expected, ("4", None)]
    # A second printing of results has no call.
    assert shown(numbered(3) + first + second) == [(None, rate(3)), *expected]


def test_results_above_calls_without_status_lines_are_refused():
    """They may be of the calls below: the first lost its head, and the last was killed."""
    text = "".join(numbered(number) + called(number, "ycsb") for number in (1, 2, 3))
    assert "may be of the calls above or below them; give each run a file" in refusal(text)


def test_status_lines_that_deny_the_call_below_leave_results_with_that_above():
    (_, errors), (results, _), (_, last) = halves(0, 1), halves(2, 2), halves(3, 4, 99_000)
    result = shown(f"{numbered(9)}{errors}{results}{last}")
    assert result == [(None, rate(9)), ("1", rate(2)), ("4", None)]


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (1, 3, 0, 2)], ids=["errors", "results"])
def test_outputs_of_several_runs_that_stand_apart_are_refused(order):
    """All standard errors, and all standard outputs: nothing says which results are whose."""
    (first, errors), (second, others) = halves(1, 1), halves(2, 2)
    parts = (errors, first, others, second)
    assert "nothing says which results are whose" in refusal("".join(parts[i] for i in order))


def test_results_of_a_file_that_a_shell_shows_are_of_no_call_above():
    load, run = called(1, "shell"), called(2, "shell")
    text = f"{load}{run[:-1]} > two.txt\n$ cat two.txt\n{numbered(2)}"
    assert shown(text) == [("2", rate(2))]
    # What nobody called is asked about.
    assert shown(text.replace("cat two", "cat one")) == [(None, rate(2))]


# --- JSON of other tools, and lines by number


@pytest.mark.parametrize("form", JSON_FORMS)
@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_json_of_loggers_ansible_and_notebooks_is_taken_out(text, form):
    assert runs(in_json(form, text)) == [meaning(text)]
    # Colours, and ends of lines as a terminal has them.
    assert runs(in_json(form, f"\x1b[0m{text.replace(chr(10), chr(13) + chr(10))}")) == [
        meaning(text)
    ]


def test_ansible_has_both_outputs_apart():
    at = RUN.index("[OVERALL]")
    entry = {"stdout": RUN[at:], "stderr": RUN[:at], "stderr_lines": RUN[:at].splitlines()}
    assert runs(f"changed: [kv-1] => {json.dumps(entry)}\n") == [meaning(RUN)]


def test_json_of_several_programs_is_refused():
    """Nothing would show their runs from repetitions."""
    texts = {"kv-1": RUN, "kv-2": OTHER}
    entries = [{"host": name, "stdout": text} for name, text in texts.items()]
    plays = "".join(f"ok: [{e['host']}] => {json.dumps(e)}\n" for e in entries)
    assert "outputs of 2 programs in JSON; save each in a file of its own" in refusal(plays)
    assert "of 2 sources (host: kv-1, kv-2)" in refusal(json.dumps({"results": entries}))


def test_a_notebook_of_several_cells_has_their_runs():
    code = "!bin/ycsb run redis -P workloads/workloada -threads {}\n"
    cells = [
        {"cell_type": "code", "source": code.format(n), "outputs": [{"text": [numbered(n)]}]}
        for n in (1, 2)
    ]
    note = {"cell_type": "markdown", "source": [code.format(99)]}
    notebook = {"cells": [note, *cells], "nbformat": 4}
    assert shown(json.dumps(notebook)) == [("1", rate(1)), ("2", rate(2))]
    # The value of a variable is not known.
    cells[1]["source"] = code.format("{threads}")
    assert shown(json.dumps(notebook))[1] == (None, rate(2))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("\n", "<br/>\n"), "line 19: is part of a web page"),
        (lambda text: text.replace(", ", "</td><td>"), "line 19: is part of a web page"),
        (lambda text: "\n".join(reversed(text.split("\n"))), "its lines are in reverse order"),
    ],
    ids=["line breaks", "cells", "reversed"],
)
def test_other_forms_are_refused_by_name(change, reason):
    assert reason in refusal(change(RUN))


@pytest.mark.parametrize("name", ["redis-json.json", "redis-jsonarray.json"])
@pytest.mark.parametrize("before", ["", "ycsb-1  | "])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_may_have_its_keys_in_any_order(name, before, indent):
    text = (DATA / "ycsb" / name).read_text()
    log = parse(text, name)
    entries = json.loads(text if "array" in name else f"[{re.sub('} {', '},{', text)}]")
    for keys in (sorted(entries[0]), sorted(entries[0], reverse=True)):
        changed = [{key: entry[key] for key in keys} for entry in entries]
        whole = json.dumps(changed, indent=indent)
        lines = "".join(json.dumps(entry, indent=indent) + "\n" for entry in changed)
        for form in (f"{whole}\n", lines):
            assert [result[0] for result in runs(prefixed(before, form))] == [log]
            assert "no [OVERALL], RunTime(ms); lines were filtered out" in refusal(
                prefixed(before, form.replace("RunTime", "Time"))
            )


@pytest.mark.parametrize("before", ["", "ycsb-1  | "])
def test_lines_of_a_second_run_count_from_the_beginning_of_the_file(before):
    remark = OTHER.replace("Operations, ", "Operations, ~", 1)
    text = prefixed(before, f"{RUN}\nserver: ready\n\n{remark}")
    number = next(i for i, line in enumerate(text.splitlines(), 1) if "Operations, ~" in line)
    problems = [part.problem for part in read(text).parts]
    assert problems[0] == ""
    assert problems[1].startswith(f"line {number}: '[READ], Operations, ~")


def test_the_line_of_a_value_of_a_second_run_is_that_of_the_file(project):
    wrong = OTHER.replace("-threads 8", "-threads 4")
    wrong = re.sub(r"Operations, .*", "Operations, many", wrong, count=1)
    out = take({"a.log": RUN + wrong})
    number = (RUN + wrong).splitlines().index("[READ], Operations, many") + 1
    assert f"a.log#2: line {number}: 'many' is not a number" in out


def test_runs_on_a_page_between_prose():
    pages = [prefixed("    ", text) for text in (RUN, OTHER)]
    text = f"# Mine\n\n{pages[0]}\nNice result.\n\n## The other\n\n{pages[1]}\nNice.\n"
    assert runs(text) == [meaning(RUN), meaning(OTHER)]


# --- spreadsheets


def table(between: str, quote: str = "", change: Callable[[str], str] = str) -> str:
    rows = ([section, label, change(value)] for section, label, value in ROWS)
    return "".join(between.join(f"{quote}{cell}{quote}" for cell in row) + "\n" for row in rows)


def with_commas(value: str) -> str:
    return value.replace(".", ",")


def in_thousands(value: str) -> str:
    return f"{int(value):,}" if value.isdigit() else value


@pytest.mark.parametrize(
    "text",
    [
        table(","),
        table(",", '"'),
        "Section,Metric,Value\n" + table(",", '"'),
        "\ufeff" + table(";"),
        table("\t"),
        table(" "),
        table(" | "),
        "".join(f"{section:40}{label:30}{value}\n" for section, label, value in ROWS),
        "".join(f"| {section} | {label} | {value} |\n" for section, label, value in ROWS),
        prefixed(lambda i: f"{i},", table(",")),
        "".join(f"{section.strip('[]')},{label},{value}\n" for section, label, value in ROWS),
        "".join(f"{section};{label};{value};;\n" for section, label, value in ROWS),
        "".join(f"{section}, {label}: {value}\n" for section, label, value in ROWS),
        table(";", change=with_commas),
        table("\t", change=with_commas),
        table(",", '"', with_commas),
        table(",", '"', in_thousands),
        table(";", change=in_thousands),
        table(";", change=lambda value: in_thousands(value).replace(",", " ")),
        table(";", change=lambda value: in_thousands(value).translate({44: ".", 46: ","})),
    ],
)
def test_rows_of_a_spreadsheet_are_read(text):
    assert runs(text) == [meaning(RESULTS)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # A second column, or a decimal comma.
        (table(",", change=with_commas), "line 2: '[OVERALL],Throughput(ops/sec),13524,479"),
        (table(";").replace("\n", ";1311\n"), "line 1: '[OVERALL];RunTime(ms);7394;1311'"),
        (
            RESULTS.replace("7394\n", "7394    # my remark\n"),
            "line 1: '[OVERALL], RunTime(ms), 7394",
        ),
        (RESULTS.replace("7394\n", "~7394\n"), "line 1: '[OVERALL], RunTime(ms), ~7394'"),
        ("[OVERALL];RunTime(ms);7,394\n", "line 1: '7,394' may be 7394 or 7.394"),
        (
            table(";").replace("7394", "7394,5"),
            "lines 1 and 2: values have decimal points and decimal commas",
        ),
        # Rounded by the spreadsheet.
        (table(";", change=lambda value: f"{float(value):.2E}"), "[OVERALL] reports"),
    ],
)
def test_numbers_that_may_be_others_are_refused(text, message):
    assert message in refusal(text)


# --- lines that are missing, and older versions


def only(pattern: str, text: str = RESULTS) -> str:
    return "".join(line for line in text.splitlines(True) if re.search(pattern, line))


def test_filtered_lines_count_if_all_that_is_counted_is_there():
    text = only("READ|UPDATE|OVERALL")
    assert runs(text) == [meaning(RESULTS)]
    (part,) = read(text).parts
    assert part.changes == ("has no [CLEANUP]; lines were filtered out, or YCSB is older than 0.2",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (only("READ|OVERALL"), "lines were filtered out"),
        (only("OVERALL"), "lines were filtered out"),
        (only("OVERALL|Average"), "were lines filtered out or sorted?"),
        (only("Average"), "no [OVERALL], RunTime(ms); lines were filtered out"),
        (only("READ|UPDATE|OVERALL").replace("[UPDATE], Return=OK, 50041\n", ""), "filtered out"),
        # The lines before are there, so the log was cut off.
        (only("READ|UPDATE|OVERALL|GC"), "no [CLEANUP] after the operations; the log is cut off"),
        ("".join(sorted(RESULTS.splitlines(True))), "were lines filtered out or sorted?"),
    ],
)
def test_missing_lines_are_named(text, message):
    assert message in refusal(text)


def of_version_0_1(unit: str) -> str:
    text = only("READ|UPDATE|OVERALL").replace("Return=OK", "Return=0")
    text = re.sub(r"PercentileLatency\(us\), .*", f"PercentileLatency({unit}), 0", text)
    counts = cycle(["49000", "959", "0"])
    return re.sub(
        r"(\[\w+\]), Return=.*\n",
        lambda match: (
            match[0]
            + "".join(f"{match[1]}, {name}, {next(counts)}\n" for name in ("0", "1", ">1000"))
        ),
        text,
    )


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_ycsb_0_1_has_counts_and_means_and_no_percentiles(unit):
    """Its percentiles are milliseconds, in some versions under the label (us)."""
    ((log, _, _),) = runs(of_version_0_1(unit))
    whole = meaning(RESULTS)[0]
    assert (log.runtime, log.throughput, log.failed) == (whole.runtime, whole.throughput, 0)
    for name, section in whole.sections.items():
        kept = {key: value for key, value in section.latencies.items() if "_p" not in key}
        assert log.sections[name].latencies == kept
        assert log.sections[name].operations == section.operations


def test_failures_of_ycsb_0_1_are_not_read():
    text = of_version_0_1("ms").replace(
        "Return=0, 50041", "Return=0, 50040\n[UPDATE], Return=-1, 1"
    )
    assert "a YCSB before 0.5 wrote this (Return=-1)" in refusal(text)
    older = of_version_0_1("ms").replace("AverageLatency(us)", "AverageLatency(ms)")
    assert "is of a YCSB before 0.1.4, which is not read" in refusal(older)


# --- what the command says of them


def take(logs: dict[str, str]) -> str:
    Path("logs").mkdir(exist_ok=True)
    for name, text in logs.items():
        Path("logs", name).write_text(text)
    return tested.kvstudy("import", "logs", "--study", "jan").output


def rows() -> dict[str, dict[str, str]]:
    with Path("config/studies/jan/import.csv").open(newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


GO_YCSB = "READ   - Takes(s): 2.0, Count: 20013, OPS: 9903.9, Avg(us): 191, Min(us): 47\n"


def test_a_refused_file_does_not_hide_the_others(project):
    """And what was not read is said above the next step."""
    remark = OTHER.replace("-threads 8", "-threads 4").replace("Operations, ", "Operations, ~")
    joined = RUN.replace("\n", " ")
    out = take({"run1.txt": RUN, "run2.txt": remark, "go.txt": GO_YCSB, "joined.txt": joined})
    assert "not read: logs/go.txt: is the output of go-ycsb" in out
    assert "not read: logs/joined.txt: line 1: several lines of YCSB are on one" in out
    assert re.search(r"failed cell .*: run2\.txt: line \d+: '\[READ\], Operations, ~", out)
    said = "1 cell imported, 1 failed; 2 logs could not be read, as said above"
    assert said in out
    assert out.index(said) < out.index("next: snakemake")
    assert json.loads(Path("results/jan/imported.json").read_text())["ignored"].keys() == {
        *("go.txt", "joined.txt")
    }


@pytest.mark.parametrize(
    ("logs", "messages"),
    [
        (
            {"go.txt": GO_YCSB},
            ["none of its results can be read", "logs/go.txt: go-ycsb: has no line 'Run fin"],
        ),
        (
            {"a.txt": RUN.replace("(ms), 7394", "(ms), 7394  # a remark")},
            [
                "failed cell redis/a/",
                "line 19: '[OVERALL], RunTime(ms), 7394  # a",
                "0 cells imported",
            ],
        ),
        # Nobody has to say which cell it is.
        ({"a.csv": table(",", change=with_commas)}, ["logs/a.csv: line 2: '[OVERALL],Through"]),
    ],
)
def test_nothing_that_was_read_is_an_error(project, logs, messages):
    with pytest.raises(KvstudyError) as raised:
        take(logs)
    for message in messages:
        assert message in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "+-----------+----------+\n| OPERATION | TAKES(S) |\n| READ      |      2.0 |\n",
        '[{"Operation": "READ", "Takes(s)": "2.0", "Count": "20013"}]\n',
    ],
    ids=["table", "JSON"],
)
def test_each_form_of_another_program_is_refused_by_name(text):
    assert "is the output of go-ycsb" in refusal(text)


def test_a_program_that_counts_threads_is_none_for_java():
    text = f"[OVERALL], ThreadCount, 8\n{RESULTS}"
    assert "line 1: '[OVERALL], ThreadCount, 8' is of a program that writes" in refusal(text)


def test_folders_that_are_links_and_files_that_cannot_be_read_are_named(project):
    """They may hold logs; the other logs are imported."""
    Path("elsewhere").mkdir()
    Path("elsewhere/b.txt").write_text(OTHER)
    Path("logs").mkdir()
    Path("logs/more").symlink_to(Path("elsewhere").resolve())
    Path("logs/again").symlink_to(Path("logs").resolve())
    Path("logs/lost").symlink_to("nowhere")
    out = take({"a.txt": RUN})
    assert "not read: logs/more: is a link to a folder; put the folder in its place" in out
    assert "not read: logs/again: is a link to a folder" in out
    assert "1 cell imported, 0 failed; 2 logs could not be read" in out


def test_a_file_that_cannot_be_read_leaves_the_others(project, monkeypatch):
    """As of another user; root reads all."""
    whole = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "b.txt":
            raise PermissionError(13, "Permission denied", str(path))
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    out = take({"a.txt": RUN, "b.txt": OTHER})
    assert "not read: logs/b.txt: cannot be read: Permission denied; copy it again" in out


def test_outputs_of_several_programs_in_two_files_are_joined_by_their_names(project):
    """Those of the first are not first in both."""
    logs = {"ycsb-1  | ": RUN, "ycsb-2  | ": OTHER.replace("RedisClient", "MongoDbClient")}
    halves = {name: log.partition("[OVERALL]") for name, log in logs.items()}
    errors = "".join(prefixed(name, half[0]) for name, half in halves.items())
    results = [prefixed(name, "".join(half[1:])) for name, half in halves.items()]
    with pytest.raises(KvstudyError):
        take({"all.err": errors, "all.out": "".join(reversed(results))})
    result = {row["store"]: row["threads"] for row in rows().values()}
    assert result == {"mongodb": "8", "redis": "4"}
    first = next(iter(rows().values()))
    assert first["store"] == "mongodb"


def test_packed_files_are_named_first(project):
    Path("logs").mkdir()
    for name in ("y.gz", "z.gz"):
        Path("logs", name).write_bytes(gzip.compress(RUN.encode()))
    others = {f"{number}.txt": "none" for number in range(20)}
    with pytest.raises(KvstudyError, match=r"holds no log of YCSB: .*\n.*y\.gz: is compressed"):
        take(others)
    out = take({"a.txt": RUN})
    assert "ignored: y.gz: is compressed (gzip); unpack it\nignored: z.gz: " in out


def printed_questions() -> str:
    with pytest.raises(KvstudyError) as raised:
        take({})
    return str(raised.value)


def test_results_that_status_lines_deny_are_asked_about(project):
    """As in a file of a run that was cut off, and another that lost its head."""
    status = "2026-03-02 09:05:00:394 300 sec: 99000 operations; 330 current ops/sec; \n"
    with pytest.raises(KvstudyError) as raised:
        take({"a.txt": RUN.replace("[OVERALL], Run", f"{status}[OVERALL], Run", 1)})
    assert "100000 operations in 300 s, its results 100000 in 7 s: are they" in str(raised.value)


def test_a_number_of_threads_that_is_none_is_asked_about(project):
    """YCSB has one thread only where nothing is said of threads."""
    texts = {"a.txt": re.sub(r"\[CLEANUP\].*\n", "", OTHER).replace("-threads 8", "-threads 8;")}
    with pytest.raises(KvstudyError, match=r"line 2 \(a\.txt\): complete threads"):
        take(texts)


def with_files(*names: str) -> str:
    return RUN.replace("-P workloads/workloada", " ".join(f"-P {name}" for name in names))


def test_a_second_workload_file_lies_over_the_first(project):
    log = with_files("workloads/workloada", "conf/large.dat")
    with pytest.raises(KvstudyError, match=r"its file conf/large\.dat is not with the logs"):
        take({"a.txt": log})
    # One with addresses only changes nothing.
    for properties, workload in (("redis.host=kv", "a"), ("fieldlength=500", "a-fieldlength-500")):
        shutil.rmtree("config/studies/jan")
        take({"a.txt": log, "large.dat": f"# mine\n{properties}\n"})
        assert rows()["a.txt"]["workload"] == workload


def test_of_workload_files_of_one_name_the_nearest_counts(project):
    shipped = Path("workloads/a").read_text()
    call = re.sub(r"-p recordcount=\d+", "", with_files("mine"))
    files = {f"{n}/mine": f"{shipped}\nrecordcount={n}\n" for n in (2000, 3000)}
    for name in files:
        Path("logs", name).parent.mkdir(parents=True)
    take(files | {"2000/redis.txt": call, "3000/redis.txt": call.replace("7394", "7395")})
    assert [row["records"] for row in rows().values()] == ["2000", "3000"]
    # Nothing says which it is where both are as near.
    shutil.rmtree("config/studies/jan")
    Path("logs/2000/redis.txt").rename("logs/redis.txt")
    assert "2 files mine with the logs differ" in printed_questions()


def test_results_of_exportfile_beside_a_log_of_compose(project):
    errors = RUN[: RUN.index("[OVERALL]")].replace(
        "-threads 4", "-p exportfile=/r/a.txt -threads 4"
    )
    out = take({"a.compose.log": prefixed("ycsb-1  | ", errors), "a.txt": RESULTS})
    assert "note: a.compose.log: 'ycsb-1  |' before each line is left out" in out
    assert rows()["a.txt"]["records"] == "2000"


def test_a_file_of_calls_of_which_one_died(project):
    calls = [called(threads, "shell") for threads in (4, 8, 4)]
    calls = [call.replace("-threads", "-p operationcount=100000 -threads") for call in calls]
    out = take({"s.log": calls[0] + numbered(1) + calls[1] + DIED + calls[2] + numbered(2)})
    assert "2 cells imported, 1 failed" in out
    result = {name: (row["threads"], row["repetition"]) for name, row in rows().items()}
    assert result == {"s.log#1": ("4", "1"), "s.log#2": ("8", "1"), "s.log#3": ("4", "2")}
    assert re.search(r"failed cell redis/a/\S*_t8/rep1: s\.log#2: no \[OVERALL\] results", out)


def test_results_of_exportfile_of_one_name_in_folders_of_each_run(project):
    """The folder says whose they are; of two that wrote over one file, nothing does."""
    for name, threads, milliseconds in (("1", 4, 1), ("2", 8, 2)):
        errors = RUN[: RUN.index("[OVERALL]")].replace(
            "-threads 4", f"-p exportfile=/r/a.txt -threads {threads}"
        )
        errors = re.sub(r".* sec: .*\n", "", errors)
        Path("logs", name).mkdir(parents=True)
        Path("logs", name, "console.log").write_text(errors)
        results = numbered(milliseconds).replace(
            "[CLEANUP], Operations, 4", f"[CLEANUP], Operations, {threads}"
        )
        Path("logs", name, "a.txt").write_text(results)
    take({})
    assert {name: row["threads"] for name, row in rows().items()} == {
        "1/a.txt": "4",
        "2/a.txt": "8",
    }
    Path("config/studies/jan/import.csv").unlink()
    Path("logs/1/a.txt").unlink()
    Path("logs/2/a.txt").rename("logs/a.txt")
    with pytest.raises(KvstudyError, match=r"\(a\.txt\): complete .*does not say how YCSB"):
        take({})


def test_old_and_filtered_logs_have_their_values_in_the_report(project):
    call = called(4, "old").replace("-threads", "-p operationcount=100000 -threads")
    old, filtered = of_version_0_1("ms"), only("READ|UPDATE|OVERALL", numbered(5))
    take({"1.txt": call + old, "2.txt": call.replace("BasicDB", "db.RedisClient") + filtered})
    cells, values = tested.parse(Path("config/studies/jan/study.yaml"))
    assert set(cells.status) == {"measured"}
    values = values[values.operation == "read"].set_index(["store", "metric"])["value"]
    latencies = meaning(RESULTS)[0].sections["READ"].latencies
    for store in ("basic", "redis"):
        assert values[store, "latency_mean"] == latencies["latency_mean"]
    assert values["redis", "latency_p99"] == latencies["latency_p99"]
    assert ("basic", "latency_p99") not in values
