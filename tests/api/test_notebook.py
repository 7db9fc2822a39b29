"""A run as notebooks show it: well-formed, complete, and nothing in it that is not escaped."""

from xml.etree import ElementTree as ET

import streamjoin as sj


def cells(html: str) -> dict[str, str]:
    table = ET.fromstring(html)
    return {row[0].text: "".join(row[1].itertext()) for row in table.iter("tr")}


def test_a_run_shows_itself():
    run = sj.join("handshake", cores=2, window=8).simulate(tuples=2000, match_rate=0.1)
    html = run._repr_html_()
    found = cells(html)
    assert "".join(ET.fromstring(html)[0].itertext()) == (f"handshake: {run.simulation.simulator.design.summary}")
    assert found["parameters"] == "window_r=8, window_s=8, cores=2"
    assert found["tuples"] == "2,000"
    assert found["results"] == f"{run.results.num_rows:,}"
    assert found["latency in cycles"].startswith(f"min {run.latencies.min()}, mean ")
    assert found["check"] == "exact"
    assert "overflows" not in found


def test_what_is_missing_is_said():
    run = sj.join("handshake", cores=2, window=4, span=50).simulate(tuples=500, match_rate=0.1)
    found = cells(run._repr_html_())
    missing = run.summary()["check"]["missing_by_overflow"]
    assert missing > 0
    assert found["check"] == f"differs from the reference: {missing:,} missing by overflow"
    assert int(found["overflows"].replace(",", "")) == run.summary()["overflows"]


def test_everything_is_escaped():
    run = sj.join("handshake", cores=2, window=4, predicate=lambda r, s: (r.key < s.key) & (s.key < 9)).simulate(
        tuples=9
    )
    html = run._repr_html_()
    assert "predicate=(r.key - s.key &lt; 0) &amp; (s.key &lt; 9)" in html
    assert "predicate=(r.key - s.key < 0) & (s.key < 9)" in cells(html)["parameters"]


def test_without_results_and_without_a_check():
    found = cells(sj.join("handshake", cores=2, window=4).simulate(tuples=0, check=False)._repr_html_())
    assert found["results"] == "0"
    assert found["check"] == "skipped"
    assert "latency in cycles" not in found
