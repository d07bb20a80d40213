"""A second YCSB client beside the first, to see whether one client is the limit."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.measure.phase import client_end
from kvstudy.stores import process
from kvstudy.stores.server import log_end
from kvstudy.study.raw import SECOND

# Both do the same work from the same moment on; the second one may end a little later.
PATIENCE_SECONDS = 120


@contextlib.contextmanager
def second_client(command: list[str], classpath: str, directory: Path) -> Iterator[None]:
    """Run ``command`` while the body runs; output goes to ``<directory>/run-2.out`` and ``.err``.

    KvstudyError when it ends with an error or not at all; it never survives this.
    """
    errors = directory / f"{SECOND}.err"
    with (directory / f"{SECOND}.out").open("wb") as out, errors.open("wb") as err:
        client = process.start(command, out, err, environment={"CLASSPATH": classpath})
        record = process.note(client, "ycsb-second")
        try:
            yield
            client.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise KvstudyError(
                f"the second client still runs {PATIENCE_SECONDS} s after the first has ended"
                f"{log_end(errors)}"
            ) from None
        finally:
            process.stop(client, signal.SIGKILL)
            record.unlink(missing_ok=True)
    if client.returncode != 0:
        raise KvstudyError(f"the second client {client_end(client.returncode)}{log_end(errors)}")
