"""Charts in a browser: drawn from a file, without network, with exact values on hover."""

from __future__ import annotations

import json
from pathlib import Path

import altair as alt
import pytest
from kvstudy.render.page import inline, scripts, styles
from playwright.sync_api import Browser, Page

from tests.unit.every_chart import every_chart

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Charts</title>
<meta name="viewport" content="width=device-width"><style>
body {{ margin: 12px; }} @media (prefers-color-scheme: dark) {{
body {{ background: #16191d; color: #eee; }} }} {styles}</style><body>{charts}
<script>{scripts}</script><script>
Promise.all([...document.querySelectorAll("[data-chart]")].map((place) =>
  kvCharts.mount(place, JSON.parse(document.getElementById(place.dataset.chart).textContent))
)).then(() => {{ document.body.dataset.ready = "yes"; }});
</script>"""


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: each.text for name, each in every_chart().items()}


@pytest.fixture(scope="module")
def address(texts, tmp_path_factory) -> str:
    """A page with a chart of each kind."""
    charts = "".join(
        f'<div id="{name}" data-chart="data-{name}"></div>'
        f'<script type="application/json" id="data-{name}">{inline(text)}</script>'
        for name, text in texts.items()
    )
    path: Path = tmp_path_factory.mktemp("page") / "charts.html"
    page = PAGE.format(styles=styles(), charts=charts, scripts=scripts())
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


def opened(browser: Browser, address: str, width: int, scheme: str = "light") -> Page:
    """The page with all charts drawn; what it says and asks for is in ``page.said``."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: request.url != address and page.said.append(request.url))
    page.goto(address)
    page.wait_for_selector("body[data-ready=yes]", timeout=120_000)
    return page


def tooltip(page: Page, chart: str, words: str) -> dict[str, str]:
    """What the first mark whose description begins with ``words`` says on hover."""
    page.mouse.move(0, 0)
    mark = page.locator(f'#{chart} path[aria-label^="{words}"]').first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    table = page.locator("#vg-tooltip-element tr")
    return dict(row.locator("td").all_inner_texts() for row in table.all())


def test_specifications_of_all_kinds_are_valid(texts):
    for text in texts.values():
        alt.Chart.from_dict(json.loads(text))


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_all_kinds_are_drawn_without_network_or_complaint(browser, address, texts, width, scheme):
    page = opened(browser, address, width, scheme)
    assert page.said == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for name, text in texts.items():
        panels = page.locator(f"#{name} .kv-panel svg.marks")
        assert panels.count() == len(json.loads(text)["concat"]), name
        for box in panels.all():
            assert 0 < box.bounding_box()["width"] <= width
            assert box.locator("[aria-label]").count() or box.get_attribute("aria-label")
    # Two panels are side by side where there is room.
    one, other = (each.bounding_box() for each in page.locator("#speed .kv-panel").all())
    assert (one["y"] == other["y"]) == (width > 600)
    page.close()


def test_hovering_tells_the_exact_value(browser, address):
    page = opened(browser, address, 1000)
    thin = "\N{NARROW NO-BREAK SPACE}"
    said = tooltip(page, "speed", "Redis, A; Value 2")
    assert said["Value"] == f"2{thin}097.6 ops/s"
    assert said["Range"] == f"2{thin}000.0 ops/s to 2{thin}200.0 ops/s"
    assert said["Mean of"] == "2 runs"
    assert tooltip(page, "spectrum", "Redis, read: 99 %")["Latency"] == "900.0 µs"
    said = tooltip(page, "map", "A store with a very long name")
    assert said["Value"] == f"4{thin}000.0 ops/s"
    assert page.locator("#vg-tooltip-element h2").inner_text().endswith(r"_%&#\<b>")
    assert page.said == []
    page.close()


def test_stores_and_workloads_can_be_hidden_and_the_theme_changed(browser, address):
    page = opened(browser, address, 1000)
    redis = page.locator('#speed path[aria-label^="Redis, A"]')
    assert redis.count() == 2
    page.evaluate("kvCharts.hide({stores: ['redis']})")
    assert redis.count() == 0
    assert page.locator('#speed path[aria-label^="Memcached, A"]').count() == 1
    assert not page.locator("#speed .kv-legend li", has_text="Redis").is_visible()
    page.evaluate("kvCharts.hide({workloads: ['a']})")
    assert redis.count() == 0
    assert page.locator('#speed path[aria-label^="Redis, C"]').count() == 1
    assert not page.locator("#spectrum").is_visible()
    page.evaluate("kvCharts.hide({})")
    assert redis.count() == 2
    page.evaluate("kvCharts.setTheme('dark')")
    text = page.locator("#speed .role-axis-label text").first
    assert text.get_attribute("fill") == "#ededed"
    page.close()
