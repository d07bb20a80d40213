"""Transcripts of a cell: commands that can be pasted, output that fits."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from kvstudy.documents.report.transcript import (
    COLUMNS,
    LINES,
    TranscriptLine,
    shell_lines,
    transcript,
    wrapped,
)
from kvstudy.errors import KvstudyError

STATUS = "2026-11-20 17:53:{:02}:415 {} sec: {} operations; 500 current ops/sec; [READ: Count=1]"


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    (tmp_path / "commands.sh").write_text(
        "export CLASSPATH=x\n\n# server\nmkdir -p data\nserve --dir data &\n\n"
        "# load\njava site.ycsb.Client -load\n\n# stop\nkill %1\n",
        encoding="utf-8",
    )
    (tmp_path / "server.log").write_text("".join(f"line {n}\n" for n in range(100)))
    status = "".join(STATUS.format(n, n, n * 500) + "\n" for n in range(20))
    (tmp_path / "load.err").write_text(f"Starting test.\nDB\nDB\nDB\n{status}")
    (tmp_path / "load.out").write_text("[OVERALL], RunTime(ms), 2004\n")
    return tmp_path


def texts(lines, kind: str) -> list[str]:
    return [line.text for line in lines if line.kind == kind]


def test_status_lines_are_thinned_and_counted(cell: Path) -> None:
    lines = transcript(cell, "load")
    assert texts(lines, "command") == ["java site.ycsb.Client -load"]
    status = [text for text in texts(lines, "output") if " sec: " in text]
    assert [text.split()[2] for text in status] == ["0", "19"]
    assert texts(lines, "note") == ["[2 equal lines left out]", "[18 status lines left out]"]
    assert texts(lines, "output")[-1] == "[OVERALL], RunTime(ms), 2004"


def test_the_server_part_has_its_start_its_log_and_its_stop(cell: Path) -> None:
    lines = transcript(cell, "server")
    assert texts(lines, "command") == ["mkdir -p data", "serve --dir data &", "kill %1"]
    assert texts(lines, "note") == ["[76 lines left out]"]


def test_a_long_listing_is_cut_to_one_page(cell: Path) -> None:
    (cell / "load.out").write_text("".join(f"[X], {n}\n" for n in range(500)))
    lines = transcript(cell, "load")
    assert len(lines) == LINES
    assert lines[0].kind == "command"
    assert lines[-1].text == "[X], 499"


def test_long_output_is_wrapped_without_losing_a_character() -> None:
    lines = wrapped([TranscriptLine("output", "x" * 250 + "é")])
    assert [line.kind for line in lines] == ["output", "more", "more"]
    assert "".join(line.text for line in lines) == "x" * 250 + "é"
    assert all(len(line.text) <= COLUMNS for line in lines)


@pytest.mark.parametrize(
    "words",
    [
        ["-p", "a=1"] * 40,
        ["x" * 500],
        ["one two", "it's", 'say "x"', "-p", "path=" + "/long" * 50, "end"] * 3,
    ],
)
def test_a_broken_command_is_still_the_same_command(words: list[str]) -> None:
    lines = shell_lines(shlex.join(["printf", r"%s\n", *words]))
    assert all(len(line.text) + 2 <= COLUMNS for line in lines)
    script = "\n".join(line.text for line in lines)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == words


def test_the_folder_of_the_cell_is_a_variable(cell: Path) -> None:
    folder = "results/small-scale0.1/measuring/redis/a/r10_o10_t1/rep1"
    load = f"# load\njava -p path={folder}/load. -load\n"
    server = f"# server\nserve --dir /home/me/{folder}/data\n# stop\nkill %1\n"
    (cell / "commands.sh").write_text(load + server)
    assert texts(transcript(cell, "load"), "command") == ["java -p path=$CELL/load. -load"]
    assert texts(transcript(cell, "server"), "command") == ["serve --dir $CELL/data", "kill %1"]


def test_a_missing_section_says_what_to_do(cell: Path) -> None:
    with pytest.raises(KvstudyError, match=r"commands\.sh: has no command below '# run'"):
        transcript(cell, "run")


def test_a_missing_file_is_named(cell: Path) -> None:
    (cell / "load.out").unlink()
    with pytest.raises(KvstudyError, match=r"load\.out: cannot be read"):
        transcript(cell, "load")


def test_an_option_of_java_is_not_broken_by_the_class_behind_it() -> None:
    option = "-Xlog:gc:file=" + "x" * 84
    lines = shell_lines(f"java {option} site.ycsb.Client -threads 4")
    assert [line.text for line in lines] == [f"java {option} \\", "    site.ycsb.Client -threads 4"]
