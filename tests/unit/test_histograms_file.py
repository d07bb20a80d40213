"""histograms.csv: read as it was written, and a broken file is named with its maker."""

from __future__ import annotations

import pytest
from kvstudy.analyse.tidy.files import HISTOGRAMS
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.errors import KvstudyError

HEADER = ",".join(HISTOGRAMS.columns)
ROWS = ["redis,a,r1,1,run,read,119 120,7 1", "memcached,a,r1,10,run,intended read,5,70"]


def test_a_table_is_read_as_it_was_written(tmp_path):
    (tmp_path / "histograms.csv").write_text(HEADER + "\n")
    assert HISTOGRAMS.read(tmp_path).empty
    (tmp_path / "histograms.csv").write_text("\n".join([HEADER, *ROWS, ""]))
    table = HISTOGRAMS.read(tmp_path)
    assert table.to_csv(index=False).splitlines() == [HEADER, *ROWS]
    first, second = read_histograms(table)
    assert (first.latencies.tolist(), first.counts.tolist()) == ([119, 120], [7, 1])
    assert second.cell == ("memcached", "a", "r1", "10")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        HEADER.replace("latencies", "late") + "\n" + ROWS[0] + "\n",
        "\n".join([HEADER, ROWS[0].replace("119", "much"), ""]),
        "\n".join([HEADER, ROWS[0], ROWS[1].partition(",run")[0], ""]),
        "\n".join([HEADER, ROWS[0].removesuffix(",7 1"), ""]),
        "\n".join([HEADER, "redis,a,r1,1,run,read,,", ""]),
        "\n".join([HEADER, "\xff\xfe", ""]),
    ],
)
def test_a_broken_table_is_named_with_its_maker(tmp_path, text):
    (tmp_path / "histograms.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(KvstudyError, match=r"histograms\.csv: .*`kvstudy parse`"):
        [*read_histograms(HISTOGRAMS.read(tmp_path))]


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(KvstudyError, match=r"histograms\.csv: no such file; it is written by"):
        HISTOGRAMS.read(tmp_path)
