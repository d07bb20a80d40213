import click


@click.command("summarise")
@click.argument("run")
def command(run: str) -> None:
    """Summarise the measurements of RUN over repetitions: n, mean, sd, cov, min and max.

    Invalid cells are left out of the means. Workloads with several operations get
    a combined row, the plain mean of their operations' latencies. Writes summary.csv.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.analyse.tidy.files import SUMMARY
    from kvstudy.analyse.tidy.summary import summarise
    from kvstudy.study.raw import noted

    of = find_run(run)
    names = of.study.store_names, of.study.workload_names
    summary = summarise(of.measurements, of.cells, *names, of.headline)
    output = SUMMARY.path(of.folder)
    with noted(of.folder, "summarise") as made:
        summary.to_csv(output, index=False, lineterminator="\n")
        made.append(output)
    click.echo(f"{output}: {len(summary)} rows")
