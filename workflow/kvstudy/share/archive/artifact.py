"""Answers to committees and repositories: ARTIFACT.md and .zenodo.json of an archive.

Both are made from the run's files, so equal files give equal texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kvstudy.analyse.claims.table import JUDGED
from kvstudy.analyse.tidy.files import CELLS
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.share.archive.contents import Contents, environment_of
from kvstudy.share.archive.crate import Person, read_citation
from kvstudy.stores.definition import load_stores
from kvstudy.study.run_names import RESULTS

ARTIFACT, ZENODO = "ARTIFACT.md", ".zenodo.json"
KICK = """\
## Kick the tires

In a clone of kvstudy on Debian 12 or 13, Ubuntu 24.04, or WSL 2 (set-up: 3 minutes, 4 GB of disk):

```sh
make setup && . .venv/bin/activate
kvstudy verify ARCHIVE.zip      # about a minute: checksums, plan, every number again
kvstudy review ARCHIVE.zip      # 15 minutes: the main comparisons measured on your machine
```

## The whole

```sh
kvstudy rebuild ARCHIVE.zip     # the report from the raw logs, without a server
make servers study STUDY={study}   # in the clone, if it has this study: measures all of it
```
"""


def artifact(contents: Contents) -> str:
    """ARTIFACT.md: claims, experiments with their costs, how to check them, known deviations."""
    return "\n".join(_lines(contents))


def _lines(contents: Contents) -> Iterator[str]:
    run, study = contents.run, contents.study
    yield f"# Artifact: {study.title}\n"
    yield f"{study.question}\n"
    if study.source:
        source = study.source
        yield f"It repeats measurements of {source.author}: {source.title} ({source.year}).\n"
    yield from _claims(RESULTS / run.name)
    if not run.published_only:
        yield from _experiments(contents)
    yield KICK.format(study=study.name)
    yield from _deviations(contents)


def _claims(results: Path) -> Iterator[str]:
    yield "## What is claimed\n"
    if JUDGED.path(results).is_file():
        yield "Claims of the source and this run's verdicts (`claims.csv`; page 2 of the report):\n"
        yield "| claim | of the source | verdict |\n|---|---|---|"
        rows = JUDGED.read(results).drop_duplicates("id")
        for row in rows.itertuples():
            yield f"| {row.id} | {_cell(row.short)} | {row.verdict or 'no verdict'} |"
        yield ""
    yield (
        "The run's own comparisons of stores are in `analysis/pairs.csv`; the report's first page "
        "shows them.\n"
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def _experiments(contents: Contents) -> Iterator[str]:
    run = contents.run
    cells = CELLS.read(RESULTS / run.name)
    cells = cells[cells["status"] == "measured"]
    minutes = cells.groupby(["workload", "store"], sort=False)["wall_seconds"].agg(["count", "sum"])
    yield "## Experiments and what they cost\n"
    yield "| workload | store | measurements | minutes |\n|---|---|---:|---:|"
    for (workload, store), row in minutes.iterrows():
        spent = "not recorded" if pd.isna(row["sum"]) else f"{row['sum'] / 60:.1f}"
        yield f"| {workload} | {store} | {row['count']:.0f} | {spent} |"
    raw = f"{RESULTS / run.base}/raw/"
    size = sum(Path(name).stat().st_size for name in contents.files if name.startswith(raw))
    total = cells["wall_seconds"].sum() / 60
    yield (
        f"\nIn all {len(cells)} measurements, {total:.0f} minutes, {size / 1e6:.0f} MB of raw "
        "logs. They were measured on:\n"
    )
    for row in environment_of(run)["components"]:
        details = sentence(row.get("details", ""))
        yield f"- {row['component']}: {sentence(row['name'])}{f' ({details})' if details else ''}"
    yield ""


def _deviations(contents: Contents) -> Iterator[str]:
    study = contents.study
    yield "## Known deviations\n"
    for choice in study.choices:
        yield f"- {_cell(choice)}"
    for store in load_stores(study).values():
        for deviation in store.deviations:
            yield f"- {store.title}: `{deviation.setting}`: {_cell(deviation.reason)}"
    for path in contents.missing:
        yield f"- planned and not measured: `{path}`"
    yield ""


def zenodo(contents: Contents, authors: tuple[Person, ...] = (), licence: str = "") -> str:
    """Return the metadata that Zenodo takes with an upload."""
    citation, study = read_citation(), contents.study
    creators = [
        {"name": person.name} | ({"orcid": person.orcid.rpartition("/")[2]} if person.orcid else {})
        for person in authors or citation["authors"]
    ]
    metadata = {
        "title": f"{study.title}: raw logs and report of the run {contents.run.name}",
        "upload_type": "dataset",
        "description": study.question,
        "creators": creators,
        "license": licence or citation["license"],
        "keywords": ["benchmark", "YCSB", "key-value store", "reproducibility"],
    }
    return json.dumps(metadata, ensure_ascii=False, indent=1) + "\n"
