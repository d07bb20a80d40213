from pathlib import Path

import click


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--base",
    metavar="STORE",
    help="The store that the others are divided by [default: the first that both runs have].",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of what is written [default: results/comparisons/A-vs-B].",
)
def command(a: str, b: str, base: str | None, output: Path | None) -> None:
    """Compare two finished runs, A and B: before and after, two versions, two machines.

    A and B are names of folders below results/, or paths of such folders, also copied
    from another machine. Only cells.csv, measurements.csv and environment.json are read.

    First comes what differs between the runs (machine, versions, sizes), and what is not
    compared, with the reason. Then, for each workload that both have with the same
    parameters:

    \b
    - the change of each store's throughput relative to the base, from A to B. The speed
      of the machines cancels out, so this also compares two machines.
    - whether the stores stand in the same order.
    - the change of the throughputs themselves, only when both runs say that they are of
      the same machine (CPU, cores, memory).

    Changes are B by A, with 95 % intervals. = marks a change whose whole interval is within
    ±10 %, ~ one that is undecided, with about the number of repetitions that would decide.

    Prints all that, and writes it as CSV files, as a forest plot (PDF, SVG) and as
    comparison.pdf.

    \b
    Examples:
      kvstudy compare jedlicka2024 /media/stick/jedlicka2024
      kvstudy compare before after --base memcached
    """
    from kvstudy.present.comparison.compare import compare
    from kvstudy.present.comparison.text import as_text, build_document, write_comparison

    comparison = compare(a, b, base)
    output = output or Path("results/comparisons") / f"{comparison.a.name}-vs-{comparison.b.name}"
    click.echo(as_text(comparison))
    drawn = write_comparison(comparison, output)
    click.echo(build_document(comparison, drawn, output))
