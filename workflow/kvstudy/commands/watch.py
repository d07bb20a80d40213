import shutil
import sys
import time
from pathlib import Path

import click

from kvstudy.errors import KvstudyError


@click.command("watch")
@click.argument("run", required=False)
@click.option("--every", type=click.FloatRange(min=0.1), default=1.0, show_default=True, help="s.")
def command(run: str | None, every: float) -> None:
    """Show how far a run is while it is measured, in a second terminal.

    RUN is a folder below results/; left out, it is the one that is measured now, or was
    last. A live line shows cells done, failures, the time left, and the present cell
    with its phase and operations per second. Each finished or failed cell leaves a
    line. Without a terminal only these lines are written.

    It only reads files, and ends when nothing works on the run any more. Ctrl-C ends
    the watching, not the run.
    """
    from kvstudy.measure.planning.progress import CALIBRATION, Progress, earlier_runs, look
    from kvstudy.measure.planning.watch import Watch, latest_run, works_here
    from kvstudy.stores.definition import stores_to_measure
    from kvstudy.study.config import configured
    from kvstudy.study.load import load_study
    from kvstudy.study.run_names import find_name, refuse_published

    name = Path(run).name if run else latest_run()
    if name is None:
        raise KvstudyError("results/: no run was begun here; start one with 'snakemake --cores 4'")
    known = refuse_published(find_name(name))
    study = load_study(known.study_file)
    config = configured()
    # The cells that are there tell the provider, whatever Snakemake was told.
    config = config.model_copy(update={"provider": "auto"})
    wanted = look(study, stores_to_measure(study, known.study_file), config, known.scale).wanted
    earlier = [*earlier_runs(study.name, name), CALIBRATION]
    began = _began(Path("results") / name / "logs" / "progress.log")
    watch = Watch(name, wanted, Progress(name, wanted, earlier, since=began), works_here)
    live = sys.stdout.isatty()

    def show(line: str) -> None:
        if not live:
            return
        # Cut to the width of now: a line that wraps could not be taken back.
        width = shutil.get_terminal_size().columns - 1
        cut = line if len(line) <= width else line[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
        sys.stdout.write(f"\r\x1b[2K{cut}")
        sys.stdout.flush()

    begun = False
    try:
        while True:
            news, line, goes_on = watch.look()
            if news:
                show("")
            for each in news:
                click.echo(each)
            if not goes_on:
                break
            show(line)
            if not live and not begun:
                click.echo(line.partition(" | ")[0])
            begun = True
            time.sleep(every)
    except KeyboardInterrupt:
        show("")
        click.echo("The run goes on; 'kvstudy watch' shows it again.")
        return
    show("")
    click.echo(watch.end())


def _began(log: Path) -> float | None:
    """When Snakemake began with the run: the first of its lines after the last begin."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    for line in reversed(lines):
        if ", 0 s elapsed," in line:
            return time.mktime(time.strptime(line[:19], "%Y-%m-%d %H:%M:%S"))
    return None
