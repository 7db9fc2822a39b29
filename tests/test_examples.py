"""The examples run, and what they show is right."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.predicates import parse_predicate
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.sim.verilog.lint import lint

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_inside_amaranth(tmp_path):
    program = [sys.executable, str(EXAMPLES / "inside_amaranth.py")]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    taken, pairs = (int(word) for word in done.stdout.split() if word.isdigit())
    numbers = np.repeat(np.arange(taken), 2)
    stream = np.tile([0, 1], taken)
    arrivals = Arrivals(stream=stream, key=numbers * np.where(stream == 0, 3, 2) % 256)
    assert taken > 150
    assert pairs == len(window_join_array(arrivals, parse_predicate("band:1"), Windows((16, 16)))) > 20
    text = (tmp_path / "counted_matches.v").read_text()
    assert "module counted_matches(" in text
    assert not any(lint(Verilog(text, {"name": "counted_matches"}), "counted_matches.v").values())
