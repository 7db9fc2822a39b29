import gzip
import io
import random
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from streamjoin.reference.arrivals import Row
from streamjoin.sim.tuples.tables import read_arrivals, write_parquet, write_results
from streamjoin.support.files import InputError, whole_file


@pytest.fixture
def file(tmp_path):
    """Write a file under a name, as text or as a Parquet table, and give its path."""

    def write(content, name=None):
        path = tmp_path / (name or ("tuples.csv" if isinstance(content, str | bytes) else "tuples.parquet"))
        if isinstance(content, dict):
            parquet.write_table(pa.table(content), path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_csv(file):
    path = file("key,stream,payload,time,note\n4294967295,S,7,0,x\n0,R,0,0,\n00000000000000000000005,R,1,9,z\n")
    assert list(read_arrivals(path).rows()) == [Row(1, 2**32 - 1), Row(0, 0), Row(0, 5)]
    rows = list(read_arrivals(path, payload_width=3, timed=True).rows())
    assert rows == [Row(1, 2**32 - 1, time=0, payload=7), Row(0, 0, time=0, payload=0), Row(0, 5, time=9, payload=1)]


def test_parquet(file):
    path = file(
        {
            "stream": pa.array(["S3", "S1"]).dictionary_encode(),
            "key": pa.array([2**63 - 1, 0], pa.uint64()),
            "key2": pa.array([1, 2], pa.int8()),
            "note": [None, 1.5],
        }
    )
    arrivals = read_arrivals(path, ("S1", "S2", "S3"), key_width=63, two_keys=True, payload_width=8)
    assert list(arrivals.rows()) == [Row(2, 2**63 - 1, 1), Row(0, 0, 2)]


def test_gzip_where_the_name_says_so(file):
    text = b"stream,key\nR,1\nS,2\n"
    for name in ("tuples.csv.gz", "TUPLES.CSV.GZ"):
        assert list(read_arrivals(file(gzip.compress(text), name)).rows()) == [Row(0, 1), Row(1, 2)]
    with pytest.raises(InputError, match=r"tuples\.csv is compressed by gzip: end its name in \.csv\.gz"):
        read_arrivals(file(gzip.compress(text), "tuples.csv"))
    packed = gzip.compress(text * 100)
    for damaged in (text, packed[:-9], packed[:20] + b"?" + packed[21:], packed + b"?"):
        with pytest.raises(InputError, match="check that it is what its suffix says, and whole"):
            read_arrivals(file(damaged, "tuples.csv.gz"))


def test_standard_input(monkeypatch):
    def read(contents):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(contents)))
        return read_arrivals("-")

    assert list(read(b"stream,key\nR,1\nS,2").rows()) == [Row(0, 1), Row(1, 2)]
    with pytest.raises(InputError, match=r"^standard input, row 1: key '-1' is negative"):
        read(b"stream,key\nR,-1\n")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match=r"^standard input is closed"):
        read_arrivals("-")


