import click

from kvstudy.commands.options import LANGUAGE


@click.command("build-pdf")
@click.argument("run")
@LANGUAGE
def command(run: str) -> None:
    """Build the PDF of RUN with latexmk from the LaTeX source of `kvstudy render`.

    Undefined references and citations and labels defined twice fail the build. What
    does not fit the page and characters that no font has are warned of. The PDF is written only
    when the build is without fault.
    """
    from kvstudy.present.report.build import build_pdf
    from kvstudy.study.run_names import find_name

    of = find_name(run)
    main = of.text / "report" / f"{of.name}.tex"
    for warning in build_pdf(main, main.parent / "build", of.document("pdf"), of.study_file):
        print(f"warning: {warning}")
    print(of.document("pdf"))
