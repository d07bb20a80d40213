"""Logs to tidy tables, and what follows from them."""

import json
from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE
from kvstudy.errors import InputError
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import load_design, load_study
from kvstudy.study.raw import as_measured, noted, probe_directory, raw_directory, set_aside

STUDY_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("parse")
@click.argument("run")
@click.option(
    "--mixed",
    type=bool,
    default=False,
    help="Accept a run whose cells were measured under different conditions.",
)
def parse(run: str, mixed: bool) -> None:
    """Parse the raw logs of RUN into tidy tables: cells.csv, measurements.csv and more.

    cells.csv also lists cells without logs and says why they are missing. If the
    logs of a cell are unreadable or do not match their checksums, the cell counts as
    failed: its files are moved to results/RUN/failed/, and it can be measured again.
    Stops with an error if the parameters of cells differ from the study's, or if cells
    were measured under different conditions (machine, versions, client, Java,
    provider, cores).
    """
    from kvstudy.analyse.tidy.collect import collect
    from kvstudy.analyse.tidy.files import (
        CELLS,
        HISTOGRAMS,
        MEASUREMENTS,
        OF_CELLS,
        PROBES,
        SERIES,
        TARGETS,
    )
    from kvstudy.analyse.tidy.open_loop import FOLDER, explain, targets
    from kvstudy.analyse.tidy.probes import collect_probes
    from kvstudy.stores.definition import load_stores
    from kvstudy.study.run_names import command_of, find_name
    from kvstudy.whole_file import staged

    name = find_name(run, published=False)
    run, output = name.base, name.folder
    loaded = as_measured(load_design(name.study_file), run)
    planned = plan(loaded, name.scale)
    opened = output / FOLDER
    opened.mkdir(parents=True, exist_ok=True)
    # The cells at fixed rates are apart, so that nothing mixes with the others.
    long_tables = {table.path(output): table for table in OF_CELLS if table is not CELLS}
    long_tables |= {table.path(opened): table for table in (MEASUREMENTS, SERIES, HISTOGRAMS)}
    with noted(output, "parse") as outputs, staged(long_tables) as files:
        for path, table in long_tables.items():
            files[path].write(",".join(table.columns) + "\n")

        def take(cell: Cell, table: str, lines: str) -> None:
            path = (output if cell.closed is None else opened) / f"{table}.csv"
            if path in files:
                files[path].write(lines)

        collected = collect(loaded, planned, run, mixed, take=take)
        cells = collected.tables["cells"]
        if len(collected.unreadable) > 1 and not (cells.status == "measured").any():
            # Rather this program than all of the logs: nothing is moved away.
            raise InputError(
                f"results/{run}: none of {len(collected.unreadable)} measured cells can be read, "
                "as by another version of kvstudy; the first: "
                f"{next(iter(collected.unreadable.values()))}"
            )
        again = (
            "import it again"
            if loaded.imported
            else f"'{command_of(run)}' measures it again where it can be measured"
        )
        probes, unreadable = collect_probes(loaded, run)
        _set_aside(run, collected.unreadable, unreadable, again)
        at_rates = {cell.parameters for cell in planned if cell.closed is not None}
        is_opened = cells["parameters"].isin(at_rates)
        cells_at_rates = explain(cells[is_opened], loaded, load_stores(loaded), planned, run)
        tables = {
            CELLS.path(output): cells[~is_opened],
            CELLS.path(opened): cells_at_rates,
            TARGETS.path(opened): targets(collected, planned, run),
            PROBES.path(output): probes,
        }
        for path, table in tables.items():
            table.to_csv(path, index=False)
        environment = output / "environment.json"
        text = json.dumps(collected.environment, indent=1)
        environment.write_text(text + "\n", encoding="utf-8")
        outputs += [*long_tables, *tables, environment]
    measured = (cells.status == "measured").sum()
    print(f"{output}: {measured} of {len(cells)} cells measured")


def _set_aside(run: str, cells: dict[Cell, str], probes: dict[str, str], again: str) -> None:
    """Make failed measurements of those that cannot be read; say so, and how to try ``again``."""
    reasons = {(cell.path, raw_directory(run, cell)): why for cell, why in cells.items()}
    reasons |= {(f"probes/{one}", probe_directory(run, one)): why for one, why in probes.items()}
    for (name, folder), reason in reasons.items():
        try:
            failed = set_aside(folder, Path("results") / run, name, reason)
        except OSError as error:
            raise InputError(
                f"{folder}: {reason}; and it cannot be moved to results/{run}/failed/ "
                f"({error.strerror}): give yourself the right to write there"
            ) from None
        print(f"{name}: {reason}\nIts logs are in {failed}; {again}.")


@click.command("look")
@click.argument("repetitions", type=int)
@click.option("--study", type=STUDY_FILE, required=True, help="Path of the study.yaml.")
@click.option(
    "--scale", type=float, default=1.0, help="Multiplies the numbers of records and operations."
)
@click.option("--output", type=STUDY_FILE, required=True, help="The JSON file to write.")
def look(repetitions: int, study: Path, scale: float, output: Path) -> None:
    """Test whether REPETITIONS repetitions are enough (interim analysis).

    Tests whether every comparison is decided, so that the run can stop early. The
    workflow runs this command after each repetition if the study sets
    'repetitions: {from: ..., to: ...}'.
    """
    from kvstudy.analyse.claims.stopping import TRUNCATED
    from kvstudy.analyse.findings.looks import LOOKS, look_at
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.collect import collect
    from kvstudy.study.cells import closed_loop, run_name
    from kvstudy.study.run_names import command_of

    loaded = load_study(study)
    if not loaded.until or not loaded.until.first <= repetitions <= loaded.until.last:
        raise InputError(f"{study}: repetitions: a run is not looked at after {repetitions}")
    loaded = loaded.with_repetitions(repetitions)
    name = run_name(loaded.name, scale)
    collected = collect(loaded, closed_loop(plan(loaded, scale)), name, True, TRUNCATED)
    for cell, reason in collected.unreadable.items():
        raise InputError(
            f"{raw_directory(name, cell)}: {reason}; 'kvstudy parse {name}' puts it aside, then "
            f"'{command_of(name)}' measures it again"
        )
    run = Run(name, loaded, scale)
    # In place of the files, which are made when the run has stopped.
    vars(run).update(collected.tables)
    seen = look_at(run.spread, loaded, repetitions, run.compared, run.claimed)
    row = dict(zip(LOOKS.columns, seen, strict=True))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    click.echo(
        f"after {repetitions} repetitions: {row['undecided']} of {row['comparisons']} comparisons "
        f"undecided; {'the run stops' if row['stop'] else 'one more repetition'}"
    )


