"""Processes that never outlive the one that started them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

# Starts what makes a file, and is gone before the signal of its death is set.
PARENT = """
import os
from kvstudy.stores.process import start
start(["touch", "started"], None, None)
os._exit(0)
"""


def start_it(folder: Path, seconds: float) -> bool:
    """Whether the command starts where the signal of the parent's death is set that late."""
    late = folder / "setpriv"
    late.write_text(f'#!/bin/sh\nsleep {seconds}\nexec {shutil.which("setpriv")} "$@"\n')
    late.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    parent = PARENT if seconds else PARENT.replace("os._exit(0)", "import time; time.sleep(1)")
    subprocess.run([sys.executable, "-c", parent], cwd=folder, env=os.environ | {"PATH": path})
    time.sleep(seconds + 1)
    return (folder / "started").exists()


def test_a_command_whose_parent_died_before_it_began_does_not_start(tmp_path):
    assert start_it(tmp_path, 0)
    (tmp_path / "started").unlink()
    assert not start_it(tmp_path, 1)
