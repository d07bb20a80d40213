"""A published site in a real browser: a reference run as a stranger finds it."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.pages import silent_page

ROOT = Path(__file__).parents[2]
RUN = "petrov2014"
URL = "https://example.org/kv"


def kvstudy(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["kvstudy", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference run with this clone's templates, its figures drawn and its page built."""
    folder = tmp_path_factory.mktemp("run")
    with zipfile.ZipFile(ROOT / "reference" / f"{RUN}.zip") as packed:
        packed.extractall(folder)
    shutil.copytree(ROOT / "report", folder / "report", dirs_exist_ok=True)
    shutil.copy(ROOT / "reference" / f"{RUN}.html", folder / "report")
    kvstudy(folder, "tabulate", RUN)
    kvstudy(folder, "draw", RUN)
    return folder


@pytest.fixture(scope="module")
def site(unpacked: Path) -> Path:
    folder = unpacked / "site"
    options = ["--to", str(folder), "--url", URL]
    archive = ROOT / "reference" / f"{RUN}.zip"
    said = kvstudy(unpacked, "publish", RUN, *options, "--archive", str(archive))
    assert "1 run, all links checked" in said
    return folder


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """The front page, which loads only what is of the site."""
    with silent_page(browser, (site.as_uri(), "data:"), 800) as page:
        page.goto((site / "index.html").as_uri())
        yield page


class Tags(HTMLParser):
    """Takes what a program that shows a posted link reads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.of: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "meta" and (name := values.get("property") or values.get("name")):
            self.of[name] = values.get("content", "")


def test_a_posted_link_shows_title_answer_and_card(site: Path) -> None:
    tags = Tags((site / RUN / "index.html").read_text(encoding="utf-8")).of
    assert tags["og:title"] == "MySQL and Redis, and when a cache pays off"
    assert "Redis is" in tags["og:description"]
    assert tags["og:url"] == f"{URL}/{RUN}/"
    assert tags["og:image"] == f"{URL}/{RUN}/card.png"
    assert tags["twitter:card"] == "summary_large_image"
    assert (site / RUN / "card.png").read_bytes().startswith(b"\x89PNG")
    assert "undecided" in (site / RUN / "badge.svg").read_text(encoding="utf-8")


def test_from_the_front_page_to_a_table_its_files_and_its_citation(page: Page, site: Path) -> None:
    page.get_by_role("link", name="MySQL and Redis").click()
    page.locator("figure a.files").first.click()
    assert re.search(rf"/{RUN}/(table|figure)/[^/]+/index\.html$", page.url)
    expect(page.get_by_label("Address")).to_have_value(re.compile(rf"^{URL}/{RUN}/"))
    assert "@misc{" in page.locator("#bibtex").inner_text()
    copy = page.get_by_role("button", name="Copy link")
    copy.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="MySQL and Redis").click()
    expect(page.get_by_role("link", name="archive with all raw logs")).to_be_visible()
    assert (site / RUN / f"{RUN}.zip").is_file()


def test_a_number_shows_its_runs_and_log_lines(page: Page, unpacked: Path) -> None:
    page.goto((unpacked / "site" / RUN / "index.html").as_uri())
    number = page.locator("td .number").first
    number.focus()
    page.keyboard.press("Enter")
    place = page.locator("dialog .place").first.inner_text()
    line = page.locator("dialog .line").first.inner_text()
    file, at = place.rsplit(":", 1)
    assert (unpacked / file).read_text(encoding="utf-8").splitlines()[int(at) - 1] == line
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).not_to_be_visible()
    expect(number).to_be_focused()


def test_a_mark_of_a_chart_shows_its_runs(page: Page, unpacked: Path) -> None:
    page.goto((unpacked / "site" / RUN / "index.html").as_uri())
    mark = page.locator("#figure\\:ratios .mark-symbol path").first
    page.locator("#figure\\:ratios").scroll_into_view_if_needed()
    mark.click(force=True)
    # Of both stores of the ratio.
    cells = page.locator("dialog tbody th").all_inner_texts()
    assert {text.split("/")[0] for text in cells} == {"mysql", "redis"}
    # By keyboard it is among the values below the chart.
    page.keyboard.press("Escape")
    page.locator("#figure\\:ratios details.values summary").press("Enter")
    page.locator("#figure\\:ratios details.values .number").first.press("Enter")
    assert page.locator("dialog tbody th").all_inner_texts() == cells


def test_an_earlier_page_stays_below_its_date(unpacked: Path, site: Path) -> None:
    again = unpacked / "again"
    shutil.copytree(site, again)
    summary = again / RUN / "summary.json"
    summary.write_text(
        re.sub(r'"published": "[^"]*"', '"published": "2026-01-02"', summary.read_text())
    )
    report = unpacked / "report" / f"{RUN}.html"
    before = report.read_text(encoding="utf-8")
    report.write_text(before.replace("<h1", "<p>Mended.</p><h1", 1), encoding="utf-8")
    try:
        kvstudy(unpacked, "publish", RUN, "--to", str(again), "--url", URL)
    finally:
        report.write_text(before, encoding="utf-8")
    page = (again / RUN / "index.html").read_text(encoding="utf-8")
    assert 'href="2026-01-02/index.html"' in page
    assert "Mended." in page
    earlier = (again / RUN / "2026-01-02/index.html").read_text(encoding="utf-8")
    assert "Mended." not in earlier
    # The archive of before is still there.
    assert f'href="{RUN}.zip"' in page


def test_a_run_without_a_report_is_refused(unpacked: Path) -> None:
    report = unpacked / "report" / f"{RUN}.html"
    aside = report.rename(report.with_suffix(".aside"))
    try:
        done = subprocess.run(
            ["kvstudy", "publish", RUN, "--to", "x", "--url", URL],
            cwd=unpacked,
            capture_output=True,
            text=True,
        )
    finally:
        aside.rename(report)
    assert done.returncode == 5
    assert "build the report before you publish it" in done.stderr
    assert "Traceback" not in done.stderr
