"""``kvstudy workbook``: averages and single runs for Excel and LibreOffice."""

import click


@click.command("workbook")
@click.argument("run")
def command(run: str) -> None:
    """Write RUN as a workbook (.xlsx).

    Two sheets of averages, a sheet per store with its single runs, and the
    cells with the checksums of their logs. The averages are formulas over the
    runs, and carry their values for viewers that do not calculate.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.analyse.tidy.results import read_published
    from kvstudy.present.workbook.content import Content, read_outcomes
    from kvstudy.present.workbook.write import write_workbook
    from kvstudy.study.cells import closed_loop
    from kvstudy.study.raw import sums_digest

    of = find_run(run)
    planned = closed_loop(list(of.planned.values()))
    digests = {cell.path: sums_digest(of.raw / cell.path) for cell in planned}
    content = Content(
        study=of.study,
        scale=of.scale,
        run=of.name,
        planned=planned,
        cells=read_outcomes(of.folder / "cells.csv", of.study, planned),
        measurements=of.measurements,
        values=of.values,
        summary=of.summary,
        published=read_published(of.published_file) if of.published_file else None,
        environment=of.environment,
        titles=of.titles,
        digests={path: digest for path, digest in digests.items() if digest},
    )
    output = of.folder / f"{of.name}.xlsx"
    names = write_workbook(content, output)
    click.echo(f"{output}: {len(names)} sheets")
