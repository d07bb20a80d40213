"""Citations of a run, or of a figure or table of it, by its address on a site."""

from __future__ import annotations

import json
import re

from kvstudy.share.site.summary import RunSummary


def bibtex(summary: RunSummary, url: str, part: str = "") -> str:
    """A BibTeX entry; ``part`` is the caption of a figure or table."""
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"kvstudy-{url.rstrip('/').rpartition('/')[2]}")
    title = f"{part}. {summary.title}" if part else summary.title
    fields = {
        "title": _escaped(title),
        "author": f"{{kvstudy run {_escaped(summary.run)}}}",
        "year": summary.measured[:4],
        "note": _escaped(f"Measured {summary.measured} on {summary.machine}"),
        "howpublished": rf"\url{{{url}}}",
        "urldate": summary.published,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", text)


def csl(summary: RunSummary, url: str, part: str = "") -> str:
    """The same for reference managers, as CSL-JSON."""
    item = {
        "id": url,
        "type": "dataset",
        "title": f"{part}. {summary.title}" if part else summary.title,
        "author": [{"literal": f"kvstudy run {summary.run}"}],
        "URL": url,
        "note": f"Measured {summary.measured} on {summary.machine}",
    }
    if summary.measured:
        item["issued"] = {"date-parts": [[int(each) for each in summary.measured.split("-")]]}
    return json.dumps([item], ensure_ascii=False, indent=1) + "\n"
