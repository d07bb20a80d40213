# Entry point. Without a default target of its own, a file that only includes
# another one does nothing and says so nowhere.


include: "workflow/Snakefile"


rule all:
    """The study: measured cells, tables, figures, the report."""
    default_target: True
    input:
        expand("report/{run}{suffix}.{form}", run=RUN, suffix=SUFFIX, form=["pdf", "html", "docx"]),
        [] if PUBLISHED_ONLY else f"report/{RUN}-analysis.html",
        [] if PUBLISHED_ONLY else f"results/{RUN}{SUBFOLDER}/export",
        # Others measured the cells of imported logs.
        [] if PUBLISHED_ONLY or STUDY.imported else f"results/{RUN}/commands.txt",
        [] if PUBLISHED_ONLY else f"results/{RUN}/provenance.json",
        [] if PUBLISHED_ONLY else f"results/{RUN}/{RUN}.xlsx",
        # Named here too: otherwise Snakemake would not miss a cell that was removed
        # after everything made from it was there.
        cells=[f"results/{RUN}/raw/{cell.path}/SHA256SUMS" for cell in WANTED],
        probes=[f"results/{RUN}/probes/{store}/SHA256SUMS" for store in WANTED_PROBES],


rule report_partial:
    """The report of the cells that are there; it measures nothing and shows the holes."""
    input:
        expand(
            "report/{run}-partial{suffix}.{form}",
            run=RUN,
            suffix=SUFFIX,
            form=["pdf", "html", "docx"],
        ),
        f"report/{RUN}-partial-analysis.html",
        f"results/{RUN}-partial{SUBFOLDER}/export",
        f"results/{RUN}-partial/provenance.json",
        f"results/{RUN}-partial/{RUN}-partial.xlsx",
