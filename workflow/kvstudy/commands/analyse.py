import click


@click.command("analyse")
@click.argument("run")
def command(run: str) -> None:
    """Intervals, ratios between stores, percentiles, steadiness, run order, bottlenecks, validity.

    Writes one CSV file each, and drift.json, to the folder analysis of RUN.
    """
    from kvstudy.analyse.findings.files import analyse, write_analysis
    from kvstudy.analyse.run import find_run
    from kvstudy.study.raw import noted

    of = find_run(run)
    found = analyse(of)
    output = of.analysis_folder
    with noted(output, "analyse") as made:
        write_analysis(found, output)
        made += [path for path in output.iterdir() if path.is_file()]
    click.echo(f"{output}: analysis of {len(of.cells)} cells")
