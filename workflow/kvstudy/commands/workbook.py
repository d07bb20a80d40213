import click


@click.command("workbook")
@click.argument("run")
def command(run: str) -> None:
    """Write RUN as a workbook (.xlsx).

    The grid of the report's first page with a chart, two sheets of averages, a
    sheet per store with its single runs, and the cells with the checksums of
    their logs. Ratios and averages are formulas over the runs, and carry their
    values for viewers that do not calculate.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.workbook.write import write_workbook

    of = find_run(run)
    output = of.folder / f"{of.name}.xlsx"
    names = write_workbook(of, output)
    click.echo(f"{output}: {len(names)} sheets")
