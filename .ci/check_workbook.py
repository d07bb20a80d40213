"""Opens workbooks in LibreOffice: `make check-workbook`.

    python .ci/check_workbook.py [--pdf FOLDER] results/*/*.xlsx

Each formula is calculated again, from a copy that lost the values that the file carries, and
must give no error and the value that was carried. The file itself must open and print.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from openpyxl import load_workbook

# LibreOffice adds in another order than pandas.
TOLERANCE = 1e-9
SECONDS = 300


def main() -> int:
    """0 when all workbooks are right; prints what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pdf", type=Path, help="Keep what the workbook looks like there.")
    parser.add_argument("workbooks", type=Path, nargs="+")
    given = parser.parse_args()
    bad = total = 0
    for path in given.workbooks:
        with tempfile.TemporaryDirectory() as folder:
            formulas, problems = check(path, Path(folder), given.pdf)
        bad += bool(problems)
        total += formulas
        print(f"{path}: {formulas} formulas, {len(problems)} wrong")
        for problem in problems[:20]:
            print(f"  {problem}")
    if not total:
        print("no formulas at all: measure a study first")
    return 1 if bad or not total else 0


def check(path: Path, folder: Path, pdf: Path | None = None) -> tuple[int, list[str]]:
    """The number of formulas of a workbook, and what is wrong with them."""
    formulas = load_workbook(path)
    carried = load_workbook(path, data_only=True)
    expected = {
        (sheet.title, cell.coordinate): carried[sheet.title][cell.coordinate].value
        for sheet in formulas
        for line in sheet.iter_rows()
        for cell in line
        if cell.data_type == "f"
    }
    # What openpyxl writes has formulas only.
    bare = folder / "bare.xlsx"
    formulas.save(bare)
    calculated = convert(bare, "xlsx", folder / "calculated", folder)
    printed = convert(path, "pdf", pdf or folder / "printed", folder)
    found = load_workbook(calculated, data_only=True)
    problems = [
        f"{sheet}!{place}: carries {value!r}, is {found[sheet][place].value!r}"
        for (sheet, place), value in expected.items()
        if not same(value, found[sheet][place].value)
    ]
    if not printed.stat().st_size:
        problems.append("prints nothing")
    return len(expected), problems


def same(carried: object, calculated: object) -> bool:
    """Whether both are numbers, and the same but for the last digits."""
    if not all(isinstance(each, int | float) for each in (carried, calculated)):
        return False
    return math.isclose(carried, calculated, rel_tol=TOLERANCE, abs_tol=1e-12)


def convert(path: Path, form: str, output: Path, folder: Path) -> Path:
    """What LibreOffice makes of ``path``, with settings of its own in ``folder``."""
    command = [
        *("soffice", "--headless", "--norestore", f"-env:UserInstallation=file://{folder}/profile"),
        *("--convert-to", form, "--outdir", str(output), str(path)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    made = output / f"{path.stem}.{form}"
    if done.returncode or not made.is_file():
        sys.exit(f"{path}: LibreOffice cannot open it: {done.stderr.strip() or done.stdout}")
    return made


if __name__ == "__main__":
    sys.exit(main())
