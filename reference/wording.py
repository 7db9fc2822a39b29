"""What users wrote, in our sentences: short, and in printable characters."""

from collections.abc import Iterable
from difflib import get_close_matches

#: The longest sentence that a user gets to read, in characters.
LONGEST = 300

_VALUE = 40  # characters of a value in a sentence
_NAME = 100  # and of a file's name


def printable(text: str, longest: int = LONGEST) -> str:
    """The text with all that cannot be printed escaped; where it is longer than allowed, its middle is left out."""
    text = _cut(text, longest)  # before: text may be megabytes
    return _cut("".join(c if c.isprintable() else repr(c)[1:-1] for c in text), longest)


def shown(value: object) -> str:
    """A value as sentences show it: text in quotes, and nothing longer than a line has room for."""
    return _cut(repr(_cut(value, _VALUE)), _VALUE) if isinstance(value, str) else printable(str(value), _VALUE)


def named(path: object) -> str:
    """A file's name as sentences show it."""
    return printable(str(path), _NAME)


def listed(names: Iterable[str], meant: str = "", longest: int = 210) -> str:
    """Names with commas between, and which of them is most like what was meant, if any is. Where a sentence has no room
    for all, the last ones that are not like it are left out, and how many they are is said.
    """
    names = list(names)
    near = get_close_matches(meant, names)
    question = f": did you mean {near[0]}?" if near else ""
    kept = list(names)
    while len(", ".join(kept)) > longest - len(question):
        kept.remove(next(name for name in reversed(kept) if name not in near))
    return ", ".join(kept) + (f" and {len(names) - len(kept)} more" if len(kept) < len(names) else "") + question


def one_sentence(text: str, longest: int = LONGEST) -> str:
    """What others had to say, as one line that keeps to the limit."""
    return printable(" ".join(text.split()), longest)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[len(text) - (longest - head - 1) :]}"
