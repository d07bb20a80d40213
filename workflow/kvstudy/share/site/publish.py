"""A static site of finished runs: an index, each run's page, an address for each of its parts."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kvstudy.analyse.run import Run
from kvstudy.errors import DataError, InputError
from kvstudy.libraries import pd
from kvstudy.render import templates
from kvstudy.share.site.citation import bibtex, csl
from kvstudy.share.site.pictures import badge, card, strip
from kvstudy.share.site.summary import FILE, RunSummary, read_summary, summary_of, write_summary
from kvstudy.study.exhibits import Exhibit
from kvstudy.study.run_names import REPORT
from kvstudy.whole_file import put

TEMPLATES = REPORT / "templates/site"
PAGE = "index.html"
# Of a figure and of a table, which files are at its address, by what they are called there.
FIGURE_FILES = {"svg": "svg", "png": "png", "pdf": "pdf", "csv": "csv", "vl.json": "json"}
TABLE_FILES = {"csv": "csv", "tex": "tex", "html": "html"}
LINK = re.compile(r'<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]*)"')
HEAD = re.compile(r'(<meta charset="utf-8">\n)')
HEADER = re.compile(r"(<main id=\"text\"[^>]*>\n)")
CAPTION = re.compile(
    r'(<figure id="(table|figure):([^"]+)".*?<figcaption[^>]*>.*?)(</figcaption>)', re.S
)
SCRIPT = (TEMPLATES / "copy.js").as_posix()


def publish(run: Run, folder: Path, url: str, archive: Path | None, today: date) -> RunSummary:
    """Write the run's part of the site in ``folder``, whose address is ``url``.

    A page that was published before and differs is kept below its date. InputError for an address
    that is none, DataError where the run's report is not built.
    """
    url = checked_url(url)
    place = folder / run.name
    summary = replace(summary_of(run), published=today.isoformat())
    address = f"{url}{run.name}/"
    parts = [*_parts(run)]
    downloads = _downloads(run, archive, place)
    of_parts = {(kind, part.name) for kind, part in parts}
    page = _page(run, summary, address, of_parts, [*downloads])
    summary = replace(summary, earlier=_keep_earlier(place, page))
    page = page.replace("<!--earlier-->", _earlier(summary))
    put(page.encode(), place / PAGE)
    for kind, part in parts:
        _write_part(run, summary, kind, part, place, f"{address}{kind}/{part.name}/")
    put(card(summary), place / "card.png")
    put(badge(summary).encode(), place / "badge.svg")
    put(bibtex(summary, address).encode(), place / "cite.bib")
    put(csl(summary, address).encode(), place / "cite.json")
    for name, path in downloads.items():
        if path != place / name:
            shutil.copyfile(path, place / name)
    write_summary(summary, place)
    return summary


def checked_url(url: str) -> str:
    """Return the address with a slash at its end; InputError for what is none."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise InputError(f"--url '{url}': give the address of the site, as https://example.org/kv/")
    return url.rstrip("/") + "/"


def _keep_earlier(place: Path, page: str) -> list[str]:
    """Move a page that differs below its date; returns the dates of all earlier pages."""
    if not (place / FILE).is_file() or not (place / PAGE).is_file():
        return []
    before = read_summary(place)
    dates = before.earlier
    old = (place / PAGE).read_text(encoding="utf-8")
    if _content(old) != _content(page) and before.published:
        frozen = place / before.published
        frozen.mkdir(exist_ok=True)
        # Its links lead one folder up.
        text = re.sub(r'(href|src)="(?!#|[a-z]+:|/)([^"]+)"', r'\1="../\2"', old)
        put(text.encode(), frozen / PAGE)
        pdf = place / f"{before.run}.pdf"
        if pdf.is_file():
            shutil.copyfile(pdf, frozen / pdf.name)
        dates = sorted({*dates, before.published}, reverse=True)
    return dates


def _content(page: str) -> str:
    """The page without what differs at each publication."""
    return re.sub(r'<nav class="published">.*?</nav>|<meta [^>]*>', "", page, flags=re.S)


def _earlier(summary: RunSummary) -> str:
    links = ", ".join(f'<a href="{day}/index.html">{day}</a>' for day in summary.earlier)
    return f" Earlier versions: {links}." if links else ""


def _parts(run: Run) -> Iterator[tuple[str, Exhibit]]:
    """Yield the tables and drawn figures whose files are there."""
    for table in run.study.tables:
        if (run.tables / f"{table.name}.csv").is_file():
            yield "table", table
    for figure in run.study.drawn_figures:
        if (run.figures / f"{figure.name}.svg").is_file():
            yield "figure", figure


def _downloads(run: Run, archive: Path | None, place: Path) -> dict[str, Path]:
    """The files beside the page by their names: whole documents, and the archive.

    Without ``archive`` that of an earlier publication stays.
    """
    files = {f"{run.name}.{form}": run.document(form) for form in ("pdf", "docx")}
    files[f"{run.name}.zip"] = archive or place / f"{run.name}.zip"
    return {name: path for name, path in files.items() if path.is_file()}


