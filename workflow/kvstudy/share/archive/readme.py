"""What a person reads first who gets an archive."""

from __future__ import annotations

from kvstudy import __version__
from kvstudy.share.archive.contents import Contents

TEXT = """\
# {title}

{what} of the study `{study}`{size}, packed by kvstudy {version}.

| where | what |
|---|---|
| `report/` | the report, and the templates that it is made from |
| `results/{run}/` | tables and tidy data (`measurements.csv`, `summary.csv`, `analysis/`) |
{raw}| `figures/{run}/` | the figures, each with the values that it shows |
| `config/`, `envs/`, `workloads/` | the study, the stores' settings, the YCSB property files |
| `Snakefile`, `workflow/` | the workflow that made all of it |
| `ro-crate-metadata.json` | the same for programs (Workflow Run RO-Crate) |
| `SHA256SUMS` | checksums of all files: `sha256sum --check --quiet SHA256SUMS` |
{missing}
## Check it, build it again

In a clone of kvstudy that is set up (`make setup`):

```sh
kvstudy verify ARCHIVE.zip     # checksums, plan, course of the run, every number anew
kvstudy rebuild ARCHIVE.zip    # the report from the raw logs, by the archive's own workflow
```

Without a clone, the unpacked archive is one: `make setup`, then `. .venv/bin/activate`. Nothing
is measured, whatever servers the machine has.
"""

RAW = """\
| `results/{base}/raw/` | the raw logs, one folder per cell, with `manifest.json` and checksums |
| `results/{base}/failed/`, `replaced/` | attempts that failed, logs that were measured again; \
not there when there are none |
"""


def readme(contents: Contents) -> str:
    """README.md of the archive."""
    run = contents.run
    missing = ""
    if contents.missing:
        count = len(contents.missing)
        missing = f"\nThe run is not finished: {count} planned cells are not there " + (
            f"(`{contents.missing[0]}`{', ...' if count > 1 else ''}; all in `archive.json`).\n"
        )
    return TEXT.format(
        title=contents.study.title,
        what="Published values and report" if run.published_only else "Raw logs and report",
        study=run.study,
        size="" if run.scale == 1 else f" at {run.scale:g} of its size",
        run=run.name,
        raw="" if run.published_only else RAW.format(base=run.base),
        version=__version__,
        missing=missing,
    )
