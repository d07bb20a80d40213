from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kvstudy.errors import KvstudyError

if TYPE_CHECKING:
    from kvstudy.study.cells import Cell


@click.command("parse")
@click.argument("run")
@click.option("--mixed", type=bool, default=False, help="Allow cells that were not measured alike.")
def command(run: str, mixed: bool) -> None:
    """Turn the raw logs of RUN into tidy tables: cells.csv, measurements.csv and others.

    Cells without logs stay in cells.csv with the reason. A cell whose logs cannot
    be read, or differ from their checksums, is a failed one: its files are moved
    to results/RUN/failed/, and it can be measured again. Refuses cells that were
    measured with other parameters than the study has now, and cells that were not
    measured alike (machine, versions, client, Java, provider, cores).
    """
    from kvstudy.analyse.tidy.collect import collect
    from kvstudy.analyse.tidy.files import HISTOGRAMS
    from kvstudy.analyse.tidy.open_loop import FOLDER, explain, split, targets
    from kvstudy.analyse.tidy.probes import collect_probes
    from kvstudy.study.cells import plan
    from kvstudy.study.load import load_study
    from kvstudy.study.raw import noted
    from kvstudy.study.run_names import RESULTS, find_name, refuse_published

    name = refuse_published(find_name(run))
    loaded, run = load_study(name.study_file), name.base
    planned = plan(loaded, name.scale)
    output = RESULTS / name.name
    (output / FOLDER).mkdir(parents=True, exist_ok=True)
    with noted(output, "parse") as made:
        made += [HISTOGRAMS.path(output), HISTOGRAMS.path(output / FOLDER)]
        with made[0].open("w") as closed_file, made[1].open("w") as opened_file:
            for file in (closed_file, opened_file):
                file.write(",".join(HISTOGRAMS.columns) + "\n")

            def take_histograms(cell: Cell, lines: str) -> None:
                (closed_file if cell.load is None else opened_file).write(lines)

            found = collect(loaded, planned, run, mixed, take_histograms)
        cells = found.tables["cells"]
        if len(found.unreadable) > 1 and not (cells.status == "measured").any():
            # Rather this program than all of the logs: nothing is moved away.
            raise KvstudyError(
                f"results/{run}: none of its {len(found.unreadable)} measured cells can be read, "
                "as by another version of kvstudy; the first: "
                f"{next(iter(found.unreadable.values()))}"
            )
        again = "import it again" if loaded.imported else "'snakemake' measures it again"
        probes, unreadable = collect_probes(loaded, run)
        _set_aside(run, found.unreadable, unreadable, again)
        closed, opened = split(found, planned)
        opened["cells"] = explain(opened["cells"], loaded, planned, run)
        opened["targets"] = targets(found, planned, run)
        tables = {output / f"{name}.csv": table for name, table in closed.items()}
        tables |= {output / FOLDER / f"{name}.csv": table for name, table in opened.items()}
        tables[output / "probes.csv"] = probes
        for path, table in tables.items():
            table.to_csv(path, index=False)
        environment = output / "environment.json"
        text = json.dumps(found.environment, indent=1)
        environment.write_text(text + "\n", encoding="utf-8")
        made += [*tables, environment]
    measured = (cells.status == "measured").sum()
    print(f"{output}: {measured} of {len(cells)} cells measured")


def _set_aside(run: str, cells: dict[Cell, str], probes: dict[str, str], again: str) -> None:
    """Make failed measurements of those that cannot be read; say so, and how to try ``again``."""
    from kvstudy.study.raw import probe_directory, raw_directory, set_aside

    folders = {cell.path: (raw_directory(run, cell), reason) for cell, reason in cells.items()}
    folders |= {
        f"probes/{store}": (probe_directory(run, store), reason) for store, reason in probes.items()
    }
    for name, (folder, reason) in folders.items():
        try:
            failed = set_aside(folder, Path("results") / run, name, reason)
        except OSError as error:
            raise KvstudyError(
                f"{folder}: {reason}; and it cannot be moved to results/{run}/failed/ "
                f"({error.strerror}): give yourself the right to write there"
            ) from None
        print(f"{name}: {reason}\nIts logs are in {failed}; {again}.")
