"""The command line keeps the contract: results, exit statuses, one sentence on errors, nothing half-written."""

import csv
import io
import json
import re
from types import SimpleNamespace

import pytest

from streamjoin.cli.main import main
from streamjoin.hdl.registry import DESIGNS
from tests.waves import at_edges, transfers

SMALL = ("handshake", "-p", "cores=2", "-p", "window=4")


def assert_one_sentence(stderr):
    assert stderr.startswith("streamjoin: ")
    assert stderr.removesuffix("\n").isprintable()
    assert len(stderr) <= 301


@pytest.fixture
def refused(streamjoin):
    """Runs a command that must fail with status 2 and one sentence on stderr."""

    def run(sentence, *words, **environment):
        done = streamjoin(*words, **environment)
        assert done.returncode == 2, done.stderr
        assert sentence in done.stderr
        assert_one_sentence(done.stderr)
        assert done.stdout == ""

    return run


def test_designs_as_text_and_json(streamjoin):
    text = streamjoin("designs").stdout
    assert "handshake: lock-step" in text
    assert "cores=8" in text
    designs = json.loads(streamjoin("designs", "--json").stdout)
    assert [design["name"] for design in designs][: len(DESIGNS)] == list(DESIGNS)  # more may be installed
    assert all({"name", "default", "meaning"} <= set(p) for design in designs for p in design["parameters"])


def test_verilog_and_manifest(streamjoin, tmp_path):
    assert streamjoin("verilog", *SMALL, "-o", "h.v").returncode == 0
    manifest = json.loads((tmp_path / "h.json").read_text())
    assert manifest["parameters"]["cores"] == 2
    assert "module handshake(" in (tmp_path / "h.v").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["h.json", "h.v"]


def test_sim_of_generated_tuples(streamjoin, tmp_path):
    words = ("--tuples", 500, "--match-rate", 0.1, "--seed", 4, "--output", "out.csv", "--json", "-")
    done = streamjoin("sim", *SMALL, *words, "--arrivals", "bursty", "--input-stalls", 0.3, "--output-stalls", 0.3)
    summary = json.loads(done.stdout)
    assert done.returncode == 0
    assert summary["check"] == "exact"
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == summary["results"] > 0
    assert set(rows[0]) == {"R", "S", "key", "cycle"}


def test_sim_of_a_file_with_times_and_two_keys(streamjoin, tmp_path):
    (tmp_path / "in.csv").write_text("stream,key,key2,time\nR,5,1,0\nS,6,2,3\nS,6,9,3\nR,4,2,8\n")
    words = ("-p", "span=5", "--predicate", "band2:1,1", "--input", "in.csv", "--output", "out.csv")
    done = streamjoin("sim", *SMALL, *words)
    assert done.returncode == 0, done.stderr
    assert "check: exact" in done.stdout
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [(row["R"], row["S"], row["key_R"], row["key2_S"]) for row in rows] == [("0", "1", "5", "2")]


