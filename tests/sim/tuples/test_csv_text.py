"""CSV as RFC 4180 has it, beside Python's own reader; whatever else there is in a file is one sentence."""

import csv
import io
import random

import pytest

from streamjoin.sim.tuples.csv_text import CsvText
from streamjoin.support.files import InputError

NOTES = ("", "a,b", 'say "hi"', "two\nlines", "cr\r\nlf", "old\rmac, quoted", "é∂", "x")


def rows_of(text: bytes) -> list[dict]:
    read = CsvText(text, "t.csv")
    return read.columns(read.header).to_pylist()


def plain_rows(text: bytes) -> list[dict]:
    header, *rows = (row for row in csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), strict=True) if row)
    return [dict(zip(header, row, strict=True)) for row in rows]


def made(chance: random.Random, rows: int) -> bytes:
    out = io.StringIO(newline="")
    end, quoting = chance.choice(("\n", "\r\n")), chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(out, lineterminator=end, quoting=quoting)
    writer.writerow(["stream", "note", "key"])
    writer.writerows([chance.choice("RS"), chance.choice(NOTES), n] for n in range(rows))
    text = out.getvalue() if chance.random() < 0.7 else out.getvalue().removesuffix(end)
    return text.encode("utf-8-sig" if chance.random() < 0.3 else "utf-8")


def damaged(chance: random.Random, text: bytes) -> bytes:
    text = bytearray(text)
    for _ in range(chance.choice((1, 1, 2, 9))):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0 if at < len(text):
                text[at] ^= 1 << chance.randrange(8)
            case 1:
                del text[at : at + chance.choice((1, 5, len(text)))]
            case 2:
                text[at:at] = chance.choice((b'"', b'""', b"\n", b"\r", b",", b"\0", b"\xff", b" "))
            case _:
                text[at:at] = chance.randbytes(chance.choice((1, 3, 40)))
    return bytes(text)


def test_all_that_is_csv_is_read():
    chance = random.Random(17)
    for rows in [0, 1, 2, 3, 50] * 10:
        text = made(chance, rows)
        assert rows_of(text) == plain_rows(text)


def test_damage_is_read_as_others_read_it_or_refused_in_one_sentence(capfd):
    """Nothing but our own error comes out, and libraries print nothing."""
    chance = random.Random(5)
    accepted, sentences = 0, []
    for _ in range(1500):
        text = damaged(chance, made(chance, chance.choice((0, 1, 9))))
        try:
            rows = rows_of(text)
        except InputError as error:
            sentences.append(str(error))
            continue
        assert rows == plain_rows(text)
        accepted += 1
    assert accepted > 50
    assert all(sentence.startswith("t.csv") and sentence.isprintable() for sentence in sentences)
    assert max(map(len, sentences)) <= 300
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("note", ["a\nnote\nof\nmany\nlines" * 4, "x" * 50])
def test_records_are_the_same_across_blocks(note):
    """Arrow reads a mebibyte at a time."""
    rows = [["R", f"{note} {n}", str(n)] for n in range(60_000)]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["stream", "note", "key"], *rows])
    text = CsvText(out.getvalue().encode(), "t.csv")
    assert text.columns(["key"])["key"].to_pylist() == [row[2] for row in rows]
    assert text.place(59_999) == ("row 60000 (line 1019985)" if "\n" in note else "row 60000")


def test_a_line_may_be_as_long_as_it_likes():
    rows = rows_of(b"stream,note\nR,1\nS," + b"x" * 10_000_000 + b"\nR,3\n")
    assert [len(row["note"]) for row in rows] == [1, 10_000_000, 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\x1f\x8b\x08\x00", r"t.csv is compressed by gzip: end its name in \.csv\.gz"),
        (b"PAR1....", r"t.csv is Parquet, not CSV: .*\.parquet"),
        ("a,b\n1,2\n".encode("utf-16"), "t.csv is UTF-16 text: save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "t.csv, header: a NUL byte is no text, but UTF-16 has them"),
        (b"a,b\n1,2\n1,\0\n", "t.csv, row 2: a NUL byte"),
        (b"a,b\xe9\n1,2\n", "t.csv, header: byte 0xe9 is not UTF-8: save it as UTF-8"),
        (b'a,b\n"1\n",2\n\n1,\xff\n', r"t.csv, row 2 \(line 5\): byte 0xff is not UTF-8"),
        (b'a,b\n1,2\n1,5" pipe\n', "t.csv, row 2: a quote stands inside a value"),
        (b'a,b\n1,"5" pipe\n1,6" pipe\n', "t.csv, row 1: a quote stands inside a value"),
        (b'a,b\n1,"2" \n', "t.csv, row 1: a quote stands inside a value"),
        (b'a,b\n1,2\n1,"2\n1,2\n', "t.csv, row 2: a value begins with a quote and has none at its end"),
        (b"a,b\r1,2\r", "t.csv, header: a carriage return stands alone: end lines in LF or CRLF"),
        (b"a,b\n1,2\r\r\n", "t.csv, row 1: a carriage return stands alone"),
        (b"a,b\n1,2\n1,2,3\n", "t.csv, row 2: there are 3 values for 2 columns"),
        (b"\n\na,b\n1,2\n\n1\n", r"t.csv, row 2 \(line 6\): there are 1 values for 2 columns"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa,b\n", "t.csv begins with two byte order marks: keep one of them"),
        (b"", "t.csv is empty: write at least a header"),
        (b"\xef\xbb\xbf\r\n\n", "t.csv is empty: write at least a header"),
    ],
)
def test_what_is_not_csv_is_refused_where_it_stands(text, sentence):
    with pytest.raises(InputError, match=f"^{sentence}"):
        rows_of(text)


def test_a_record_beyond_all_measure_is_refused(monkeypatch):
    monkeypatch.setattr("streamjoin.sim.tuples.csv_text._LONGEST", 1000)
    with pytest.raises(InputError, match="row 2: it is longer than 1,000 bytes: shorten it"):
        rows_of(b"a,b\n1,2\n1," + b"x" * 1000 + b"\n")
