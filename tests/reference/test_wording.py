"""What users wrote is printable and short in our sentences."""

import pytest

from streamjoin.reference.wording import LONGEST, listed, named, one_sentence, printable, shown


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\nb", "\u202etxt", "\udcff", "x" * 10**6, "\x07" * 10**6, "", "é"])
def test_whatever_it_is_it_is_short_and_printable(text):
    for made, longest in (
        (printable(text), LONGEST),
        (shown(text), 40),
        (named(text), 100),
        (one_sentence(text), LONGEST),
    ):
        assert made.isprintable()
        assert len(made) <= longest


def test_what_is_short_and_printable_stays():
    assert printable("Grüße") == "Grüße"
    assert printable("a\tb\x1b") == "a\\tb\\x1b"
    assert shown("it's\n") == '"it\'s\\n"'
    assert shown(1.5) == "1.5"
    assert one_sentence("first\n  second line ") == "first second line"


def test_the_middle_is_left_out():
    assert printable("0123456789", 5) == "01…89"
    assert len(printable("0123456789", 6)) == 6
    assert printable("0123456789", 10) == "0123456789"


def test_lists_have_what_was_meant_and_say_how_much_is_left_out():
    names = [f"name_{n}" for n in range(100)]
    assert listed(names[:3]) == "name_0, name_1, name_2"
    text = listed(names, "nmae_77")
    assert text.startswith("name_0, name_1, ")
    assert ", name_77" in text
    text, _, question = text.partition(": ")
    assert question == "did you mean name_77?"
    assert text.endswith(" more")
    assert len(text) + len(question) <= 225
    left_out = int(text.split()[-2])
    assert len(text.rpartition(" and ")[0].split(", ")) + left_out == 100


def test_nothing_is_asked_where_nothing_is_like_it():
    assert listed(["handshake", "hash"], "bubble") == "handshake, hash"
    assert listed(["handshake", "hash"], "handshak") == "handshake, hash: did you mean handshake?"
