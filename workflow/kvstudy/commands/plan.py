import click

from kvstudy.commands.options import PROVIDER, study_file, study_to_measure


@click.command("plan")
@click.argument("study", required=False)
@click.option("--scale", type=float, help="Factor on the counts.  [default: as configured]")
@click.option("--provider", type=PROVIDER, help="How the servers run.  [default: as configured]")
@click.option(
    "--calibrate", is_flag=True, help="Measure each store for some seconds, if it never was."
)
@click.option("--cells", is_flag=True, help="List the single cells, in their order.")
def command(
    study: str | None, scale: float | None, provider: str | None, calibrate: bool, cells: bool
) -> None:
    """Show what STUDY (a name or a study.yaml) will take, and what it can tell.

    Cells by store and workload, hours and disk, what cannot be measured here, and
    how many repetitions tell 5, 10 and 25 % apart. Without STUDY it is that of
    config/config.yaml, which also gives everything else that no option gives.

    Times come from the study's own cells at any scale and from calibration cells
    (--calibrate), which stay in results/calibration for all studies.
    """
    from kvstudy.measure.controller import stop_on_signals
    from kvstudy.measure.planning import calibrate as short
    from kvstudy.measure.planning.costs import Estimator, between_stores, read_costs, spreads
    from kvstudy.measure.planning.progress import CALIBRATION, earlier_runs, look
    from kvstudy.stores.definition import stores_to_measure
    from kvstudy.study.cells import plan as plan_cells
    from kvstudy.study.config import configured

    config = configured()
    if provider:
        config = config.model_copy(update={"provider": provider})
    path = study_file(study or config.study)
    loaded = study_to_measure(path)
    stores = stores_to_measure(loaded, path)
    scale = config.scale if scale is None else scale
    outlook = look(loaded, stores, config, scale)
    if cells:
        _list(outlook)
        return
    runs = earlier_runs(loaded.name, outlook.run)
    known = read_costs([*runs, CALIBRATION])
    failed: dict[str, str] = {}
    if calibrate:
        here = [cell for cell in plan_cells(loaded, scale) if cell.store not in outlook.missing]
        wants = short.wanted(here, known)
        stop_on_signals()
        failed = short.calibrate(
            *(wants, known, stores, config, outlook.provider),
            lambda text: click.echo(text, err=True),
        )
        if wants:
            click.echo("", err=True)
    names = {(use.store, tuple(sorted(use.options.items()))): use.name for use in loaded.stores}
    spread = {}
    # The study's own cells first: those of a calibration are shorter and vary more.
    for source in (runs[:1], runs[1:], [CALIBRATION]):
        spread = spreads(read_costs(source), names) | spread
    of_stores = {name: spread[name] for name in loaded.store_names if name in spread}
    blocks = (between_stores(read_costs([raw]), names) for raw in runs)
    paired = next((found for found in blocks if found), None)
    for line in _screen(loaded, stores, outlook, Estimator(known), failed, of_stores, paired):
        click.echo(line)


def _list(outlook) -> None:
    from kvstudy.measure.planning.progress import counted

    for position, cell in enumerate(outlook.cells, start=1):
        status = "measured" if cell in outlook.done else "-"
        status = "no value" if cell in outlook.gaps else status
        click.echo(f"{position:4}  {status:8}  {cell.path}")
    measured = len(outlook.done - outlook.gaps)
    click.echo(f"{counted(outlook.cells)} of {outlook.run}, {measured} measured")


def _screen(study, stores, outlook, estimate, failed, spread, paired) -> list[str]:
    from kvstudy.measure.planning import screen
    from kvstudy.measure.planning.progress import counted, duration, size, times

    lines = screen.paragraph(f"{study.title}: results/{outlook.run}, provider {outlook.provider}.")
    lines += screen.paragraph(
        f"{times(len(study.stores), 'store')}, {times(len(study.workloads), 'workload')}, "
        f"{times(study.repetitions, 'repetition')}: {counted(outlook.cells)} planned; "
        f"{counted(outlook.wanted)} here, {len(outlook.wanted) - len(outlook.left)} done."
    )
    reasons: dict[str, list[str]] = {}
    for name, reason in outlook.missing.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        lines += screen.paragraph(f"Not measured here: {', '.join(names)}. Why: {reason}.")
    for name, reason in failed.items():
        lines += screen.paragraph(f"Not calibrated: {stores[name].title}: {reason}")
    if not outlook.wanted:
        return [*lines, "There is nothing to measure; 'kvstudy doctor' tells what is missing."]
    found = screen.rows(outlook, estimate)
    every = screen.total(row for workloads in found.values() for row in workloads.values())
    lines += ["", *screen.table(found, [*study.store_names, *study.workload_names]), ""]
    lines += screen.notes(every, outlook, estimate)
    if every["unknown"] < every["cells"]:
        least = "at least " if every["unknown"] or every["timed"] else ""
        lines += screen.paragraph(
            f"Whole study: {least}{duration(sum(every[part] for part in screen.PARTS))}, and "
            f"{least}{size(every['bytes'])} of raw logs; left: {least}{duration(every['left'])}. "
            "Probes and the report come to it: some seconds for each store, and a minute."
        )
        lines += _server_disk(outlook)
    if every["unknown"] or every["timed"]:
        lines += screen.paragraph(
            f"To find out: kvstudy plan {study.name} --calibrate (some seconds for each store and "
            "workload), or measure the study at a small scale: "
            f"snakemake --cores 4 --config study={study.name} scale=0.1"
        )
    lines.append("")
    if spread:
        return lines + screen.repetition_lines(spread, paired, study.repetitions)
    return lines + screen.paragraph(
        "How many repetitions it needs is not known: no cell of its stores was measured "
        f"twice. 'kvstudy plan {study.name} --calibrate' does it."
    )


def _server_disk(outlook) -> list[str]:
    """What the servers hold while they run; it is deleted with each cell."""
    from kvstudy.measure.planning import screen
    from kvstudy.measure.planning.progress import size
    from kvstudy.study.workload import CORE, class_of

    def held(cell) -> int:
        properties = dict(cell.properties)
        fields = int(properties.get("fieldcount", 10))
        bytes_of_one = fields * int(properties.get("fieldlength", 100))
        # Records of other workload classes have sizes of their own.
        return cell.records * bytes_of_one if class_of(properties) == CORE else 0

    largest = max(map(held, outlook.wanted))
    text = (
        f"A server that keeps records on disk needs more than {size(largest)} while its largest "
        "cell runs; that is free again afterwards."
    )
    return screen.paragraph(text) if largest else []