def _page(
    run: Run, summary: RunSummary, address: str, parts: set[tuple[str, str]], files: list[str]
) -> str:
    """The report's page with the tags of posted links, and links to ``files`` and ``parts``."""
    page = run.document("html").read_text(encoding="utf-8")
    description = summary.answers[0] if summary.answers else summary.question
    tags = _tags(summary.title, description, address, f"{address}card.png")
    page = HEAD.sub(lambda head: head[1] + tags, page, count=1)
    nav = templates.fill(
        TEMPLATES / "nav.html.j2", {"summary": summary, "files": files}, autoescape=True
    )
    page = HEADER.sub(lambda head: head[1] + nav, page, count=1)

    def with_address(match: re.Match[str]) -> str:
        kind, name = match[2], unescape(match[3])
        if (kind, name) not in parts:
            return match[0]
        link = f'<a class="files" href="{kind}/{escape(name)}/index.html">files, address</a>'
        return f"{match[1]} {link}{match[4]}"

    return CAPTION.sub(with_address, page)


def _tags(title: str, description: str, address: str, image: str) -> str:
    """The tags by which a posted link shows title, answer and card."""
    short = description if len(description) <= 200 else f"{description[:199]}…"
    properties = {
        "og:type": "article",
        "og:title": title,
        "og:description": short,
        "og:url": address,
        "og:image": image,
        "og:image:width": "1200",
        "og:image:height": "630",
    }
    lines = [
        f'<meta property="{name}" content="{escape(text)}">' for name, text in properties.items()
    ]
    lines += [
        '<meta name="twitter:card" content="summary_large_image">',
        f'<link rel="canonical" href="{escape(address)}">',
    ]
    return "\n".join(lines) + "\n"


def _write_part(
    run: Run, summary: RunSummary, kind: str, part: Exhibit, place: Path, address: str
) -> None:
    """Write the files of a figure or table, and the page at its address."""
    folder = place / kind / part.name
    folder.mkdir(parents=True, exist_ok=True)
    source, forms = (run.figures, FIGURE_FILES) if kind == "figure" else (run.tables, TABLE_FILES)
    names = []
    for form, ending in forms.items():
        path = source / f"{part.name}.{form}"
        if path.is_file():
            names.append(f"{part.name}.{ending}")
            shutil.copyfile(path, folder / names[-1])
    if kind == "table":
        names.append(f"{part.name}.json")
        rows = pd.read_csv(folder / f"{part.name}.csv", low_memory=False)
        put(f"{rows.to_json(orient='records', indent=1)}\n".encode(), folder / names[-1])
    table = ""
    if kind == "table" and f"{part.name}.html" in names:
        text = (folder / f"{part.name}.html").read_text(encoding="utf-8")
        table = re.sub(r"<!--choices .*?-->", "", text, flags=re.S)
    entry = bibtex(summary, address, part.caption)
    put(entry.encode(), folder / "cite.bib")
    put(csl(summary, address, part.caption).encode(), folder / "cite.json")
    script = Path(SCRIPT).read_text(encoding="utf-8").strip()
    text = templates.fill(
        TEMPLATES / "part.html.j2",
        {
            "summary": summary,
            "part": part,
            "kind": kind,
            "address": address,
            "card": f"{address.removesuffix(f'{kind}/{part.name}/')}card.png",
            "files": names,
            "drawing": f"{part.name}.svg" if kind == "figure" else "",
            "table": table,
            "bibtex": entry,
            "style": _style(),
            "script": script,
            "policy": _policy(script),
        },
        autoescape=True,
    )
    put(text.encode(), folder / PAGE)


def _style() -> str:
    """The site's own style sheet, with that of tables."""
    report = (REPORT / "templates/html/style.css").read_text(encoding="utf-8")
    return report + (TEMPLATES / "site.css").read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    """A content policy that lets nothing in from outside, and these scripts only."""
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    ]
    allowed = " ".join(hashes) or "'none'"
    return (
        "default-src 'none'; img-src 'self' data: file:; style-src 'unsafe-inline'; "
        f"script-src {allowed}"
    )


def write_index(folder: Path, url: str) -> list[RunSummary]:
    """Write the front page, the feed, and what servers need; returns all runs of the site."""
    url = checked_url(url)
    runs = [read_summary(path.parent) for path in sorted(folder.glob(f"*/{FILE}"))]
    runs.sort(key=lambda summary: (summary.measured, summary.run), reverse=True)
    text = templates.fill(
        TEMPLATES / "index.html.j2",
        {
            "runs": [(summary, strip(summary)) for summary in runs],
            "url": url,
            "style": _style(),
            "policy": _policy(),
        },
        autoescape=True,
    )
    put(text.encode(), folder / PAGE)
    feed = templates.fill(TEMPLATES / "feed.xml.j2", {"runs": runs, "url": url}, autoescape=True)
    put(feed.encode(), folder / "feed.xml")
    # GitHub Pages then serves all files as they are.
    put(b"", folder / ".nojekyll")
    return runs


def check_links(folder: Path) -> None:
    """Raise DataError for a link that leads nowhere in the site, or loads from another host."""
    problems = []
    for page in sorted(folder.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        for link in map(unescape, LINK.findall(text)):
            parts = urlsplit(link)
            if parts.scheme or not parts.path or parts.path.startswith("/"):
                continue
            goal = (page.parent / unquote(parts.path)).resolve()
            if not goal.is_file():
                problems.append(f"{page}: {link}: no such file")
    if problems:
        raise DataError("\n".join(problems))