def test_line_ends_in_quotes_are_no_rows(file):
    """Of files larger than Arrow's blocks, too."""
    note = '"a note\nof two lines, with ""quotes"" in it"'
    path = file("stream,key,note\n" + "".join(f"R,{n},{note}\n" for n in range(40_000)))
    assert path.stat().st_size > 1 << 20
    assert read_arrivals(path).key.tolist() == list(range(40_000))


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.binary_view(),
        pa.binary(1),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.binary()),
    ],
    ids=str,
)
def test_text_of_every_kind(file, kind):
    values = pa.array([b"R", b"S"])
    packed = values.dictionary_encode() if pa.types.is_dictionary(kind) else values
    path = file({"stream": packed.cast(kind), "key": [1, 2]})
    assert list(read_arrivals(path).rows()) == [Row(0, 1), Row(1, 2)]


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pa.array([1, None], pa.uint32()), "row 2: key is missing"),
        (pa.array([1, 2**64 - 1], pa.uint64()), "row 2: key 18446744073709551615 does not fit 32 bits"),
        (pa.array([1, 2], pa.float32()), "row 1: key 1.0 is not a whole number but float"),
        (
            pa.array([Decimal(1), Decimal(2)], pa.decimal128(5, 2)),
            r"row 1: key 1.00 is not a whole number but decimal128",
        ),
        (pa.array([True, False]), "row 1: key True is not a whole number but bool"),
        (pa.array([1, 2**62], pa.timestamp("ms")), "row 1: key .* is not a whole number but timestamp"),
        (pa.array([2**62, 1], pa.timestamp("ms")), "row 1: key is not a whole number but timestamp"),
        (pa.array([b"1", b"\xff"]), "has bytes in column 'key' that are no text: store it as strings"),
        (pa.array(["1", "x" * 10**6], pa.string_view()), "row 2: key 'x+…x+' is not a whole number"),
        (pa.array(["1", "\x1b\n"]), r"row 2: key '\\x1b\\n' is not a whole number"),
        (pa.nulls(2), "row 1: key is missing"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_columns_that_are_no_numbers(file, column, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        read_arrivals(file({"stream": ["R", "S"], "key": column}))
    assert str(error.value).isprintable()
    assert len(str(error.value)) <= 300


def test_a_name_of_any_length_and_kind_leaves_room_for_the_sentence(tmp_path):
    for name in ("x" * 250 + ".csv", "x" * 1000 + ".csv", "\x1b[31m\n.csv", "x" * 1000):
        with pytest.raises(InputError, match=r"does not exist|too long|neither CSV nor Parquet") as error:
            read_arrivals(tmp_path / name)
        assert str(error.value).isprintable()
        assert len(str(error.value)) <= 250


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A Parquet file as we write them, and what is in it."""
    path = tmp_path_factory.mktemp("parquet") / "sound.parquet"
    rng = np.random.default_rng(1)
    stream = np.where(rng.random(3000) < 0.5, "R", "S")
    write_parquet(pa.table({"stream": stream, "key": rng.integers(0, 2**32, 3000)}), path, row_group_size=1000)
    return path.read_bytes(), list(read_arrivals(path).rows())


@pytest.mark.parametrize("part", ["pages", "directory"])
def test_damage_to_parquet_is_noticed(file, sound, capfd, part):
    """A bit is another one, or the file ends early: either nothing changes, or it is said in one sentence."""
    contents, rows = sound
    directory = len(contents) - 8 - int.from_bytes(contents[-8:-4], "little")
    chance = random.Random(part)
    sentences = []
    for trial in range(200):
        at = chance.randrange(directory) if part == "pages" else chance.randrange(directory, len(contents))
        damaged = bytearray(contents)
        damaged[at] ^= 1 << chance.randrange(8)
        path = file(damaged if trial % 10 else damaged[:at], "damaged.parquet")
        try:
            assert list(read_arrivals(path).rows()) == rows
        except InputError as error:
            sentences.append(str(error))
    assert len(sentences) > (180 if part == "pages" else 80)
    assert all(sentence.isprintable() and len(sentence) <= 300 for sentence in sentences)
    assert capfd.readouterr() == ("", "")


def test_rows_that_the_directory_of_a_file_has_lost(file, sound):
    contents, _ = sound
    rows = b"\x16" + bytes([1000 * 2 % 128 | 128, 1000 * 2 // 128])  # a row group's, as Thrift writes numbers
    fewer = contents.replace(rows + b"\x26", b"\x16" + bytes([998 * 2 % 128 | 128, 998 * 2 // 128]) + b"\x26", 1)
    assert fewer != contents
    with pytest.raises(InputError, match="is damaged, with 2998 of 3000 rows: write it anew"):
        read_arrivals(file(fewer, "damaged.parquet"))


@pytest.mark.parametrize("header", ["stream,key,time", "stream,key,time\n", '\ufeff"stream","key","time"\r\n'])
def test_a_header_alone_is_no_tuples(file, header):
    assert len(read_arrivals(file(header), timed=True)) == 0


def test_a_parquet_file_without_rows_is_no_tuples(file):
    assert len(read_arrivals(file({"stream": pa.array([], pa.string()), "key": pa.array([], pa.int64())}))) == 0
    assert len(read_arrivals(file({"stream": [], "key": []}))) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty: write at least a header"),
        ("\n\n", "is empty: write at least a header"),
        ("stream,time\nR,1\n", "has no column 'key'"),
        ("key,time\n1,1\n", "has no column 'stream'"),
        ("stream,key\nR,1\n", "has no column 'time'"),
        ("stream,key,time\nR,1,1\n\nT,1,1\n", r"row 2 \(line 4\): stream 'T' is unknown: write one of R, S"),
        ("stream,key,time\n,1,1\n", "row 1: stream '' is unknown: write one of R, S"),
        ("stream,key,time\nR,1,1\nR,-1,1\n", "row 2: key '-1' is negative: write a whole number from 0 to 4294967295"),
        ("stream,key,time\nR,1.5,1\n", "row 1: key '1.5' is not a whole number"),
        ("stream,key,time\nR, 1,1\n", "row 1: key ' 1' is not a whole number"),
        ("stream,key,time\nR,,1\n", "row 1: key '' is not a whole number"),
        ("stream,key,time\nR,4294967296,1\n", "row 1: key '4294967296' does not fit 32 bits"),
        ("stream,key,time\nR,99999999999999999999999,1\n", "row 1: key '9+' does not fit 32 bits"),
        ("stream,key,time\nR,1,1\nR,1,1\nR,1,0\n", "row 3: time '0' goes back: sort the rows by time"),
        ("stream,key,time\nR,1,65536\n", "row 1: time '65536' does not fit 16 bits: .* from 0 to 65535"),
        ("stream,key,time,payload\nR,1,1,256\n", "row 1: payload '256' does not fit 8 bits"),
        ("stream,key,time\nR,1,1\nR,1\nR\n", "row 2: there are 2 values for 3 columns"),
        (b"stream,key,time\nR,1,\xff\n", "row 1: byte 0xff is not UTF-8: save it as UTF-8"),
        ({"stream": ["R", None], "key": [1, 2], "time": [1, 1]}, "row 2: stream is missing: write one of R, S"),
        ({"stream": ["R", "S"], "key": [1, None], "time": [1, 1]}, "row 2: key is missing"),
        ({"stream": ["R", "S"], "key": [1, -2], "time": [1, 1]}, "row 2: key -2 is negative"),
        ({"stream": ["R", "S"], "key": [1.0, 2.0], "time": [1, 1]}, "row 1: key 1.0 is not a whole number"),
        ({"stream": ["R", "S"], "key": [1, 2**40], "time": [1, 1]}, "row 2: key 1099511627776 does not fit 32 bits"),
        ({"stream": [0, 1], "key": [1, 2], "time": [1, 1]}, "row 1: stream 0 is unknown"),
        ({"stream": [["R"]], "key": [1], "time": [1]}, "row 1: stream .*'R'.* is unknown"),
        ("stream,key,time,key\nR,1,1,1\n", "has more than one column 'key': keep one"),
        ({"stream": ["R"], "time": [1]}, "has no column 'key'"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(file, content, message):
    path = file(content)
    with pytest.raises(InputError, match=f"^{path}.*{message}") as error:
        read_arrivals(path, timed=True, time_width=16, payload_width=8)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read(file, tmp_path):
    with pytest.raises(InputError, match=r"none\.csv does not exist"):
        read_arrivals(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"none\.parquet does not exist"):
        read_arrivals(tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"end it in \.csv, \.csv\.gz or \.parquet"):
        read_arrivals(file("stream,key\n", "tuples.txt"))
    for empty in (b"", b"stream,key\nR,1\n"):
        with pytest.raises(InputError, match="check that it is what its suffix says"):
            read_arrivals(file(empty, "tuples.parquet"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="check that it is a readable file"):
        read_arrivals(tmp_path / "folder.csv")


def test_results_as_csv(tmp_path):
    path = tmp_path / "results.csv"
    write_results(path, np.array([[0, 1], [4, 3]]), {"key": np.array([7, 8])}, np.array([5, 6]))
    assert path.read_text() == "R,S,key,cycle\n0,1,7,5\n4,3,8,6\n"


def test_results_as_parquet_have_checksums(tmp_path):
    path = tmp_path / "results.parquet"
    rng = np.random.default_rng(2)
    write_results(path, rng.integers(0, 2**40, (1000, 2)), {}, rng.integers(0, 2**40, 1000))
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    path.write_bytes(contents)
    with pytest.raises(OSError, match="CRC"):
        parquet.read_table(path, page_checksum_verification=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "PARQUET"])
def test_no_results_still_have_their_columns(tmp_path, suffix):
    path = tmp_path / f"results.{suffix}"
    write_results(path, np.empty((0, 3)), {}, np.array([], np.int64), ("S1", "S2", "S3"))
    table = csv.read_csv(path) if suffix == "csv" else parquet.read_table(path)
    assert table.column_names == ["S1", "S2", "S3", "cycle"]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_results_that_cannot_be_written(tmp_path):
    results = np.empty((0, 2)), {}, np.array([], np.int64)
    with pytest.raises(InputError, match=r"end it in \.csv or \.parquet"):
        write_results(tmp_path / "results.txt", *results)
    with pytest.raises(InputError, match="name a directory that can be"):
        write_results(tmp_path / "none" / "results.csv", *results)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="name a directory that can be"):
        write_results(tmp_path / "file" / "results.csv", *results)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is not a file"):
        write_results(tmp_path / "folder.csv", *results)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"

    def write(text, fail):
        with whole_file(path) as part:
            part.write_text(text)
            assert part.suffix == ".html"
            if fail:
                raise OSError("half way")

    with pytest.raises(OSError, match="half way"):
        write("half", fail=True)
    assert list(tmp_path.iterdir()) == []
    write("old", fail=False)
    with pytest.raises(OSError, match="half way"):
        write("half", fail=True)
    assert [(p, p.read_text()) for p in tmp_path.iterdir()] == [(path, "old")]
    write("new", fail=False)
    assert [(p, p.read_text()) for p in tmp_path.iterdir()] == [(path, "new")]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "folder" / "real.csv")
    with whole_file(link) as part:
        part.write_text("x")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real.csv").read_text() == "x"
