"""A site of runs: pages, tags, links, citations, feeds."""

from __future__ import annotations

import datetime
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.share.site.citation import bibtex, csl
from kvstudy.share.site.pictures import CARD, badge, card, strip
from kvstudy.share.site.publish import check_links, checked_url, write_index
from kvstudy.share.site.summary import Mark, RunSummary, answers_of, read_summary, write_summary

SUMMARY = RunSummary(
    run="small",
    title="Small & <fast>",
    question="Which?",
    answers=["Workload A: Redis is the fastest, with 1.5 times the throughput of B."],
    machine="AMD EPYC, 23.5 GiB",
    measured="2026-11-29",
    baseline="Redis",
    marks=[
        Mark("A", "Redis", "#d55e00", 1.0, None, None),
        Mark("A", "Memcached", "#009e73", 0.5, 0.4, 0.6),
        Mark("B", "Redis", "#d55e00", 1.0, None, None),
    ],
    verdicts={"reproduced": 2, "undecided": 1},
    published="2026-11-30",
)


def test_a_card_is_as_large_as_posts_want_it_and_the_same_each_time():
    picture = card(SUMMARY)
    size = int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")
    assert size == CARD
    assert picture == card(SUMMARY)


def test_pictures_are_escaped_and_whole():
    root = ET.fromstring(badge(SUMMARY))
    assert "2 reproduced, 1 undecided" in "".join(root.itertext())
    assert "Memcached: 0.5" in strip(SUMMARY)
    ET.fromstring(strip(SUMMARY))


def test_answers_are_those_of_the_first_page():
    page = (
        '<div class="glance"><ul><li><b>A:</b> x\n is</li><li>y</li></ul><ul><li>z</li></ul></div>'
    )
    assert answers_of(page) == ["A: x is", "y"]


def test_citations_are_valid():
    entry = bibtex(SUMMARY, "https://example.org/small/", "Throughput")
    assert entry.count("{") == entry.count("}")
    assert r"Small \& <fast>" in entry
    item = json.loads(csl(SUMMARY, "https://example.org/small/"))[0]
    assert item["issued"] == {"date-parts": [[2026, 11, 29]]}


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org/", "https://x.org/?a=1", ""])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(KvstudyError, match="give the address of the site"):
        checked_url(url)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = dict(attributes)
        if tag == "meta" and "content" in of:
            self.meta[of.get("property") or of.get("name") or of.get("http-equiv") or ""] = of[
                "content"
            ]


def test_the_index_lists_the_runs_and_the_feed_is_xml(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    write_summary(SUMMARY, tmp_path / "small")
    (tmp_path / "small/index.html").write_text("<p>")
    assert read_summary(tmp_path / "small") == SUMMARY
    assert write_index(tmp_path, "https://example.org/kv") == [SUMMARY]
    page = (tmp_path / "index.html").read_text()
    assert "Small &amp; &lt;fast&gt;" in page
    tags = _Tags()
    tags.feed(page)
    assert tags.meta["og:url"] == "https://example.org/kv/"
    assert tags.meta["Content-Security-Policy"].startswith("default-src 'none'")
    assert not re.findall(r'(?:src|href)="http(?!s://example\.org/kv/)', page)
    feed = ET.parse(tmp_path / "feed.xml").getroot()
    name = "{http://www.w3.org/2005/Atom}"
    assert feed.find(f"{name}entry/{name}id").text == "https://example.org/kv/small/"
    datetime.datetime.fromisoformat(feed.find(f"{name}updated").text)
    check_links(tmp_path)


def test_a_dead_link_is_named(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><a href="#x">x</a><img src="data:x">')
    with pytest.raises(KvstudyError, match=r"a\.html: b\.html: no such file"):
        check_links(tmp_path)
