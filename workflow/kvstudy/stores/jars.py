"""Our bindings with the drivers, and the stores that are jars beside them."""

import re
from pathlib import Path

from kvstudy.errors import KvstudyError

LIBRARY = Path("workflow/bindings/target/lib")


def version_of(artifact: str) -> str:
    """The version of an embedded store, from the name of its jar."""
    for jar in LIBRARY.glob(f"{artifact}-*.jar"):
        if told := re.match(r"\d+(\.\d+)+", jar.name.removeprefix(f"{artifact}-")):
            return told[0]
    raise KvstudyError(f"{LIBRARY}: there is no {artifact} in it; run 'make setup'")