@pytest.mark.parametrize("design", [SMALL, ("bisort", "-p", "window=8")])
def test_a_predicate_of_ones_own(design, streamjoin, tmp_path):
    near = "def near(r, s):\n    return (r.key <= s.key + 1) & (s.key < r.key + 2) & (s.key != 7)\n"
    (tmp_path / "mine.py").write_text(near)
    (tmp_path / "in.csv").write_text("stream,key\nR,5\nS,6\nS,4\nS,7\nR,6\n")
    done = streamjoin("sim", *design, "--predicate", "mine:near", "--input", "in.csv", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"] == 3


def test_empty_input(streamjoin, tmp_path):
    (tmp_path / "in.csv").write_text("stream,key\n")
    done = streamjoin("sim", *SMALL, "--input", "in.csv", "--output", "out.csv", "--json", "-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["check"] == "exact"
    assert (tmp_path / "out.csv").read_text().split() == ["R,S,key,cycle"]


def test_waves(streamjoin, tmp_path):
    done = streamjoin("sim", *SMALL, "--tuples", 20, "--match-rate", 0.5, "--waves", "w.vcd", "--json", "-")
    assert done.returncode == 0, done.stderr
    summary, edges = json.loads(done.stdout), at_edges(tmp_path / "w.vcd", "design")
    assert len(edges) >= summary["cycles"]
    assert transfers(edges, "i_r") == transfers(edges, "i_s") == 10
    assert transfers(edges, "o_result") == summary["results"] > 0


def test_cocotb_benches(streamjoin):
    done = streamjoin("cocotb", *SMALL)
    assert done.returncode == 0, done.stderr
    told = re.fullmatch(r"handshake on verilator: (\d+) tests passed, 0 failed\n", done.stdout)
    assert int(told[1]) >= 10


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("there is no design 'bubble'", ("sim", "bubble", "--tuples", "5")),
        ("cores must be a whole number from 1 up, not 0", ("sim", "handshake", "-p", "cores=0", "--tuples", "5")),
        ("-p takes NAME=VALUE, not 'cores'", ("sim", "handshake", "-p", "cores", "--tuples", "5")),
        ("-p cores is given twice", ("verilog", "handshake", "-p", "cores=1", "-p", "cores=2", "-o", "x.v")),
        ("in.csv does not exist", ("sim", *SMALL, "--input", "in.csv")),
        ("must lie between 0 and 1", ("sim", *SMALL, "--tuples", "5", "--match-rate", "2")),
        ("must be a whole number from 0 up", ("sim", *SMALL, "--tuples", "-1")),
        ("one of the arguments --input --tuples is required", ("sim", *SMALL)),
        ("must end in .csv or .parquet", ("sim", *SMALL, "--tuples", "5", "--output", "out.txt")),
        ("must end in .v", ("verilog", *SMALL, "-o", "x.vhdl")),
        ("cannot be written", ("verilog", *SMALL, "-o", "no/such/folder/x.v")),
        ("payload_width=3 cannot number 100 tuples", ("sim", *SMALL, "-p", "payload_width=3", "--tuples", "100")),
        ("key has 80: lower its width", ("sim", *SMALL, "-p", "key_width=80", "--tuples", "1")),
        ("time_width=4 is too narrow", ("sim", *SMALL, "-p", "span=9", "-p", "time_width=4", "--tuples", "99")),
        ("payload has 100: lower its width", ("sim", *SMALL, "-p", "payload_width=100", "--tuples", "1")),
        ("cannot be written", ("sim", *SMALL, "--tuples", "5", "--waves", "no/such/folder/w.vcd")),
        ("cannot be written", ("sim", *SMALL, "--tuples", "5", "--json", "no/such/folder/s.json")),
        ("below 1, or nothing ever moves", ("sim", *SMALL, "--tuples", "9", "--input-stalls", "1")),
    ],
)
def test_wrong_usage(refused, tmp_path, sentence, words):
    refused(sentence, *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (r"there is no command '\x1b[31m'; there are designs, ", ("\x1b[31m",)),
        ("unrecognized arguments: xxx", ("designs", "llhj", "x" * 5000)),
        ("unrecognized arguments: a b", ("designs", "llhj", "a\n\nb")),
        ("see streamjoin sim --help", ("sim", *SMALL, "--tuples", "many")),
        ("must be a whole number from 0 up, not '٣'", ("sim", *SMALL, "--tuples", "٣")),
        ("must be at most 576460752303423488", ("sim", *SMALL, "--tuples", "9" * 30)),
        ("cannot number 1125899906842624 tuples: raise it", ("sim", *SMALL, "--tuples", str(1 << 50))),
        ("there is not enough memory", ("sim", *SMALL, "-p", "payload_width=64", "--tuples", str(1 << 50))),
        ("must lie between 0 and 1, not '٠'", ("sim", *SMALL, "--tuples", "5", "--match-rate", "٠")),
        ("there is no design 'xxx", ("sim", "x" * 5000, "--tuples", "5")),
        ("-p xxx", ("sim", *SMALL, "-p", "x" * 5000 + "=1", "-p", "x" * 5000 + "=1", "--tuples", "5")),
        (r"\x1b[31m\n.csv does not exist", ("sim", *SMALL, "--input", "\x1b[31m\n.csv")),
        ("…", ("sim", *SMALL, "--input", "x" * 5000 + ".csv")),
        ("cannot be written", ("sim", *SMALL, "--tuples", "5", "--output", "x" * 5000 + ".csv")),
        ("cannot be written", ("sim", *SMALL, "--tuples", "5", "--json", "x" * 300)),
        (
            "no two keys of width 8",
            ("sim", *SMALL, "-p", "key_width=8", "--predicate", "bands:300..400", "--tuples", "5", "--match-rate=1"),
        ),
    ],
)
def test_whatever_is_written_the_answer_is_one_sentence(tmp_path, monkeypatch, capsys, sentence, words):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(list(words))
    except SystemExit as left:
        status = left.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert sentence in err
    assert_one_sentence(err)


