# Entry point. Without a default target of its own, a file that only includes
# another one does nothing and says so nowhere.


include: "workflow/Snakefile"


rule all:
    """The study: measured cells, tables, figures, the report."""
    default_target: True
    input:
        made(RUN),
        # Named here too: otherwise Snakemake would not miss a cell that was removed
        # after everything made from it was there. Those that are there are not named, for
        # parsing takes away what it cannot read.
        cells=[
            f"results/{RUN}/raw/{cell.path}/SHA256SUMS"
            for cell in WANTED
            if not is_measured(RUN, cell)
        ],
        probes=[
            f"results/{RUN}/probes/{store}/SHA256SUMS"
            for store in WANTED_PROBES
            if store not in PROBED
        ],
        gaps=[f"results/{RUN}/gaps/{store}.json" for store in GAPS],
    message:
        "all of {RUN} is there"


rule report_partial:
    """The report of the cells that are there; it measures nothing and shows the holes."""
    input:
        made(f"{RUN}-partial"),
