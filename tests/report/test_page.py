"""The page: complete in itself, readable without a script, and right in a real browser."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from streamjoin.report.page import render
from streamjoin.report.sweep_report import draw
from tests.pictures import assert_drawn
from tests.report.sample import sample

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)


class Table(HTMLParser):
    """The cells of the one table, row by row; ``best`` are the places of those that are highlighted."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.best, self.opened = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.opened.append(tag)
            if ("class", "best") in attrs:
                self.best.add((len(self.rows) - 2, len(self.rows[-1]) - 1))

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.opened.pop()

    def handle_data(self, data):
        if self.opened:
            self.rows[-1][-1] += data

    @property
    def heads(self):
        return [re.sub(r"\W.*", "", cell) for cell in self.rows[0]]

    @property
    def body(self):
        return self.rows[1:]


@pytest.fixture(scope="module")
def results():
    return sample(targets=("ecp5-85k", "xc7"), cores=(2, 32))


@pytest.fixture(scope="module")
def page(results):
    return render(results, draw(results["rows"]))


def test_nothing_is_fetched(page):
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    assert "http" not in page
    assert "@import" not in page
    # Names within the plots are found within the same plot, and each is given once.
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(names)


def test_a_row_a_point_and_the_best_of_each_metric(page, results):
    table = Table(page)
    assert len(table.body) == len(results["rows"]) == 10
    column = table.heads.index("Clock")
    best = [table.body[row][column] for row, place in table.best if place == column]
    assert sorted(best) == ["172", "343 estimate"]


def test_what_failed_is_to_be_seen(page):
    assert "needs 48000 LUTs, ecp5-85k has 30000: take fewer cores or a larger target" in page
    assert "refuses scan=parallel, storage=memory" in page
    assert "does not fit" in Table(page).body[2][-1]


def test_where_nothing_matched_is_told():
    results = sample(targets=(None,), cores=(2, 4))
    assert "Where nothing matched" not in render(results, [])
    for row in results["rows"]:
        row["runs"][0]["match_rate"] = None
    page = render(results, [])
    label = results["rows"][0]["label"]
    assert f"<h2>Where nothing matched</h2><ul><li><b>{label}</b>: 0 results at uniform keys</li>" in page
    assert "Nothing matched: there are no results." not in page
    for row in results["rows"]:
        row["runs"] = row["runs"][:1]
    assert "each result exact. Nothing matched: there are no results." in render(results, [])


def test_estimates_are_marked_and_do_not_make_headlines(page):
    tiles = re.findall(r'<p class="figure">(.*?)</p><p class="where">(.*?)</p>', page)
    assert len(tiles) == 6
    assert not any("estimate" in figure for figure, _ in tiles)
    assert not any("xc7" in where for _, where in tiles)
    only = sample(targets=("xc7",), cores=(2, 4))
    assert 'class="estimate"' in re.search(r'<p class="figure">.*?</p>', render(only, []))[0]


def test_the_longest_path_is_told_in_parts(page):
    assert "core0.matches (FIFO) → HandshakeJoin, 6.2\u00a0ns in 4 levels of logic, 60\u00a0% of it routing" in page


def test_titles_are_text(results):
    page = render({**results, "title": "<b>5 & 6</b>"}, [])
    assert "<h1>&lt;b&gt;5 &amp; 6&lt;/b&gt;</h1>" in page


def test_charts_speak_of_what_is_there(results):
    names = [chart.name for chart in draw(results["rows"])]
    assert names == ["tuples_per_second", "fmax", "comparisons_per_kilolut", "luts", "match-rate", "latency"]
    simulated = sample(targets=(None,), cores=(2, 4))
    assert [chart.name for chart in draw(simulated["rows"])] == ["input", "match-rate", "latency"]


def test_pictures(results, tmp_path):
    for chart in draw(results["rows"]):
        chart.save(tmp_path / "chart.png")
        assert_drawn(tmp_path / "chart.png")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
def test_in_a_browser(page, tmp_path):
    (tmp_path / "report.html").write_text(page)
    address = f"{(tmp_path / 'report.html').as_uri()}#sort=luts"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    table = Table(done.stdout)
    assert len(table.body) == 10
    column = table.heads.index("LUT")
    areas = [row[column].replace(",", "") for row in table.body]
    # Smallest first, for less is better, and what has none at the end.
    assert areas[-2:] == ["–", "–"]
    assert [int(area) for area in areas[:-2]] == sorted(int(area) for area in areas[:-2])
    assert 'aria-sort="ascending"' in done.stdout
    assert 'aria-label="handshake, 2 cores' in done.stdout