@click.command("analyse")
@click.argument("run")
def analyse(run: str) -> None:
    """Compute the statistics of RUN: means, confidence intervals, ratios and more.

    For each metric, summary.csv has the number of repetitions (n), the arithmetic
    mean, the geometric mean (rates only), the standard deviation (sd), the coefficient
    of variation (cv), the minimum and the maximum. Invalid cells are excluded. For
    workloads with several types of operations, a further row has the unweighted mean
    of their latencies. results/RUN/analysis/ has a CSV file for each further analysis.
    """
    from kvstudy.analyse.findings.files import analyse, write_analysis
    from kvstudy.analyse.run import find_run
    from kvstudy.analyse.tidy.files import SUMMARY
    from kvstudy.analyse.tidy.summary import mean_over_workloads, summarise

    of = find_run(run)
    names = of.study.store_names, of.study.workload_names
    mean = mean_over_workloads(of.study)
    summary = summarise(of.measurements, of.cells, *names, of.headline, mean)
    analysis = analyse(of)
    with noted(of.folder, "summarise") as outputs:
        summary.to_csv(SUMMARY.path(of.folder), index=False, lineterminator="\n")
        outputs.append(SUMMARY.path(of.folder))
    output = of.analysis_folder
    with noted(output, "analyse") as outputs:
        write_analysis(analysis, output)
        outputs += [path for path in output.iterdir() if path.is_file()]
    click.echo(f"{output}: analysis of {len(of.cells)} cells")


@click.command("claims")
@click.argument("run")
@LANGUAGE
def claims(run: str) -> None:
    """Check the source's claims against the measurements of RUN.

    Prints a verdict for each claim and writes claims.csv, with the confidence
    intervals behind the verdicts. At a scale other than 1 there are only intervals,
    no verdicts.
    """
    from kvstudy.analyse.claims.table import JUDGED, judge_run
    from kvstudy.analyse.run import find_run
    from kvstudy.language.current import _
    from kvstudy.language.locale import decimal
    from kvstudy.render.terminal import as_text

    of = find_run(run)
    rows = judge_run(of)
    with noted(of.folder, "judge") as outputs:
        rows.to_csv(JUDGED.path(of.folder), index=False, lineterminator="\n")
        outputs.append(JUDGED.path(of.folder))
    if of.scale != 1:
        click.echo(_("trial run (scale {}): no verdicts").format(decimal(f"{of.scale:g}")))
    (table,) = of.study.tables_of("claims")
    for grid in table.grids(rows, of):
        click.echo(as_text(grid))


@click.command("audit")
@click.option("--study", type=STUDY_FILE, required=True, help="Path of the study.yaml.")
@click.option(
    "--output", type=STUDY_FILE, help="The CSV file to write [default: results/STUDY/audit.csv]."
)
@click.option("--all", "everything", is_flag=True, help="Also print the checks that pass.")
def audit(study: Path, output: Path | None, everything: bool) -> None:
    """Check whether the values in a study's source are consistent with each other.

    Reads only published.csv and quotes.yaml in the study's folder, no measurements.
    Differences that rounding in the source can explain are accepted.

    Prints the number of checks by type and the failed checks. Writes all checks to a
    CSV file.
    """
    from kvstudy.analyse.audit.files import audit
    from kvstudy.analyse.claims.file import check_source
    from kvstudy.exhibits.audit_lines import audit_lines
    from kvstudy.study.published import PUBLISHED, QUOTES, sibling_file

    plan = load_study(study)
    published, quotes = sibling_file(study, PUBLISHED), sibling_file(study, QUOTES)
    if not published and not quotes:
        raise InputError(
            f"{study.parent}: neither {PUBLISHED} nor {QUOTES}; there is nothing to audit"
        )
    check_source(study, plan)
    checks = audit(plan, published, quotes)
    output = output or Path("results") / plan.name / "audit.csv"
    with noted(output.parent, "audit") as outputs:
        output.parent.mkdir(parents=True, exist_ok=True)
        checks.to_csv(output, index=False, lineterminator="\n")
        outputs.append(output)
    for line in audit_lines(checks, everything):
        click.echo(line)
    click.echo(f"{output}: {len(checks)} checks")


@click.command("provenance")
@click.argument("run")
def provenance(run: str) -> None:
    """List the cells behind each table and figure of RUN, as JSON.

    Writes provenance.json, with the checksum of each cell's SHA256SUMS, and
    log_lines.json, with the runs and log lines behind the numbers of the HTML page.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.share.trace.log_lines import write_log_lines
    from kvstudy.share.trace.provenance import write_provenance

    of = find_run(run)
    click.echo(write_provenance(of))
    click.echo(write_log_lines(of))
