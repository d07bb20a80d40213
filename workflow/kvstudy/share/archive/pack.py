"""Write an archive: a zip of sorted files without times, so that equal files give equal bytes.

What is made here of the files, their checksums among it, is at its end.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import zipfile
from collections import Counter
from pathlib import Path

from kvstudy import __version__
from kvstudy.errors import DataError, EnvironmentFault
from kvstudy.share.archive.artifact import ARTIFACT, ZENODO, artifact, zenodo
from kvstudy.share.archive.contents import CHUNK, METADATA, README, Contents, Progress
from kvstudy.share.archive.crate import Person, metadata
from kvstudy.study.raw import SUMS

# The earliest that a zip can say.
NO_TIME = (1980, 1, 1, 0, 0, 0)
PLAIN, EXECUTABLE, FOLDER = 0o100644, 0o100755, 0o040755

# The project's folder on the machine that measured is before that of its results.
FOLDER_NAME = re.compile(rb"(/[^\s\"'=:,]+)/results/[^\s\"'/]+/measuring/")
# What a person may be found in; histograms and latencies are numbers.
TEXT = (".json", ".sh", ".log", ".out", ".err", ".txt", ".md", ".tex")
READ_ME = """\
# {title}

{what} of the study `{study}`{size}, packed by kvstudy {version}.

| where | what |
|---|---|
| `report/` | the templates of the report, and the report but in a lean archive |
| `results/{run}/` | tables and tidy data (`measurements.csv`, `summary.csv`, `analysis/`) |
{raw}| `figures/{run}/` | the values of the figures, and the figures but in a lean archive |
| `config/`, `envs/`, `workloads/` | the study, the stores' settings, the YCSB property files |
| `Snakefile`, `workflow/` | the workflow that made all of it |
| `ARTIFACT.md` | what is claimed, what each part costs, how to check it (for committees) |
| `ro-crate-metadata.json` | the same for programs (Workflow Run RO-Crate) |
| `SHA256SUMS` | checksums of all files: `sha256sum --check --quiet SHA256SUMS` |
{missing}
## Check it, build it again

In a clone of kvstudy that is set up (`make setup`):

```sh
kvstudy verify ARCHIVE.zip     # checksums, plan, course of the run, every number again
kvstudy rebuild ARCHIVE.zip    # the report from the raw logs, by the archive's own workflow
```

Without a clone, the unpacked archive is one: `make setup`, then `. .venv/bin/activate`. Nothing
is measured, whatever servers the machine has.
"""

READ_ME_RAW = """\
| `results/{base}/raw/` | the raw logs, one folder per cell, with `manifest.json` and checksums |
| `results/{base}/failed/`, `replaced/` | attempts that failed, logs that were measured again; \
not there when there are none |
"""


def pack(
    contents: Contents,
    output: Path,
    authors: tuple[Person, ...] = (),
    licence: str = "",
    progress: Progress = lambda count: None,
) -> None:
    """Write the archive to ``output``; nothing is left there when it cannot be finished.

    ``progress`` is called with counts of bytes, which add up to those of ``files``. Checksums are
    of what was packed, whatever changes meanwhile.
    """
    files = contents.generated | {
        README: readme(contents).encode(),
        ARTIFACT: artifact(contents).encode(),
        ZENODO: zenodo(contents, authors, licence).encode(),
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    raw = f"results/{contents.run.base}/raw/"
    unfinished = output.with_name(output.name + ".part")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
            # What was made here is in place of a file of that name.
            for name in sorted({*contents.files} - {*files, METADATA, SUMS}):
                if name.startswith(raw) and name.endswith(f"/{SUMS}"):
                    # A folder that the metadata describe must be an entry of its own.
                    file.writestr(_entry(name.removesuffix(SUMS), FOLDER), b"")
                digests[name] = _write(file, name, progress)
            files[METADATA] = metadata(contents, digests, authors, licence)
            digests[METADATA] = hashlib.sha256(files[METADATA]).hexdigest()
            files[SUMS] = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()
            for name, content in files.items():
                file.writestr(_entry(name, PLAIN), content)
        unfinished.replace(output)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EnvironmentFault(
                f"{output}: the disk is full; free some space, or give --output on another disk"
            ) from None
        raise EnvironmentFault(f"{output}: cannot be written: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _write(file: zipfile.ZipFile, name: str, progress: Progress) -> str:
    """Copy the file ``name`` into the zip; returns the SHA-256 of what was copied."""
    if not os.access(name, os.R_OK):
        raise DataError(f"{name}: cannot be read; give yourself the right to read it (chmod)")
    digest = hashlib.sha256()
    mode = EXECUTABLE if os.access(name, os.X_OK) else PLAIN
    # The size is not known to the zip beforehand, and may be above 4 GiB.
    entry = _entry(name, mode)
    with Path(name).open("rb") as source, file.open(entry, "w", force_zip64=True) as target:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            target.write(chunk)
            progress(len(chunk))
    return digest.hexdigest()


def _entry(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, NO_TIME)
    entry.compress_type = zipfile.ZIP_STORED if mode == FOLDER else zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, also where it is packed on another system
    entry.external_attr = mode << 16
    return entry


def readme(contents: Contents) -> str:
    """README.md of the archive."""
    run = contents.run
    missing = ""
    if count := len(contents.missing):
        missing = (
            f"\nThe run is not finished: {count} planned cells are not there "
            f"(`{contents.missing[0]}`{', ...' if count > 1 else ''}; all in `archive.json`).\n"
        )
    return READ_ME.format(
        title=contents.study.title,
        what="Published values and report" if run.published_only else "Raw logs and report",
        study=run.study,
        size="" if run.scale == 1 else f" at {run.scale:g} of its size",
        run=run.name,
        raw="" if run.published_only else READ_ME_RAW.format(base=run.base),
        version=__version__,
        missing=missing,
    )


def folders_named(contents: Contents) -> dict[str, int]:
    """Folders of the measuring machine that files name, with the number of these files."""
    folders: Counter[str] = Counter()
    for file in contents.files:
        if file.endswith(TEXT):
            names = FOLDER_NAME.findall(Path(file).read_bytes())
            folders.update({name.decode(errors="replace") for name in names})
    return dict(sorted(folders.items()))
