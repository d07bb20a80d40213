"""The workflow on the raw logs of an archive in a folder of its own; nothing is measured.

For a report, or to compare every number with what was packed.
"""

from __future__ import annotations

import csv
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from kvstudy.code_files import CLONE
from kvstudy.errors import InputError, KvstudyError
from kvstudy.language.current import languages, suffix
from kvstudy.share.archive.checks import CheckSection
from kvstudy.share.archive.contents import (
    BUILT,
    CONFIG,
    MEASURED,
    NUMBERS,
    PROJECT,
    REPORT,
    REVIEWS,
    configuration,
    files_below,
    is_input,
)
from kvstudy.share.archive.unpack import check_room, extract, opened, read_facts
from kvstudy.study.naming import count
from kvstudy.study.run_names import RESULTS, RunName

# With the measured files and a configuration, all that a report is made from.
STUDY = ("config/studies", "envs/stores", "workloads")
SNAKEFILE = Path("workflow/Snakefile")
# What Snakemake says after each step.
STEPS = re.compile(r"\d+ of \d+ steps")
# Another processor may round the last digits of a sum in another way; where a least-squares fit
# ends, seen: 3e-9 of the value. No table shows more than five digits.
CLOSE = 1e-6
# What is between the values of a JSON file. Another processor or library of mathematics gives
# a number of a chart another last digit: it is "214.15," there, and no number with its comma.
SIGNS = re.compile(r"([\s,:\[\]{}]+)")
# Of the report's text words and numbers count: pandoc 3 has other commands than pandoc 2.
MARKUP = re.compile(r"\\(?:label|hypertarget)\{[^}]*\}|\\[A-Za-z]+")
WORDS = re.compile(r"[^\W\d_]{2,}|\d[\d.]*")
PROBLEM = re.compile(r"^kvstudy: (.+)$", re.M)


def clone_here() -> Path:
    """Return the present folder where it is a clone, else the clone that this program is of.

    InputError when neither has a workflow.
    """
    for folder in (Path(), CLONE):
        if (folder / SNAKEFILE).is_file():
            return folder
    raise InputError(f"{SNAKEFILE}: no such file; run the command in a clone of kvstudy")


def compose(folder: Path, given: Path, code: Path, run: RunName) -> None:
    """Link study and measured files of ``given``, and the workflow of ``code``, in ``folder``.

    The sources of the report are copied: what is built lies beside them.
    """
    if not (code / SNAKEFILE).is_file():
        raise InputError(f"{SNAKEFILE}: no such file in the archive; leave --archived-code out")
    measured = [f"{RESULTS / run.base}/{name}" for name in (*MEASURED, REVIEWS)]
    parts = [(given, name) for name in (*STUDY, *measured)]
    parts += [(code, name) for name in PROJECT if name != str(REPORT)]
    for source, name in parts:
        target = folder / name
        if (source / name).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to((source / name).resolve())
    ignored = shutil.ignore_patterns(*(f"*{suffix}" for suffix in BUILT))
    shutil.copytree(code / REPORT, folder / REPORT, ignore=ignored)
    # Not that of the archive, which could ask for measurements.
    (folder / CONFIG).write_text(configuration(run, given), encoding="utf-8")


