# Entry point. Without a default target of its own, a file that only includes
# another one does nothing and says so nowhere.


include: "workflow/Snakefile"


rule all:
    """The study: measured cells, tables, figures, the report."""
    default_target: True
    input:
        made(PLAN.run),
        # Named here too: otherwise Snakemake would not miss a cell that was removed
        # after everything made from it was there. Those that are there are not named, for
        # parsing takes away what it cannot read.
        missing,
        probes(store for store in PLAN.wanted_probes if store not in PLAN.probed),
        GAPS,
    message:
        "all of {PLAN.run} is there"


rule report_partial:
    """The report of the cells that are there; it measures nothing and shows the holes."""
    input:
        made(f"{PLAN.run}-partial"),
