"""Build the report of an archive from its raw logs, by its own workflow."""

from __future__ import annotations

import shutil
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.share.archive.anew import is_input, snakemake, target
from kvstudy.share.archive.unpack import check_room, extract, opened, read_facts


def rebuild(archive: Path, folder: Path) -> Path:
    """Unpack study, raw logs and workflow to the new ``folder``; returns the report built there.

    Tables, figures and the report that were packed are left in the archive.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KvstudyError(f"{folder}: is there already; remove it, or give --output")
    with opened(archive) as file:
        run, _ = read_facts(file)
        check_room(archive, file, folder)
        existed = folder.is_dir()
        try:
            extract(file, folder, lambda name: is_input(run, name), executable=True)
        except KvstudyError:
            # What is half unpacked looks like a project, but is none.
            shutil.rmtree(folder, ignore_errors=True)
            if existed:
                folder.mkdir()
            raise
    if snakemake(folder, *target(run), shown=True).returncode:
        raise KvstudyError(
            f"{folder}: the report could not be built; the lines above say why. The raw logs lie "
            "there; once that is mended, run 'snakemake --cores 4' in that folder"
        )
    return folder / "report" / f"{run.name}.pdf"
