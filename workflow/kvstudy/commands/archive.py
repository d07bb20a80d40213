import io
import sys
from pathlib import Path

import click


@click.command("archive")
@click.argument("run")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write [default: RUN.zip].",
)
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME[, ORCID]",
    help="Who answers for the data; may be given several times [default: those of CITATION.cff].",
)
@click.option(
    "--license",
    "licence",
    metavar="SPDX",
    default="",
    help="Licence of the data, for example CC-BY-4.0 [default: that of CITATION.cff].",
)
@click.option(
    "--lean",
    is_flag=True,
    help="Without report, drawings, notebook and workbook: 'kvstudy rebuild' makes them again.",
)
def command(
    run: str, output: Path | None, authors: tuple[str, ...], licence: str, lean: bool
) -> None:
    """Pack RUN, a folder below results/, as one file for a colleague or a repository.

    Raw logs, failed attempts, study, stores, workloads, tables, figures, the report and the
    workflow that made them, with checksums. The zip is a Workflow Run RO-Crate, ready for
    Zenodo. The same files always give the same bytes. A run that is not finished is packed as
    RUN-partial, after 'make partial'.

    Raw logs tell about machine and person: processor, memory, kernel, versions, the time of
    each cell, and the folder of the project, which can hold a user's name. They are packed
    as they are, since their checksums would not hold otherwise; the command says which
    folders are named. Logs of servers (server.log) may also have the machine's name.

    \b
    Examples:
      kvstudy archive jedlicka2024
      kvstudy archive jedlicka2024 --license CC-BY-4.0 \\
        --author "Jana Nováková, https://orcid.org/0000-0002-1825-0097"
    """
    from kvstudy.share.archive.contents import contents_of
    from kvstudy.share.archive.crate import parse_person
    from kvstudy.share.archive.pack import folders_named, pack
    from kvstudy.study.run_names import find_name

    people = tuple(parse_person(each) for each in authors)
    contents = contents_of(find_name(run), lean)
    output = output or Path(f"{contents.run.name}.zip")
    # A log file stays quiet.
    shown = sys.stderr if sys.stderr.isatty() else io.StringIO()
    # Each file is read twice: for its checksum, and into the zip.
    total = 2 * sum(Path(name).stat().st_size for name in contents.files)
    with click.progressbar(length=total, label=f"packing {output}", file=shown) as bar:
        pack(contents, output, people, licence, bar.update)
    megabytes = output.stat().st_size / 1e6
    click.echo(f"{output}: {len(contents.files)} files, {megabytes:.1f} MB")
    if contents.missing:
        click.echo(f"not finished: {len(contents.missing)} planned cells are not there")
    for folder, count in folders_named(contents).items():
        click.echo(f"names a folder of the machine that measured: {folder} ({count} files)")
    click.echo(f"next: kvstudy verify {output}")
