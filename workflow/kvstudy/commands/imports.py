"""Logs and results that others made."""

from pathlib import Path

import click

from kvstudy.errors import InputError
from kvstudy.study.load import STUDIES, load_study

# Ignored files that are named.
SHOWN = 12
# Results of other benchmarks.
IMPORTED = Path("results/imported")


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="Name of the new study.")
@click.option(
    "--machine", default="", help="Description of the machine on which the logs were made."
)
@click.option("--measured-by", default="", help="Name of the person who made the measurements.")
def import_(folder: Path, study: str, machine: str, measured_by: str) -> None:
    """Import the YCSB logs in FOLDER and its subfolders as the cells of a study.

    Accepts standard output and standard error in one file or two, with or without
    status lines and HdrHistogram files, written on Linux or Windows. The YCSB
    command line in a log identifies its cell. If something is missing or ambiguous,
    fill in the empty fields of config/studies/STUDY/import.csv, correct the rows with a
    question in the last column, clear that column, and run the command again. Also
    writes config/studies/STUDY/study.yaml unless it exists. Nothing is measured;
    'snakemake --config study=STUDY' builds the report.

    If FOLDER holds no logs of YCSB but results of memtier_benchmark (JSON),
    redis-benchmark (CSV), go-ycsb or ClickBench, prints ranks, ratios and what they
    cannot tell, and writes them to results/imported/STUDY/. files.csv there says which
    file is of which system and repetition; correct it and run the command again.
    """
    from kvstudy.logs.imports.cells import import_cells, planned_without_logs
    from kvstudy.logs.imports.guess import draft, guess_rows
    from kvstudy.logs.imports.mapping import NAME, check_changes, read_rows
    from kvstudy.logs.imports.parts import NO_LOG
    from kvstudy.logs.imports.questions import check_threads
    from kvstudy.logs.imports.sources import find_sources
    from kvstudy.logs.imports.study_file import check_alike, check_study, write_study
    from kvstudy.study.naming import count
    from kvstudy.study.parts import Imported

    try:
        sources, others = find_sources(folder)
    except InputError:
        if folder.is_dir() and _import_others(folder, study):
            return
        raise
    ignored, refused = others.ignored, others.refused
    check_study(study, machine, measured_by)
    home = STUDIES / study
    notes = guess_rows(sources, folder, study)
    click.echo(
        f"{folder}: {count(len(sources), 'log')} of YCSB, {count(len(ignored), 'other file')}"
    )
    for name, reason in sorted(refused.items()):
        click.echo(f"not read: {folder / name}: {reason}")
    for note in notes:
        click.echo(f"note: {note}")
    if not (home / NAME).is_file():
        draft(home / NAME, sources)
    by_name = {source.name: source for source in sources}
    chosen, rows = [], read_rows(home / NAME)
    for row in rows:
        if row.file not in by_name:
            raise InputError(
                f"{home / NAME}: {row.file}: no log of YCSB of that name in {folder}; remove its "
                "row, or put the file back"
            )
    check_changes(home / NAME, [source.row for source in sources if source.command], rows)
    for row in rows:
        by_name[row.file].row = row
        chosen.append(by_name[row.file])
    check_threads(chosen)
    check_alike(chosen)
    ignored |= {source.name: "not in import.csv" for source in sources if source not in chosen}
    if not (home / "study.yaml").is_file():
        origin = Imported(folder=folder.resolve().name, machine=machine, measured_by=measured_by)
        write_study(home / "study.yaml", study, chosen, origin)
    loaded, unread = load_study(home / "study.yaml"), ignored | refused
    good, failed = import_cells(loaded, chosen, unread, folder)
    # What has to be unpacked is among the first.
    for name, reason in sorted(ignored.items(), key=lambda of: (of[1] in NO_LOG, of))[:SHOWN]:
        click.echo(f"ignored: {name}: {reason}")
    if len(ignored) > SHOWN:
        click.echo(f"... {len(ignored) - SHOWN} more in results/{study}/imported.json")
    for text, names in _changes(chosen).items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        click.echo(f"note: {names[0]}{more}: {text}")
    if note := planned_without_logs(loaded, rows):
        click.echo(f"note: {note}")
    reasons = [f"failed cell {path}: {reason}" for path, reason in failed.items()]
    counts = f"{count(len(good), 'cell')} imported, {len(failed)} failed"
    if refused:
        counts += f"; {count(len(refused), 'log')} could not be read, as said above"
    if not good:
        raise InputError("\n".join([*reasons, f"results/{study}: {counts}"]))
    for line in reasons:
        click.echo(line)
    click.echo(f"results/{study}: {counts}")
    click.echo(f"next: snakemake --cores 4 --config study={study}")


def _import_others(folder: Path, name: str) -> bool:
    """Compare the results of another benchmark; False if the folder holds none."""
    from kvstudy.documents.others import as_text, compare_systems, write_comparison
    from kvstudy.logs.imports.study_file import check_study
    from kvstudy.logs.others.read import (
        FILES,
        as_rows,
        check_conditions,
        find_results,
        guess_files,
        read_files,
        write_files,
    )
    from kvstudy.study.naming import count

    results = find_results(folder)
    if results is None:
        return False
    check_study(name, "", "")
    check_conditions(results)
    output = IMPORTED / name
    output.mkdir(parents=True, exist_ok=True)
    if not (output / FILES).is_file():
        write_files(output / FILES, guess_files(results))
    files = read_files(output / FILES, results)
    comparison = compare_systems(as_rows(results, files), results.unit)
    write_comparison(comparison, output)
    click.echo(f"{folder}: {count(len(files), 'result file')} of {results.program}")
    for path, reason in sorted(results.refused.items()):
        click.echo(f"not read: {folder / path}: {reason}")
    for path, (system, repetition) in list(files.items())[:SHOWN]:
        click.echo(f"  {path}: {system}, repetition {repetition}")
    if len(files) > SHOWN:
        click.echo(f"  ... {len(files) - SHOWN} more")
    click.echo(f"If that is wrong, correct {output / FILES} and run the command again.\n")
    click.echo(as_text(comparison))
    for note in results.notes:
        click.echo(note)
    click.echo(f"written: {output}/values.csv, pairs.csv, comparison.txt")
    return True


def _changes(sources: list) -> dict[str, list[str]]:
    """Return how logs differ from their files' own lines, each with the logs it is true of."""
    names: dict[str, list[str]] = {}
    for source in sources:
        for part in filter(None, (source.results, source.errors)):
            for text in part.changes:
                names.setdefault(text, []).append(part.name)
    return names
