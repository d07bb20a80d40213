"""The report's page in a real browser: sorting, hiding, charts, themes, print, a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from kvstudy.documents.report.document import Front, write_document
from kvstudy.documents.report.html import build_html
from kvstudy.exhibits.figure import read_figure
from kvstudy.layout.looks import StyleSheet, styles
from kvstudy.render.tables import as_comment
from playwright.sync_api import Browser, Page, expect

from tests.e2e.pages import silent_page
from tests.unit import small_results as small

ROOT = Path(__file__).parents[2]
ODD = r"Riak_1 50% & #1 \ <b>"
TEXT = (
    r"""
::: glance
**The question.** Which?

:::

# Results {#results}

## Workload A {data-workload=a}

::: {#table:runs .table}
The runs.
:::

::: {#table:grid .table}
Relative.
:::

::: {#figure:speed .figure}
Speed.
:::

## Workload C {data-workload=c}

Of C.

# Later {#later}

"""
    + "A line of text.\n\n" * 60
)
RUNS = ROOT / "tests" / "data" / "report" / "sortable.html"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small report with a store whose title needs escaping."""
    folder = tmp_path_factory.mktemp("page")
    parts = SimpleNamespace(tables=folder / "tables", figures=folder / "figures")
    parts.tables.mkdir()
    parts.figures.mkdir()
    titles = small.TITLES | {"riak": ODD}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        study = small.study()
        figure = next(each for each in study.drawn_figures if each.name == "speed")
        table = small.bars(figure, study, small.results())
    table.to_csv(parts.figures / "speed.csv", index=False)
    look = styles(titles, small.COLORS)
    spec = small.chart_text(
        figure, read_figure(parts.figures / "speed.csv"), StyleSheet(study, look)
    )
    (parts.figures / "speed.vl.json").write_text(spec, encoding="utf-8")
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><path d="M0 0h4"/></svg>'
    (parts.figures / "speed.svg").write_text(drawing, encoding="utf-8")
    shutil.copy(RUNS, parts.tables / "runs.html")
    line = '<table><tr data-store="riak"><td>{} by {}</td></tr></table>'
    grids = [
        ((store, metric), line.format(metric, escape(store)))
        for metric in ("Speed", "p99")
        for store in ("Redis", ODD)
    ]
    grid = grids[0][1] + as_comment(grids)
    (parts.tables / "grid.html").write_text(grid, encoding="utf-8")
    workloads = {"a": "Workload A", "c": "Workload C"}
    front = Front("page", ODD, "Below", "Today", "Subject", stores=titles, workloads=workloads)
    write_document(TEXT, front, folder)
    build_html(folder / "page.md", parts, folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def page(browser: Browser, built: Path) -> Iterator[Page]:
    """The page with its chart drawn."""
    with silent_page(browser, ("file:", "data:"), 900) as page:
        page.goto(built.as_uri())
        page.wait_for_selector("figure.chart .mark-rect path")
        yield page


def names(page: Page) -> list[str]:
    """The heads of the rows that are seen, in order."""
    heads = page.locator("table.sortable tbody th")
    return [head.inner_text() for head in heads.all() if head.is_visible()]


def test_rows_are_sorted_within_their_section(page: Page) -> None:
    first = names(page)
    ops = page.get_by_role("button", name="Ops/s")
    ops.click()
    largest = ["First", "Memcached", "Redis", "Riak", "Second", "Other Memcached", "Other Redis"]
    assert names(page) == largest
    expect(page.get_by_role("columnheader", name="Ops/s")).to_have_attribute(
        "aria-sort", "descending"
    )
    expect(page.locator("#said")).to_have_text("Sorted by Ops/s, largest first")
    # The interval stays below its value.
    below = page.locator("tr:has(th:text-is('Redis')) + tr td").first
    expect(below).to_have_text("1\u202f000 to 2\u202f000")
    ops.focus()
    page.keyboard.press("Enter")
    # What is missing stays last.
    assert names(page) == ["First", "Redis", "Memcached", "Riak", "Second", *largest[:4:-1]]
    page.keyboard.press("Space")
    assert names(page) == first
    expect(page.get_by_role("columnheader", name="Ops/s")).not_to_have_attribute(
        "aria-sort", "ascending"
    )


def test_words_are_sorted_as_words(page: Page) -> None:
    page.get_by_role("button", name="Steady").click()
    assert names(page)[:4] == ["First", "Redis", "Riak", "Memcached"]


def test_a_hidden_store_is_hidden_everywhere_and_it_is_said(page: Page) -> None:
    chart = page.locator("figure.chart")
    chart.scroll_into_view_if_needed()
    page.wait_for_selector("figure.chart .mark-rect path")
    marks = "document.querySelectorAll('figure.chart .mark-rect path').length"
    before = page.evaluate(marks)
    bar = chart.locator(".mark-rect path").last
    width = bar.bounding_box()["width"]
    page.get_by_role("checkbox", name="Redis").uncheck()
    assert names(page) == ["First", "Riak", "Memcached", "Second", "Other Memcached"]
    expect(page.locator("#filtered")).to_contain_text("Hidden: Redis.")
    expect(page.locator("figure.table .lacks")).to_have_text("filtered")
    expect(page.locator("figure.chart .lacks")).to_have_text("filtered")
    page.wait_for_function(f"n => {marks} < n", arg=before)
    # The others take its room.
    assert bar.bounding_box()["width"] > 1.2 * width
    assert page.evaluate("location.hash") == "#hide=store:redis"
    page.emulate_media(media="print")
    assert "Redis" in names(page)
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show all").click()
    assert "Redis" in names(page)
    expect(page.locator("#filtered")).to_be_hidden()
    expect(page.locator(".lacks")).to_have_count(0)


def test_a_hidden_workload_takes_its_section_and_its_line_of_the_contents(page: Page) -> None:
    contents = page.get_by_role("navigation", name="Contents")
    page.get_by_role("checkbox", name="Workload C").uncheck()
    expect(page.get_by_text("Of C.")).to_be_hidden()
    expect(contents.get_by_role("link", name="Workload C")).to_be_hidden()
    expect(contents.get_by_role("link", name="Workload A")).to_be_visible()


def test_the_address_keeps_what_is_hidden(page: Page, built: Path) -> None:
    page.goto("about:blank")
    page.goto(f"{built.as_uri()}#hide=store:riak,workload:c")
    expect(page.locator("#filtered")).to_contain_text(f"Hidden: {ODD}, Workload C.")
    assert "Riak" not in names(page)


def test_a_chart_tells_the_exact_value_and_gives_the_drawing_back(page: Page, built: Path) -> None:
    rows = (built.parent / "figures" / "speed.csv").read_text().splitlines()
    assert rows[1].startswith("measured,A,redis,2.0976")
    drawing = page.locator("figure.chart .drawing")
    drawing.locator(".mark-rect path").first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text("2\u202f097.6 ops/s")
    expect(drawing.locator("img")).to_be_hidden()
    drawing.get_by_role("button", name="Static drawing").click()
    expect(drawing.locator("img")).to_be_visible()
    expect(drawing.locator(".interactive")).to_be_hidden()
    page.locator("figure.chart summary").click()
    values = page.locator("figure.chart details table tr")
    line = values.filter(has_text="Redis, A").first
    assert line.locator("td").all_inner_texts()[0] == "2\u202f097.6 ops/s"
    assert values.locator("td:first-of-type").count() == len(rows)


def test_the_store_and_the_metric_of_the_grid_are_chosen_by_keys(page: Page) -> None:
    figure = page.locator("figure.table", has_text="Table 2")
    grid, caption = figure.locator("table"), figure.locator("figcaption")
    expect(grid).to_have_text("Speed by Redis")
    page.locator(".choices select").first.focus()
    page.keyboard.press("ArrowDown")
    expect(grid).to_have_text(f"Speed by {ODD}")
    page.keyboard.press("Tab")
    page.keyboard.type("p99")
    expect(grid).to_have_text(f"p99 by {ODD}")
    expect(caption).to_contain_text(f"Table 2: p99 of the stores relative to {ODD}.")
    page.locator("input[value=riak]").uncheck()
    expect(grid.locator("tr")).to_be_hidden()
    expect(caption).to_contain_text("filtered")


def test_the_theme_follows_the_system_until_the_reader_chooses(page: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    label = "document.querySelector('figure.chart .role-axis-label text')"
    ink = f"getComputedStyle({label}).fill"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    light = page.evaluate(ink)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(paper)
    assert dark != "rgb(255, 255, 255)"
    page.wait_for_function(f"() => {label} && {ink} !== '{light}'")
    page.reload()
    assert page.evaluate(paper) == dark
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_contents_lead_to_the_section_and_mark_it(page: Page) -> None:
    link = page.get_by_role("navigation", name="Contents").get_by_role("link", name="Later")
    link.click()
    expect(link).to_have_attribute("aria-current", "true")
    top = page.evaluate("document.querySelector('#later').getBoundingClientRect().top")
    assert 0 <= top < 120


def test_paper_has_the_static_drawings_and_no_contents(page: Page) -> None:
    page.emulate_media(media="print")
    expect(page.locator("figure.chart img")).to_be_visible()
    expect(page.locator("figure.chart .interactive")).to_be_hidden()
    expect(page.locator("aside")).to_be_hidden()
    assert page.pdf()[:5] == b"%PDF-"


def test_a_phone_scrolls_tables_and_not_the_page(browser: Browser, built: Path) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(built.as_uri())
    page.get_by_role("heading", name="Results").click()
    page.locator("figure.chart").scroll_into_view_if_needed()
    page.wait_for_selector("figure.chart .mark-rect path")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    menu = page.get_by_role("button", name="Contents and filter")
    link = page.locator("aside a", has_text="Later")
    expect(link).to_be_hidden()
    menu.click()
    expect(link).to_be_visible()
    bar, aside = page.locator(".bar").bounding_box(), page.locator("aside").bounding_box()
    assert (aside["y"], aside["y"] + aside["height"]) == (bar["height"], 740)
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(menu).to_be_focused()
    menu.click()
    link.click()
    expect(link).to_be_hidden()
    assert page.evaluate("document.querySelector('#later').getBoundingClientRect().top") < 120
    page.close()


def test_on_a_phone_sections_are_closed_until_they_are_asked_for(
    browser: Browser, built: Path
) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(built.as_uri())
    results, line = page.get_by_role("button", name="Results"), page.get_by_text("A line of text")
    expect(page.get_by_text("The question.")).to_be_visible()
    expect(results).to_have_attribute("aria-expanded", "false")
    assert page.evaluate("document.documentElement.scrollHeight") < 2 * 740
    results.focus()
    page.keyboard.press("Enter")
    expect(results).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_text("Of C.")).to_be_visible()
    page.get_by_role("heading", name="Results").click()
    expect(results).to_have_attribute("aria-expanded", "false")
    # A link into a section opens it, also from outside.
    for goal, opened in (("figure:speed", "true"), ("later", "false")):
        page.goto("about:blank")
        page.goto(f"{built.as_uri()}#{goal}")
        expect(results).to_have_attribute("aria-expanded", opened)
    expect(line.first).to_be_visible()
    page.close()


def test_without_scripts_all_is_there(browser: Browser, built: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(built.as_uri())
    expect(page.locator("figure.chart img")).to_be_visible()
    expect(page.get_by_role("link", name="Later")).to_be_visible()
    for name in ("#theme", "#menu", "#filter", "#filtered"):
        expect(page.locator(name)).to_be_hidden()
    context.close()


def test_a_browser_that_cannot_unpack_the_charts_keeps_the_drawings(
    browser: Browser, built: Path
) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(built.as_uri())
    expect(page.locator("figure.chart img")).to_be_visible()
    page.get_by_label("Redis").uncheck()
    expect(page.locator("#filtered")).to_be_visible()
    page.close()


def test_everything_has_a_name_and_headings_their_order(page: Page) -> None:
    page.locator("figure.chart").scroll_into_view_if_needed()
    page.wait_for_selector("figure.chart .mark-rect path")
    assert page.get_by_role("heading", level=1).all_inner_texts() == [ODD]
    levels = page.evaluate(
        "[...document.querySelectorAll('main :is(h1,h2,h3)')].map((each) => +each.tagName[1])"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))
    unnamed = page.evaluate(
        """() => [
          ...[...document.querySelectorAll('button, a')].filter(
            (each) => !(each.textContent.trim() || each.getAttribute('aria-label'))),
          ...[...document.images].filter((each) => !each.alt),
          ...[...document.querySelectorAll('input')].filter((each) => !each.labels.length),
          ...[...document.querySelectorAll('figure.table table')].filter(
            (each) => !document.getElementById(each.getAttribute('aria-labelledby'))),
        ].map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the text")).to_be_focused()