def test_sim_of_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'stream,key\r\nR,"05"\r\nS,5')))
    assert main(["sim", *SMALL, "--input", "-", "--json", "-"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["tuples"], summary["results"], summary["check"]) == (2, 1, "exact")


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("no column 'key'", "stream,k\nR,1\n"),
        ("row 2: stream 'Q'", "stream,key\nR,1\nQ,2\n"),
        ("row 3: key '4294967296' does not fit 32 bits", "stream,key\nR,1\nS,2\nR,4294967296\n"),
        ("row 2: time", "stream,key,time\nR,1,7\nS,2,6\n"),
    ],
)
def test_malformed_input_names_the_row(refused, tmp_path, sentence, text):
    (tmp_path / "in.csv").write_text(text)
    timed = ("-p", "span=5") if "time" in text else ()
    refused(sentence, "sim", *SMALL, *timed, "--input", "in.csv", "--output", "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("uses & between numbers: return one condition on r.key", "def own(r, s): return r.key & s.key"),
        ("reads r.payload: return one condition on r.key", "def own(r, s): return r.payload == s.payload"),
        ("fails (SystemExit: 0): return one condition", "def own(r, s): raise SystemExit(0)"),
        ("cannot be imported (SystemExit: 0): check", "raise SystemExit(0)"),
    ],
)
def test_what_is_no_predicate(refused, tmp_path, sentence, line):
    (tmp_path / "mine.py").write_text(line)
    refused(f"predicate 'mine:own' {sentence}", "sim", *SMALL, "--predicate", "mine:own", "--tuples", 5)


def test_a_missing_compiler(refused, tmp_path):
    environment = {"CXX": "no-such-compiler", "STREAMJOIN_CACHE": str(tmp_path / "cache")}
    refused("no-such-compiler was not found: install it", "sim", *SMALL, "--tuples", 5, **environment)


def test_a_wrong_result_is_status_1(streamjoin, tmp_path):
    """A predicate that lies to the hardware: gates see another expression than the reference."""
    (tmp_path / "liar.py").write_text(
        "from amaranth.hdl import ValueCastable, Value\n"
        "def holds(r, s):\n"
        "    return r.key == s.key if isinstance(r.key, Value) else r.key == s.key + 1\n"
    )
    (tmp_path / "in.csv").write_text("stream,key\nR,5\nS,5\nS,4\n")
    done = streamjoin("sim", *SMALL, "--predicate", "liar:holds", "--input", "in.csv", "--json", "sum.json")
    assert done.returncode == 1
    assert "1 missing ((0, 2)), 1 extra ((0, 1)), 0 repeated" in done.stderr
    counts = {"missing": 1, "extra": 1, "repeated": 0, "missing_by_overflow": 0}
    assert json.loads((tmp_path / "sum.json").read_text())["check"] == counts
