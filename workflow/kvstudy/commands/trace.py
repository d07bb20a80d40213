from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kvstudy.errors import KvstudyError

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


@click.command("trace")
@click.argument("what")
@click.option("--run", "name", metavar="RUN", help="A folder below results/.")
@click.option("--study", help="A study's name or study.yaml.  [default: as configured]")
@click.option("--scale", type=float, help="Factor on the counts.  [default: as configured]")
@click.option("--json", "as_json", is_flag=True, help="Print it as data.")
def command(
    what: str, name: str | None, study: str | None, scale: float | None, as_json: bool
) -> None:
    """Follow WHAT from the report to the lines of the logs that it comes from.

    Prints the mean as in summary.csv, each repetition as in measurements.csv and
    whether it counts, the raw file with its sha256 and the line in it. On the way
    everything is worked out again; what does not fit is listed, and the exit
    status is 1.

    \b
    WHAT is
      STORE/WORKLOAD/METRIC             redis/a/throughput
      STORE/WORKLOAD/OPERATION/METRIC   redis/a/read/latency_p99
      STORE/WORKLOAD/SIZES/...          redis/a/threads=8,records=1000/throughput
      STORE/mean/throughput             the mean of all workloads
      ratio:STORE/OTHER/WORKLOAD        the pairs behind a ratio
      table:NAME, figure:NAME           their cells and the sha256 of their logs

    The operation 'all' stands for a workload's operations combined. Without sizes,
    those are meant that the report shows. Without --run it is the run of the
    configured study and scale.
    """
    import dataclasses
    import json

    from kvstudy.share.trace import text
    from kvstudy.share.trace.chain import chain, ratio_chain, resolve
    from kvstudy.share.trace.provenance import part_of

    run = _run(name, study, scale)
    kind, _, rest = what.partition(":")
    data: Any
    problems: list[str] = []
    if kind in ("table", "figure") and rest:
        data = part_of(run, kind, rest)
        lines = text.part_lines(f"{kind} {rest} of {run.name}", data)
        data["cells"] = [
            {"cell": path, "sums": cell["sums"], "why": cell["why"]}
            for path, cell in data["cells"].items()
        ]
        data["probes"] = {store: probe["sums"] for store, probe in data["probes"].items()}
    elif kind == "ratio" and rest:
        ratio = ratio_chain(run, rest)
        lines, data, problems = text.ratio_lines(ratio), dataclasses.asdict(ratio), ratio.problems
    else:
        value = chain(run, resolve(run, what))
        lines, data, problems = text.chain_lines(value), dataclasses.asdict(value), value.problems
    if as_json:
        click.echo(json.dumps(_without_nan({"run": run.name} | data), indent=1))
    else:
        click.echo("\n".join([*lines, *text.problem_lines(problems)]))
    if problems:
        things = "1 thing does" if len(problems) == 1 else f"{len(problems)} things do"
        raise KvstudyError(f"{what}: {things} not fit, see above")


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: what is not known is null."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    return None if value != value else value


def _run(name: str | None, study: str | None, scale: float | None) -> Run:
    """The run called ``name``, or that of a study and scale; left out ones are as configured.

    KvstudyError when there is no such run.
    """
    from kvstudy.analyse.run import find_run, run_of
    from kvstudy.commands.options import study_file
    from kvstudy.study.config import configured
    from kvstudy.study.load import load_study

    if name:
        if study or scale:
            raise KvstudyError("--run tells study and scale; leave out --study and --scale")
        return find_run(name)
    config = configured()
    loaded = load_study(study_file(study or config.study))
    return run_of(loaded, config.scale if scale is None else scale)
