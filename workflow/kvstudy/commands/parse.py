"""``kvstudy parse``"""

from __future__ import annotations

import json
from pathlib import Path

import click

from kvstudy.commands.options import SCALE


@click.command("parse")
@click.option("--study", type=click.Path(path_type=Path), required=True, help="The study.yaml.")
@SCALE
@click.option("--mixed", type=bool, default=False, help="Allow cells that were not measured alike.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the tables: cells.csv, measurements.csv, series.csv, histograms.csv, "
    "resources.csv, outcomes.csv, rounds.csv, probes.csv, environment.json, and open-loop/ with "
    "those of open-loop cells [default: results/RUN].",
)
def command(study: Path, scale: float, mixed: bool, output: Path | None) -> None:
    """Turn the raw logs of a run into tidy tables.

    Cells without logs stay in cells.csv with the reason. Refuses logs that
    differ from their checksums, cells that were measured with other parameters
    than the study has now, and cells that were not measured alike (machine,
    versions, client, Java, provider, cores).
    """
    from kvstudy.study.by_hand import noted
    from kvstudy.study.cells import plan, run_name
    from kvstudy.study.load import load_study
    from kvstudy.tidy.collect import collect
    from kvstudy.tidy.open_loop import FOLDER, explain, split, targets
    from kvstudy.tidy.probes import collect_probes

    loaded = load_study(study)
    run = run_name(loaded.name, scale)
    planned = plan(loaded, scale)
    found = collect(loaded, planned, run, mixed)
    closed, opened = split(found, planned)
    opened["cells"] = explain(opened["cells"], loaded, planned, run)
    opened["targets"] = targets(planned, run)
    probes = collect_probes(loaded, run)
    output = output or Path("results") / run
    (output / FOLDER).mkdir(parents=True, exist_ok=True)
    tables = {output / f"{name}.csv": table for name, table in closed.items()}
    tables |= {output / FOLDER / f"{name}.csv": table for name, table in opened.items()}
    tables[output / "probes.csv"] = probes
    environment = output / "environment.json"
    with noted(output, "parse") as made:
        for path, table in tables.items():
            table.to_csv(path, index=False)
        text = json.dumps(found.environment, indent=1)
        environment.write_text(text + "\n", encoding="utf-8")
        made += [*tables, environment]
    measured = (found.cells.status == "measured").sum()
    print(f"{output}: {measured} of {len(found.cells)} cells measured")
