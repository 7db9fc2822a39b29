"""The memory of any depth: what was written is read, whatever piece it is in."""

import random

import pytest
from amaranth.lib import data

from streamjoin.hdl.lib.split_memory import SplitMemory
from tests.hdl.stream_bench import stepped

WORD = data.StructLayout({"key": 4, "payload": 6})


@pytest.mark.parametrize("depth", range(1, 41))
def test_each_word_is_read_as_it_was_written_last(depth):
    """First all words, so that one that shares its memory with another shows; then any, in every cycle."""
    rng = random.Random(depth)
    content, steps, expected, before = {}, [], [None], None
    for cycle in range(6 * depth + 60):
        into = cycle if cycle < depth else rng.choice([None, *range(depth)])
        # In the next cycle, too, nobody knows what is read there.
        asked = rng.choice([n for n in range(depth) if n not in (into, before)] or [None])
        before = into
        expected.append(content.get(asked))
        # Addresses move in every cycle, whether anybody means them or not.
        word = {"key": rng.randrange(16), "payload": rng.randrange(64)}
        address = rng.randrange(depth)
        steps.append({"enter": into is not None, "into": address if into is None else into, "word": word})
        steps[-1]["asked"] = address if asked is None else asked
        if into is not None:
            content[into] = word
    seen = stepped(SplitMemory(WORD, depth), steps, ["found"])
    assert len(content) == depth
    assert sum(word is not None for word in expected) > 10
    assert [found for (found,), word in zip(seen, expected, strict=False) if word] == [
        word for word in expected[: len(seen)] if word
    ]


def test_a_memory_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one word, not 0"):
        SplitMemory(WORD, 0)