def snakemake(
    folder: Path,
    *arguments: str,
    shown: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` with the package kvstudy that is there.

    ``shown`` lets its output through, else it is in what is returned, and ``say`` is told
    how many steps are done.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder.resolve() / "workflow")}
    # A cell watches the process of this name; none runs here.
    environment.pop("KVSTUDY_CONTROLLER", None)
    command = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1), *arguments]
    output = []
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=None if shown else subprocess.PIPE,
        stderr=None if shown else subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            output.append(line)
            if STEPS.match(line):
                say(line.strip())
    return subprocess.CompletedProcess(command, process.returncode, "".join(output))


def target(run: RunName) -> list[str]:
    """Return Snakemake's targets: the whole run, or the report of its finished cells."""
    return ["report_partial"] if run.partial else []


def rebuild(archive: Path, folder: Path, own_code: bool = False) -> Path:
    """Unpack study, raw logs and workflow to the new ``folder``; returns the report built there.

    Tables, figures and the report that were packed are left in the archive. With ``own_code``
    the workflow is that of ``clone_here``, and the files are below ``archive`` in the new one.
    """
    code = clone_here() if own_code else folder
    given = folder / "archive" if own_code else folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: already exists; remove it, or give --output")
    with opened(archive) as file:
        run, _ = read_facts(file)
        check_room(archive, file, folder)
        existed = folder.is_dir()
        try:
            damaged = extract(
                file, given, lambda name: own_code or is_input(run, name), executable=not own_code
            )
            for problem in damaged.values():
                raise InputError(problem)
            if own_code:
                compose(folder, given, code, run)
                logs = RESULTS / run.base / "logs"
                if (given / logs).is_dir():
                    shutil.copytree(given / logs, folder / logs)
        except KvstudyError:
            # What is half unpacked looks like a project, but is none.
            shutil.rmtree(folder, ignore_errors=True)
            if existed:
                folder.mkdir()
            raise
    if snakemake(folder, *target(run), shown=True).returncode:
        raise InputError(
            f"{folder}: the report could not be built; the lines above say why. The raw logs lie "
            "there; once that is mended, run 'snakemake --cores 4' in that folder"
        )
    return folder / "report" / f"{run.name}.pdf"


def check_numbers(
    run: RunName,
    given: Path,
    recomputed: Path,
    code: Path,
    say: Callable[[str], None] = lambda text: None,
    same: bool = True,
) -> CheckSection:
    """Make the tables of the run in the new folder ``recomputed``, by the workflow in ``code``.

    ``given`` is the folder with the files of the archive; ``say`` is told how far it is. Where the
    workflow is not the ``same`` as that of the archive, only data and analysis must be the same, in
    the columns of both: another version shows them in other tables and words.
    """
    part = CheckSection("Numbers")
    compose(recomputed, given, code, run)
    outputs: set[str] = set()
    for language in _languages(run, given):
        config = ["--config", f"language={language}"]
        done = snakemake(recomputed, *target(run), "--summary", *config)
        listed = _outputs(run, done.stdout)
        if listed and not done.returncode:
            outputs.update(listed)
            # Not quiet about progress.
            quiet = ["--quiet", "host", "reason", "rules"]
            done = snakemake(
                *(recomputed, *listed, *quiet, *config),
                say=lambda text: say(f"making every number again: {text}"),
            )
        if done.returncode or not listed:
            # In one line, if our own message is there, or in the log of a step.
            logs = sorted((recomputed / RESULTS / run.name / "logs").rglob("*.log"))
            output = [done.stdout, *(path.read_text("utf-8", "replace") for path in logs)]
            messages = PROBLEM.findall("\n".join(output))
            last = "\n".join(done.stdout.strip().splitlines()[-12:])
            problem = messages[0] if messages else f"Snakemake says:\n{last}"
            part.faults.append(f"not made again: {problem}")
            return part
    files = _with_numbers(recomputed, outputs)
    rounded, shown = 0, []
    for name in files:
        existing = (given / name).is_file()
        difference = "is missing; it follows from the raw logs"
        if existing:
            difference = differing(given / name, recomputed / name, shared=not same)
        if difference and (same or (existing and is_data(run, name))):
            part.faults.append(f"{name}: {difference}")
        elif difference:
            shown.append(name)
        else:
            rounded += (given / name).read_bytes() != (recomputed / name).read_bytes()
    if shown:
        part.notes.append(
            f"{count(len(shown), 'file')} of tables and text ({shown[0]}, ...) are other ones in "
            "this version, or are not there, and were not compared; --archived-code compares them"
        )
    for name in _with_numbers(given, [f"results/{run.name}", f"figures/{run.name}"]):
        if name not in files and not is_input(run, name):
            part.notes.append(
                f"{name}: no step of the workflow makes it; nothing shows what it shows"
            )
    if not part.faults:
        equal = count(len(files) - len(shown), "file")
        part.facts.append(
            f"{equal} with numbers (tidy data, analysis, tables, values of figures) made again "
            "from the raw logs, and equal"
        )
        if rounded:
            part.facts.append(
                f"{rounded} of them but for rounding (less than {CLOSE:g} of each value)"
            )
    return part


def _languages(run: RunName, given: Path) -> list[str]:
    """The languages of the reports that were packed; the data of a run have none."""
    if run.published_only:
        return [run.language]
    existing = [
        language
        for language in languages()
        if (given / f"report/{run.name}{suffix(language)}.pdf").is_file()
    ]
    return list(dict.fromkeys([run.language, *existing]))


def _outputs(run: RunName, summary: str) -> list[str]:
    """Return the outputs in Snakemake's list with numbers of the run; some are folders."""
    names = [line.split("\t")[0] for line in summary.splitlines() if line.count("\t") > 3]
    return [
        name
        for name in names
        if name.startswith((f"results/{run.name}/", f"figures/{run.name}"))
        and not is_input(run, name)
        and Path(name).suffix in NUMBERS | {""}
    ]


def _with_numbers(top: Path, names: Iterable[str]) -> list[str]:
    """The files below ``top`` that hold numbers, of these names or in folders of these names."""
    paths = {path for name in names for path in files_below(top / name) if path.suffix in NUMBERS}
    return sorted(path.relative_to(top).as_posix() for path in paths)


def is_data(run: RunName, name: str) -> bool:
    """Return whether a file has tidy data, or the results of the analysis."""
    parts = Path(name).parts
    folder = parts[2:-1]
    return (
        parts[:2] == (str(RESULTS), run.name)
        and name.endswith(".csv")
        and folder in {(), ("analysis",), ("open-loop",)}
    )


def differing(packed: Path, again: Path, shared: bool = False) -> str:
    """Return the difference between two files beyond rounding; "" if there is none.

    ``shared`` compares the columns that both of two CSV files have.
    """
    if packed.read_bytes() == again.read_bytes():
        return ""
    rows, others = _lines(packed), _lines(again)
    if shared and packed.suffix == ".csv" and rows and others:
        names = [name for name in others[0] if name in rows[0]]
        rows, others = (_columns(lines, names) for lines in (rows, others))
    if len(rows) != len(others):
        return f"has {len(rows)} lines, from the raw logs follow {len(others)}"
    head = others[0] if packed.suffix == ".csv" else []
    for number, (row, other) in enumerate(zip(rows, others, strict=True), start=1):
        if len(row) != len(other):
            is_now, follows = " ".join(row), " ".join(other)
            return f"line {number} is '{is_now:.60}', from the raw logs follows '{follows:.60}'"
        for index, (value, right) in enumerate(zip(row, other, strict=True)):
            if not _equal(value, right):
                column = f", {head[index]}" if len(head) == len(row) else ""
                return f"line {number}{column}: is {value!r}, from the raw logs follows {right!r}"
    return ""


def _columns(lines: list[list[str]], names: list[str]) -> list[list[str]]:
    places = [lines[0].index(name) for name in names]
    return [[line[place] for place in places if place < len(line)] for line in lines]


def _lines(path: Path) -> list[list[str]]:
    """The values of each line; where numbers are among words, these and the numbers."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        if path.suffix == ".json":
            return [SIGNS.split(line) for line in file]
        if path.name == "body.tex":
            words = (WORDS.findall(MARKUP.sub("", line)) for line in file)
            return [line for line in words if line]
        return list(csv.reader(file) if path.suffix == ".csv" else map(str.split, file))


def _equal(value: str, other: str) -> bool:
    try:
        return value == other or math.isclose(float(value), float(other), rel_tol=CLOSE)
    except ValueError:
        return False
