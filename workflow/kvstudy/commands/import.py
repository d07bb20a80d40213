from pathlib import Path

import click

from kvstudy.errors import KvstudyError

SHOWN = 12


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--study", required=True, help="Name of the study that is made of the logs.")
@click.option("--machine", default="", help="The machine that was measured on, in words.")
@click.option("--measured-by", default="", help="Who measured.")
def command(folder: Path, study: str, machine: str, measured_by: str) -> None:
    """Take the logs of YCSB in FOLDER and below as the cells of a study.

    Standard output and standard error in one file or in two, with or without
    status lines and HdrHistogram files, from Linux, Windows or PowerShell. The
    logs' own command lines tell which cell each is; what they do not tell is
    left empty in config/studies/STUDY/import.csv: complete it and run the
    command again. Writes config/studies/STUDY/study.yaml unless it is there.
    Nothing is measured; 'snakemake --config study=STUDY' builds the report.
    """
    from kvstudy.logs.imports.cells import import_cells
    from kvstudy.logs.imports.guess import draft, guess_rows
    from kvstudy.logs.imports.mapping import NAME, read_rows
    from kvstudy.logs.imports.sources import find_sources
    from kvstudy.logs.imports.study_file import check_alike, check_study, write_study
    from kvstudy.study.load import STUDIES, load_study
    from kvstudy.study.parts import Imported

    sources, ignored = find_sources(folder)
    check_study(study, machine, measured_by)
    home = STUDIES / study
    guess_rows(sources, folder, study)
    click.echo(f"{folder}: {len(sources)} logs of YCSB, {len(ignored)} other files")
    if not (home / NAME).is_file():
        draft(home / NAME, sources)
    by_name = {source.name: source for source in sources}
    chosen = []
    for row in read_rows(home / NAME):
        if row.file not in by_name:
            raise KvstudyError(
                f"{home / NAME}: {row.file}: no log of YCSB of that name in {folder}; remove its "
                "row, or put the file back"
            )
        by_name[row.file].row = row
        chosen.append(by_name[row.file])
    check_alike(chosen)
    ignored |= {source.name: "not in import.csv" for source in sources if source not in chosen}
    if not (home / "study.yaml").is_file():
        origin = Imported(folder=folder.resolve().name, machine=machine, measured_by=measured_by)
        write_study(home / "study.yaml", study, chosen, origin)
    good, failed = import_cells(load_study(home / "study.yaml"), chosen, ignored, folder)
    for number, (name, reason) in enumerate(sorted(ignored.items())):
        if number == SHOWN:
            click.echo(f"... {len(ignored) - SHOWN} more in results/{study}/imported.json")
            break
        click.echo(f"ignored: {name}: {reason}")
    for path, reason in failed.items():
        click.echo(f"failed cell {path}: {reason}")
    click.echo(f"results/{study}: {len(good)} cells imported, {len(failed)} failed")
    click.echo(f"next: snakemake --cores 4 --config study={study}")
