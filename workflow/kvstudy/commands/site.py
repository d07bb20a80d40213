"""Publish finished runs as a static web site."""

import datetime
from pathlib import Path

import click

from kvstudy.errors import InputError


@click.command("publish")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder of the site; other runs in it stay.",
)
@click.option("--url", required=True, help="The address at which the folder will be served.")
@click.option(
    "--archive",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The run's archive, to be downloaded; for one run.",
)
def publish(runs: tuple[str, ...], folder: Path, url: str, archive: Path | None) -> None:
    """Publish RUNS as a static site, for any web server or GitHub Pages.

    Writes a front page with a line for each run of the site, each run's page, an address
    for each table and figure with its files and citations, a card for posted links, a
    badge and a feed. When a run is published again, its earlier page stays below its
    date. The site loads nothing from other hosts and also opens from the disk.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.share.site.publish import check_links, publish, write_index

    if archive and len(runs) > 1:
        raise InputError("--archive is of one run; publish the runs one by one")
    if archive and not archive.is_file():
        raise InputError(f"{archive}: no such file; 'kvstudy archive {runs[0]}' writes it")
    today = datetime.datetime.now(datetime.UTC).date()
    for name in runs:
        summary = publish(find_run(name), folder, url, archive, today)
        click.echo(f"{folder / summary.run}: {summary.title}")
    everything = write_index(folder, url)
    check_links(folder)
    runs = "1 run" if len(everything) == 1 else f"{len(everything)} runs"
    click.echo(f"{folder / 'index.html'}: {runs}, all links checked")
